// Why: softmax of a row by a block: a maximum, a sum of exponentials, and a division, with trees in shared memory.
// Archs: 80 90
// Launch: --block-dim 256 --param param_2=2048
extern "C" __global__ void softmax_block(const float *in, float *out, int columns) {
    __shared__ float part[256];
    const float *row = in + blockIdx.x * columns;
    float most = -3.0e38f;
    for (int i = threadIdx.x; i < columns; i += 256) most = fmaxf(most, row[i]);
    part[threadIdx.x] = most;
    __syncthreads();
#pragma unroll
    for (int step = 128; step > 0; step >>= 1) {
        if (threadIdx.x < step) part[threadIdx.x] = fmaxf(part[threadIdx.x], part[threadIdx.x + step]);
        __syncthreads();
    }
    most = part[0];
    __syncthreads();
    float sum = 0.0f;
    for (int i = threadIdx.x; i < columns; i += 256) sum += __expf(row[i] - most);
    part[threadIdx.x] = sum;
    __syncthreads();
#pragma unroll
    for (int step = 128; step > 0; step >>= 1) {
        if (threadIdx.x < step) part[threadIdx.x] += part[threadIdx.x + step];
        __syncthreads();
    }
    float scale = __frcp_rn(part[0]);
    for (int i = threadIdx.x; i < columns; i += 256) out[blockIdx.x * columns + i] = __expf(row[i] - most) * scale;
}
