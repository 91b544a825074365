// Why: lanes read columns of a tile in shared memory, which lie in one bank. Mended: a row has one word more.
// Archs: 80
// Flaw: bank-conflict
// Launch: 256 432 param_2=64
template <int WIDTH>
__device__ __forceinline__ void columns(float *out, const float *in, int n) {
    __shared__ float tile[32][WIDTH];
    int x = threadIdx.x % 32, y = threadIdx.x / 32;
    for (int k = y; k < 32; k += 8) tile[k][x] = in[(blockIdx.x * 32 + k) * 32 + x];
    __syncthreads();
    float sum = 0;
#pragma unroll 1
    for (int i = 0; i < n; ++i)
#pragma unroll
        for (int k = 0; k < 8; ++k) sum = sum * 0.5f + tile[x][k + y & 31];
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

extern "C" __global__ void flawed(float *out, const float *in, int n) { columns<32>(out, in, n); }

extern "C" __global__ void mended(float *out, const float *in, int n) { columns<33>(out, in, n); }
