// Why: the trip count is what a division through a product leaves.
// Archs: 80 120
extern "C" __global__ void magic(float *a, unsigned tiles, unsigned mul, unsigned shift, unsigned d) {
    for (unsigned t = blockIdx.x; t < tiles; t += gridDim.x) {
        unsigned q = __umulhi(t, mul) >> shift, r = t - q * d; float s = 0;
        for (unsigned i = 0; i <= r; i++) s += a[(q + i) * 128 + threadIdx.x];
        a[t * 128 + threadIdx.x] = s;
    }
}
