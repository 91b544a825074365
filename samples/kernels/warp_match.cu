// Why: subsets of a warp that synchronise with each other (since sm_70: WARPSYNC, MATCH and collectives in divergent code).
extern "C" __global__ void warp_match(const int *key, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned live = __ballot_sync(0xffffffffu, i < n);
    if (i >= n) {
        return;
    }
    int k = key[i];
#if __CUDA_ARCH__ >= 700
    unsigned peers = __match_any_sync(live, k);
#else
    unsigned peers = __ballot_sync(live, k & 1);
    peers = (k & 1) ? peers : live & ~peers;
#endif
    int leader = __ffs(peers) - 1;
    int lane = threadIdx.x & 31;
    int base = 0;
    if (lane == leader) {
        base = atomicAdd(&out[k & 63], __popc(peers));
    }
    base = __shfl_sync(peers, base, leader);
    __syncwarp(peers);
    out[64 + i] = base + __popc(peers & ((1u << lane) - 1));
}
