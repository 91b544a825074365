// Why: a small array is indexed at run time and lies in local memory. Mended: the loop over it is unrolled, and registers hold it.
// Archs: 80
// Flaw: local-memory
// Launch: 128 432 param_2=32
template <int UNROLLED>
__device__ __forceinline__ void rotate(float *out, const float *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float a[8];
#pragma unroll
    for (int k = 0; k < 8; ++k) a[k] = in[i + k * 65536];
#pragma unroll 1
    for (int t = 0; t < n; ++t)
#pragma unroll UNROLLED
        for (int k = 0; k < 8; ++k) a[k] = a[k] * 0.5f + a[k + 3 & 7];
    float sum = 0;
#pragma unroll
    for (int k = 0; k < 8; ++k) sum += a[k];
    out[i] = sum;
}

extern "C" __global__ void flawed(float *out, const float *in, int n) { rotate<1>(out, in, n); }

extern "C" __global__ void mended(float *out, const float *in, int n) { rotate<8>(out, in, n); }
