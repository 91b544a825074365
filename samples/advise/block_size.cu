// Why: blocks of one warp: as many as an SM holds are half of the warps that it could hold. Mended: blocks of 8 warps.
// Archs: 80
// Flaw: block-size
// Launch: flawed 32 13824 param_2=32
// Launch: mended 256 1728 param_2=32
__device__ __forceinline__ void sum(float *out, const float *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
#pragma unroll 4
    for (int k = 0; k < n; ++k) sum += __sinf(sum) * in[k];
    out[i] = sum;
}

extern "C" __global__ void flawed(float *out, const float *in, int n) { sum(out, in, n); }

extern "C" __global__ void mended(float *out, const float *in, int n) { sum(out, in, n); }
