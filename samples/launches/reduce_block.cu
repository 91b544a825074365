// Why: the sum of an array: each thread adds a part of it, then a tree in shared memory, a barrier in each round.
// Archs: 80 90
// Launch: --block-dim 256 --param param_2=32
extern "C" __global__ void reduce_block(const float *in, float *out, int rounds) {
    __shared__ float part[256];
    float sum = 0.0f;
    const float *mine = in + blockIdx.x * rounds * 256 + threadIdx.x;
    for (int i = 0; i < rounds; ++i) sum += mine[i * 256];
    part[threadIdx.x] = sum;
    __syncthreads();
#pragma unroll
    for (int step = 128; step > 0; step >>= 1) {
        if (threadIdx.x < step) part[threadIdx.x] += part[threadIdx.x + step];
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}
