// Why: bound by barriers: the warps of a block meet after every instruction of work.
// Archs: 80
extern "C" __global__ void meets(float *out, float scale) {
    float f = threadIdx.x;
#pragma unroll 1
    for (int i = 0; i < 50; ++i)
#pragma unroll
        for (int k = 0; k < 8; ++k) {
            asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(f) : "f"(scale));
            __syncthreads();
        }
    out[blockIdx.x * blockDim.x + threadIdx.x] = f;
}
