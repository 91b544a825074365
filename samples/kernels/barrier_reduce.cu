// Why: barriers that also vote (BAR.RED) steer a uniform loop, and a named barrier joins half of the block.
extern "C" __global__ void barrier_reduce(int *x, int limit) {
    __shared__ int best;
    int v = x[blockIdx.x * blockDim.x + threadIdx.x];
    int rounds = 0;
#pragma unroll 1
    while (__syncthreads_or(v > limit)) {
        v -= threadIdx.x & 3;
        if (++rounds > 64) {
            break;
        }
    }
    if (threadIdx.x < 64) {
        if (threadIdx.x == 0) {
            best = 0;
        }
        asm volatile("bar.sync 1, 64;");
        atomicMax(&best, v);
        asm volatile("bar.sync 1, 64;");
    }
    int count = __syncthreads_count(v == best);
    x[blockIdx.x * blockDim.x + threadIdx.x] = count + rounds;
}
