// Why: a thread reads four coefficients that follow each other one by one. Mended: as one access of 16 bytes.
// Archs: 80
// Flaw: vectorize
// Launch: 256 864 param_3=512
struct alignas(4) Four {
    float x, y, z, w;
};

template <class VECTOR>
__device__ __forceinline__ void sum(float *out, const float *in, const VECTOR *coefficients, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = in[i], sum = 0;
#pragma unroll 8
    for (int k = 0; k < n; ++k) {
        VECTOR c = coefficients[k];
        sum += (c.x * x + c.y) * (c.z * x + c.w);
    }
    out[i] = sum;
}

extern "C" __global__ void flawed(float *out, const float *in, const Four *c, int n) { sum(out, in, c, n); }

extern "C" __global__ void mended(float *out, const float *in, const float4 *c, int n) { sum(out, in, c, n); }
