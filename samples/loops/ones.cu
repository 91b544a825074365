// Why: a word loses its lowest one in each iteration.
// Archs: 80 120
extern "C" __global__ void bits(const unsigned *m, float *a) {
    unsigned x = m[blockIdx.x * blockDim.x + threadIdx.x]; float s = 0;
    while (x) { s += a[__ffs(x) - 1]; x &= x - 1; }
    a[32 + blockIdx.x * blockDim.x + threadIdx.x] = s;
}
