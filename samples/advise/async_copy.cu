// Why: tiles come to shared memory by way of registers. Mended: asynchronous copies.
// Archs: 80
// Flaw: async-copy
// Launch: 128 432 param_2=64
const int WORDS = 128;

template <bool DIRECT>
__device__ __forceinline__ void tiles(float *out, const float *in, int n) {
    __shared__ float tile[8 * WORDS];
    const float *mine = in + (blockIdx.x & 15) * 8 * WORDS + threadIdx.x;
    float sum = 0;
#pragma unroll 1
    for (int t = 0; t < n; ++t) {
#pragma unroll
        for (int k = 0; k < 8; ++k)
            if (DIRECT) {
                unsigned to = __cvta_generic_to_shared(tile + threadIdx.x + k * WORDS);
                asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(mine + k * WORDS + (t & 3) * 65536));
            } else {
                tile[threadIdx.x + k * WORDS] = mine[k * WORDS + (t & 3) * 65536];
            }
        if (DIRECT) asm volatile("cp.async.wait_all;");
        __syncthreads();
        sum += tile[threadIdx.x ^ 32];
        __syncthreads();
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

extern "C" __global__ void flawed(float *out, const float *in, int n) { tiles<false>(out, in, n); }

extern "C" __global__ void mended(float *out, const float *in, int n) { tiles<true>(out, in, n); }
