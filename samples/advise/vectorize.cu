// Why: a thread reads four words that follow each other one by one, from a table that stays in L1. Mended: as one access of 16 bytes.
// Archs: 80
// Flaw: vectorize
// Launch: 256 432 param_2=64
struct alignas(4) Four {
    float x, y, z, w;
};

template <class VECTOR>
__device__ __forceinline__ void sum(float *out, const VECTOR *in, int n) {
    const VECTOR *mine = in + (blockIdx.x & 7) * 256 + threadIdx.x;
    float sum = 0;
#pragma unroll 4
    for (int k = 0; k < n; ++k) {
        VECTOR v = mine[(k & 3) * 64];
        sum += v.x * v.y + v.z * v.w;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

extern "C" __global__ void flawed(float *out, const Four *in, int n) { sum(out, in, n); }

extern "C" __global__ void mended(float *out, const float4 *in, int n) { sum(out, in, n); }
