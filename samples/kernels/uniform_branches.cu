// Why: every branch depends on parameters and on the block index only, so that no warp may ever diverge.
extern "C" __global__ void uniform_branches(int *x, int mode, int rounds) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int v = x[i];
    if (mode == 1) {
        atomicAdd(&x[0], v);
    } else if (mode == 2) {
        atomicXor(&x[1], v);
        __threadfence();
    } else {
        atomicMax(&x[2], v);
    }
#pragma unroll 1
    for (int k = 0; k < rounds; ++k) {
        v = v * 3 + k;
        if (k & 1) {
            atomicMin(&x[3], v);
        }
    }
    if (blockIdx.x == gridDim.x - 1) {
        atomicOr(&x[4], v);
    }
    x[i] = v;
}
