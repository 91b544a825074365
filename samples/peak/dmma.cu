// Why: products of double precision at the peak rate: eight chains, 1000 times.
// Archs: 80 86 90 100
extern "C" __global__ void dmma(double *out, double a, double b) {
    double d[8][2] = {};
#pragma unroll 1
    for (int i = 0; i < 1000; ++i)
#pragma unroll
        for (int k = 0; k < 8; ++k)
            asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};" : "+d"(d[k][0]), "+d"(d[k][1]) : "d"(a), "d"(b));
    double sum = 0;
    for (int k = 0; k < 16; ++k) sum += d[k / 2][k % 2];
    out[threadIdx.x] = sum;
}
