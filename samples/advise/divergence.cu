// Why: neighbouring lanes take different sides of a branch, so that each warp takes both. Mended: warps take different sides.
// Archs: 80
// Flaw: divergence
// Launch: 256 432 param_2=32
__device__ __forceinline__ float one(float f, int n) {
#pragma unroll 1
    for (int k = 0; k < n; ++k)
#pragma unroll
        for (int j = 0; j < 16; ++j) f = f * 0.5f + 0.25f;
    return f;
}

__device__ __forceinline__ float other(float f, int n) {
#pragma unroll 1
    for (int k = 0; k < n; ++k)
#pragma unroll
        for (int j = 0; j < 16; ++j) f = f * f + 0.125f;
    return f;
}

template <int LANES>
__device__ __forceinline__ void sides(float *out, const float *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float f = in[i];
    if (threadIdx.x / LANES & 1) {
        f = one(f, n);
    } else {
        f = other(f, n);
    }
    out[i] = f;
}

extern "C" __global__ void flawed(float *out, const float *in, int n) { sides<1>(out, in, n); }

extern "C" __global__ void mended(float *out, const float *in, int n) { sides<32>(out, in, n); }
