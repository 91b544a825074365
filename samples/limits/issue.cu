// Why: bound by issue: four units take turns, and none is busy half of the time.
// Archs: 80
extern "C" __global__ void issue(float *out, unsigned *numbers, float scale) {
    float f[4] = {0, 1, 2, 3};
    unsigned n[4] = {numbers[0], numbers[1], numbers[2], numbers[3]};
    unsigned h[4] = {numbers[4], numbers[5], numbers[6], numbers[7]};
#pragma unroll 1
    for (int i = 0; i < 200; ++i)
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(f[k]) : "f"(scale));
            asm volatile("lop3.b32 %0, %0, %1, %1, 0x96;" : "+r"(n[k]) : "r"(n[(k + 1) & 3]));
            asm volatile("fma.rn.f16x2 %0, %0, %0, %0;" : "+r"(h[k]));
        }
    out[blockIdx.x * blockDim.x + threadIdx.x] = f[0] + f[1] + f[2] + f[3];
    numbers[threadIdx.x] = n[0] ^ n[1] ^ n[2] ^ n[3] ^ h[0] ^ h[1] ^ h[2] ^ h[3];
}
