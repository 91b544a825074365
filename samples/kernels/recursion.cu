// Why: a recursive device function: a call cycle, which no analysis without a depth bound can finish.
__device__ __noinline__ int ackermann(int m, int n) {
    if (m == 0) {
        return n + 1;
    }
    if (n == 0) {
        return ackermann(m - 1, 1);
    }
    return ackermann(m - 1, ackermann(m, n - 1));
}

extern "C" __global__ void recursion(const int *m, const int *n, int *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = ackermann(m[i], n[i]);
}
