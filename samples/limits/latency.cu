// Why: bound by latency: one warp in each partition, and each instruction needs the result before it.
// Archs: 80
extern "C" __global__ void chain(float *out, float scale) {
    float f = threadIdx.x;
#pragma unroll 1
    for (int i = 0; i < 200; ++i)
#pragma unroll
        for (int k = 0; k < 8; ++k) asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(f) : "f"(scale));
    out[blockIdx.x * blockDim.x + threadIdx.x] = f;
}
