// Why: threads leave at three places, one of them inside a loop: EXIT under a guard with others still pending.
extern "C" __global__ void early_return(const int *in, int *out, int n, int limit) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) {
        return;
    }
    int v = in[i];
    if (v < 0) {
        out[i] = -1;
        return;
    }
    int steps = 0;
    while (v != 1) {
        v = (v & 1) ? 3 * v + 1 : v >> 1;
        if (++steps >= limit) {
            out[i] = -2;
            return;
        }
    }
    out[i] = steps;
}
