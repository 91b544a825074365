// Why: a loop waits for the tile that it loads in the same iteration. Mended: the next one is loaded before this one is used.
// Archs: 80
// Flaw: pipeline
// Launch: 128 216 param_2=64
const int TILE = 128;

__device__ __forceinline__ float use(const float *tile, float sum) {
#pragma unroll
    for (int k = 0; k < 32; ++k) sum = sum * 0.75f + tile[threadIdx.x + k * 3 & TILE - 1];
    return sum;
}

extern "C" __global__ void flawed(float *out, const float *in, int n) {
    __shared__ float tile[TILE];
    const float *mine = in + blockIdx.x * n * TILE + threadIdx.x;
    float sum = 0;
#pragma unroll 1
    for (int t = 0; t < n; ++t) {
        tile[threadIdx.x] = mine[t * TILE];
        __syncthreads();
        sum = use(tile, sum);
        __syncthreads();
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

extern "C" __global__ void mended(float *out, const float *in, int n) {
    __shared__ float tile[TILE];
    const float *mine = in + blockIdx.x * n * TILE + threadIdx.x;
    float sum = 0, next = mine[0];
#pragma unroll 1
    for (int t = 0; t < n; ++t) {
        tile[threadIdx.x] = next;
        __syncthreads();
        next = mine[(t + 1 < n ? t + 1 : t) * TILE];
        sum = use(tile, sum);
        __syncthreads();
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
