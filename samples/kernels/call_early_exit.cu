// Why: a callee that returns at several places, loops, and ends some threads inside the call.
__device__ __noinline__ int walk(const int *next, int at, int limit) {
    for (int k = 0; k < limit; ++k) {
        int to = next[at];
        if (to < 0) {
            return at;
        }
        if (to == at) {
            asm volatile("exit;");
        }
        at = to;
    }
    return -1;
}

extern "C" __global__ void call_early_exit(const int *next, int *out, int limit) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int a = walk(next, i, limit);
    if (a >= 0) {
        a = walk(next, a / 2, limit);
    }
    out[i] = a;
}
