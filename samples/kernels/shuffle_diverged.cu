// Why: shuffles where the threads may have diverged: BRA.DIV, WARPSYNC.COLLECTIVE, a loop whose exits meet only at WARPSYNC.
extern "C" __global__ void shuffle_diverged(int *data, int n, int limit) {
    int lane = threadIdx.x;
    int value = data[lane];
    for (int k = 0; k < n; k++) {
        if (data[k + lane] > limit) {
            value += __shfl_xor_sync(0xffffffffu, value, 1);
        }
        __syncwarp();
        value += data[k];
        if (value == 77) {
            break;
        }
    }
    value += __shfl_xor_sync(0xffffffffu, value, 2);
    value += __shfl_down_sync(0xffffffffu, value, 4);
    data[lane] = value;
}
