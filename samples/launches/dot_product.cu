// Why: the product of two vectors: shuffles in each warp, then one warp adds the sums of the others.
// Archs: 80 90
// Launch: --block-dim 256 --param param_3=64
extern "C" __global__ void dot_product(const float4 *a, const float4 *b, float *out, int rounds) {
    __shared__ float part[8];
    float sum = 0.0f;
    int at = blockIdx.x * rounds * 256 + threadIdx.x;
    for (int i = 0; i < rounds; ++i) {
        float4 x = a[at + i * 256], y = b[at + i * 256];
        sum += x.x * y.x + x.y * y.y + x.z * y.z + x.w * y.w;
    }
#pragma unroll
    for (int step = 16; step > 0; step >>= 1) sum += __shfl_down_sync(0xffffffffu, sum, step);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x < 32) {
        sum = threadIdx.x < 8 ? part[threadIdx.x] : 0.0f;
#pragma unroll
        for (int step = 4; step > 0; step >>= 1) sum += __shfl_down_sync(0xffffffffu, sum, step);
        if (threadIdx.x == 0) out[blockIdx.x] = sum;
    }
}
