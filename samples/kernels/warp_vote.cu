// Why: votes and ballots: results that all lanes share, in branches that therefore cannot diverge.
extern "C" __global__ void warp_vote(const int *in, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int v = in[i];
    if (__any_sync(0xffffffffu, v > n)) {
        atomicAdd(&out[0], v);
    }
    if (__all_sync(0xffffffffu, v < 0)) {
        out[1] = 1;
        return;
    }
    unsigned mask = __ballot_sync(0xffffffffu, v & 1);
    while (mask != 0) {
        int lane = __ffs(mask) - 1;
        v += __shfl_sync(0xffffffffu, v, lane);
        mask &= mask - 1;
    }
    out[8 + i] = v + __popc(__activemask());
}
