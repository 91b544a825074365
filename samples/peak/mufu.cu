// Why: special functions at the peak rate: eight chains, 1000 times.
// Archs: 52 61 70 75 80 86 89 90 100 120
extern "C" __global__ void mufu(float *out) {
    float d[8] = {0, 1, 2, 3, 4, 5, 6, 7};
#pragma unroll 1
    for (int i = 0; i < 1000; ++i)
#pragma unroll
        for (int k = 0; k < 8; ++k) asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(d[k]));
    out[threadIdx.x] = d[0] + d[1] + d[2] + d[3] + d[4] + d[5] + d[6] + d[7];
}
