// Why: bound by the unit for multiply-adds in single precision: eight chains.
// Archs: 80
extern "C" __global__ void fma_chains(float *out, float scale) {
    float f[8] = {0, 1, 2, 3, 4, 5, 6, 7};
#pragma unroll 1
    for (int i = 0; i < 200; ++i)
#pragma unroll
        for (int k = 0; k < 8; ++k) asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(f[k]) : "f"(scale));
    out[blockIdx.x * blockDim.x + threadIdx.x] = f[0] + f[1] + f[2] + f[3] + f[4] + f[5] + f[6] + f[7];
}
