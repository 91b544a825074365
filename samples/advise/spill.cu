// Why: 24 registers per thread do not hold what a thread keeps, and it spills. Mended: as many registers as it needs.
// Archs: 80
// Flaw: spill
// Launch: 128 432 param_2=16
template <int COUNT>
__device__ __forceinline__ void filter(float *out, const float *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float a[COUNT];
#pragma unroll
    for (int k = 0; k < COUNT; ++k) a[k] = in[i + k * 65536];
#pragma unroll 1
    for (int t = 0; t < n; ++t)
#pragma unroll
        for (int k = 0; k < COUNT; ++k) a[k] = a[k] * 0.5f + a[(k + 7) % COUNT];
    float sum = 0;
#pragma unroll
    for (int k = 0; k < COUNT; ++k) sum += a[k];
    out[i] = sum;
}

extern "C" __global__ void __maxnreg__(24) flawed(float *out, const float *in, int n) { filter<32>(out, in, n); }

extern "C" __global__ void mended(float *out, const float *in, int n) { filter<32>(out, in, n); }
