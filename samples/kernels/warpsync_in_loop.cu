// Why: a barrier of the warp inside a branch of a loop that threads leave one by one, to exit: who waits below is not waited for.
extern "C" __global__ void warpsync_in_loop(const int *in, int *out, int n) {
    __shared__ int stage[64];
    int lane = threadIdx.x & 63;
    int sum = 0;
    for (int i = 0; i < n; i++) {
        int step = in[i * 64 + lane];
        if (step < 0) {
            out[lane] = sum;
            return;
        }
        if (n > 100) {
            stage[lane] = step;
            __syncwarp();
            sum += stage[lane ^ 1];
            __syncwarp();
        } else if (step & 1) {
            sum -= step;
        }
    }
    out[lane] = sum * 2;
}
