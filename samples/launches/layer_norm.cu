// Why: a row less its mean, by its deviation: two sums at once by shuffles, and one barrier.
// Archs: 80 90
// Launch: --block-dim 256 --param param_2=2048
extern "C" __global__ void layer_norm(const float *in, float *out, int columns) {
    __shared__ float part[2][8];
    const float *row = in + blockIdx.x * columns;
    float sum = 0.0f, squares = 0.0f;
    for (int i = threadIdx.x; i < columns; i += 256) {
        float x = row[i];
        sum += x;
        squares += x * x;
    }
#pragma unroll
    for (int step = 16; step > 0; step >>= 1) {
        sum += __shfl_xor_sync(0xffffffffu, sum, step);
        squares += __shfl_xor_sync(0xffffffffu, squares, step);
    }
    if (threadIdx.x % 32 == 0) part[0][threadIdx.x / 32] = sum, part[1][threadIdx.x / 32] = squares;
    __syncthreads();
    sum = squares = 0.0f;
#pragma unroll
    for (int i = 0; i < 8; ++i) sum += part[0][i], squares += part[1][i];
    float mean = sum / 2048, scale = rsqrtf(squares / 2048 - mean * mean + 1.0e-5f);
    for (int i = threadIdx.x; i < columns; i += 256) out[blockIdx.x * columns + i] = (row[i] - mean) * scale;
}
