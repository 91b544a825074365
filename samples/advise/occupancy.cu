// Why: a block takes 40 KiB of shared memory where a tenth would do, so that few warps wait for memory at a time. Mended: 4 KiB.
// Archs: 80
// Flaw: occupancy
// Launch: 128 1728 param_2=64
template <int WORDS>
__device__ __forceinline__ void chase(int *out, const int *next, int n) {
    __shared__ int path[WORDS];
    int at = blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll 1
    for (int k = 0; k < n; ++k) {
        at = __ldcg(next + at);
        path[threadIdx.x + (k & 7) * 128] = at;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = path[threadIdx.x ^ 32];
}

extern "C" __global__ void flawed(int *out, const int *next, int n) { chase<10240>(out, next, n); }

extern "C" __global__ void mended(int *out, const int *next, int n) { chase<1024>(out, next, n); }
