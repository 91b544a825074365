// Why: every lane adds its number to one sum by an atomic operation. Mended: the lanes of a warp add theirs up first.
// Archs: 80
// Flaw: atomics
// Launch: 256 432
extern "C" __global__ void flawed(float *sum, const float *in) {
    atomicAdd(sum, in[blockIdx.x * blockDim.x + threadIdx.x]);
}

extern "C" __global__ void mended(float *sum, const float *in) {
    float x = in[blockIdx.x * blockDim.x + threadIdx.x];
#pragma unroll
    for (int step = 16; step; step /= 2) x += __shfl_down_sync(~0u, x, step);
    if (threadIdx.x % 32 == 0) atomicAdd(sum, x);
}
