// Why: the sums of the rows of a matrix, a warp for each, by shuffles: no barrier.
// Archs: 80 90
// Launch: --block-dim 256 --param param_2=1024
extern "C" __global__ void reduce_warps(const float *in, float *out, int columns) {
    int row = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
    float sum = 0.0f;
    for (int i = 0; i < columns; i += 32) sum += in[row * columns + i + lane];
#pragma unroll
    for (int step = 16; step > 0; step >>= 1) sum += __shfl_down_sync(0xffffffffu, sum, step);
    if (lane == 0) out[row] = sum;
}
