// Why: tensor-core products in a loop (HMMA, on sm_80+); older architectures take a scalar path.
extern "C" __global__ void tensor_mma(const unsigned *a, const unsigned *b, float *c, int steps) {
    int lane = threadIdx.x & 31;
    float d0 = 0.0f, d1 = 0.0f, d2 = 0.0f, d3 = 0.0f;
#pragma unroll 1
    for (int s = 0; s < steps; ++s) {
        const unsigned *pa = a + (s * 32 + lane) * 4;
        const unsigned *pb = b + (s * 32 + lane) * 2;
#if __CUDA_ARCH__ >= 800
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                     : "+f"(d0), "+f"(d1), "+f"(d2), "+f"(d3)
                     : "r"(pa[0]), "r"(pa[1]), "r"(pa[2]), "r"(pa[3]), "r"(pb[0]), "r"(pb[1]));
#else
        d0 += __uint_as_float(pa[0]) * __uint_as_float(pb[0]);
        d1 += __uint_as_float(pa[1]) * __uint_as_float(pb[1]);
        d2 += __uint_as_float(pa[2]) * __uint_as_float(pb[0]);
        d3 += __uint_as_float(pa[3]) * __uint_as_float(pb[1]);
#endif
    }
    float *out = c + lane * 4;
    out[0] = d0;
    out[1] = d1;
    out[2] = d2;
    out[3] = d3;
}
