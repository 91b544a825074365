// Why: shuffles where the compiler cannot know that all threads of a warp arrive: BRA.DIV, WARPSYNC.COLLECTIVE, exits that meet at WARPSYNC.
extern "C" __global__ void shuffle_diverged(int *data, const int *per_warp, int n) {
    int lane = threadIdx.x & 31;
    int warp = threadIdx.x >> 5;
    int value = data[threadIdx.x];
#pragma unroll 1
    for (int k = 0; k < n; k++) {
        if (per_warp[k + warp] > 0) {
            value += __shfl_xor_sync(0xffffffffu, value, 1);
        }
        __syncwarp();
        value += data[k];
        if (per_warp[k * 2 + warp] == 77) {
            break;
        }
    }
    value += __shfl_xor_sync(0xffffffffu, value, 2);
    value += __shfl_down_sync(0xffffffffu, value, 4);
    data[threadIdx.x] = value + lane;
}
