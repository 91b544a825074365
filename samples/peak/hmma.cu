// Why: products of half precision with single-precision sums at the peak rate: eight chains, 1000 times, in the largest shape of each architecture.
// Archs: 70 75 80 86 89 90 100 120
extern "C" __global__ void hmma(float *out, unsigned a, unsigned b) {
    float d[8][8] = {};
#pragma unroll 1
    for (int i = 0; i < 1000; ++i)
#pragma unroll
        for (int k = 0; k < 8; ++k)
#if __CUDA_ARCH__ >= 800
            asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%4,%4,%4}, {%5,%5}, {%0,%1,%2,%3};"
                         : "+f"(d[k][0]), "+f"(d[k][1]), "+f"(d[k][2]), "+f"(d[k][3]) : "r"(a), "r"(b));
#elif __CUDA_ARCH__ >= 750
            asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%4}, {%5}, {%0,%1,%2,%3};"
                         : "+f"(d[k][0]), "+f"(d[k][1]), "+f"(d[k][2]), "+f"(d[k][3]) : "r"(a), "r"(b));
#else
            asm volatile("mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {%0,%1,%2,%3,%4,%5,%6,%7}, {%8,%8}, {%9,%9}, {%0,%1,%2,%3,%4,%5,%6,%7};"
                         : "+f"(d[k][0]), "+f"(d[k][1]), "+f"(d[k][2]), "+f"(d[k][3]), "+f"(d[k][4]), "+f"(d[k][5]), "+f"(d[k][6]), "+f"(d[k][7])
                         : "r"(a), "r"(b));
#endif
    float sum = 0;
    for (int k = 0; k < 64; ++k) sum += d[k / 8][k % 8];
    out[threadIdx.x] = sum;
}
