// Why: products of 8-bit integers at the peak rate: eight chains, 1000 times, in the largest shape of each architecture.
// Archs: 75 80 86 89 90 100 120
extern "C" __global__ void imma(int *out, unsigned a, unsigned b) {
    int d[8][4] = {};
#pragma unroll 1
    for (int i = 0; i < 1000; ++i)
#pragma unroll
        for (int k = 0; k < 8; ++k)
#if __CUDA_ARCH__ >= 800
            asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%4,%4,%4}, {%5,%5}, {%0,%1,%2,%3};"
                         : "+r"(d[k][0]), "+r"(d[k][1]), "+r"(d[k][2]), "+r"(d[k][3]) : "r"(a), "r"(b));
#else
            asm volatile("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%0,%1}, {%2}, {%3}, {%0,%1};"
                         : "+r"(d[k][0]), "+r"(d[k][1]) : "r"(a), "r"(b));
#endif
    int sum = 0;
    for (int k = 0; k < 32; ++k) sum += d[k / 4][k % 4];
    out[threadIdx.x] = sum;
}
