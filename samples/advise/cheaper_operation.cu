// Why: constants without f make sums of single precision sums of double precision, with conversions. Mended: constants of single precision.
// Archs: 80
// Flaw: cheaper-operation
// Launch: 256 432 param_2=64
template <class NUMBER>
__device__ __forceinline__ void polynomial(float *out, const float *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = in[i], y = in[i + 1];
#pragma unroll 8
    for (int k = 0; k < n; ++k)
#pragma unroll
        for (int j = 0; j < 4; ++j) y = y * (NUMBER)1.1 + x * (NUMBER)0.3;
    out[i] = y;
}

extern "C" __global__ void flawed(float *out, const float *in, int n) { polynomial<double>(out, in, n); }

extern "C" __global__ void mended(float *out, const float *in, int n) { polynomial<float>(out, in, n); }
