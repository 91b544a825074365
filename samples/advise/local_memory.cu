// Why: a small array is read at an index that only the run knows, and lies in local memory. Mended: the compiler knows the index.
// Archs: 80
// Flaw: local-memory
// Launch: 128 1728 param_2=32 param_3=3
template <bool KNOWN>
__device__ __forceinline__ void rotate(float *out, const float *in, int n, int shift) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float a[8];
#pragma unroll
    for (int k = 0; k < 8; ++k) a[k] = in[i + k * 262144];
#pragma unroll 1
    for (int t = 0; t < n; ++t)
#pragma unroll
        for (int k = 0; k < 8; ++k) a[k] = a[k] * 0.5f + a[k + (KNOWN ? 3 : shift) & 7];
    float sum = 0;
#pragma unroll
    for (int k = 0; k < 8; ++k) sum += a[k];
    out[i] = sum;
}

extern "C" __global__ void flawed(float *out, const float *in, int n, int shift) { rotate<false>(out, in, n, shift); }

extern "C" __global__ void mended(float *out, const float *in, int n, int shift) { rotate<true>(out, in, n, shift); }
