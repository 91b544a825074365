// Why: packed half arithmetic through inline PTX (no header needed); sm_52 has none and takes the float path.
extern "C" __global__ void half_precision(const unsigned *a, const unsigned *b, unsigned *c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) {
        return;
    }
    unsigned sum = c[i];
#if __CUDA_ARCH__ >= 530
    for (int k = 0; k < 4; ++k) {
        asm("fma.rn.f16x2 %0, %1, %2, %0;" : "+r"(sum) : "r"(a[i + k * n]), "r"(b[i + k * n]));
    }
#else
    for (int k = 0; k < 4; ++k) {
        sum = __float_as_uint(__uint_as_float(a[i + k * n]) * __uint_as_float(b[i + k * n]) + __uint_as_float(sum));
    }
#endif
    c[i] = sum;
}
