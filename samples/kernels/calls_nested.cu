// Why: functions that are not inlined, two deep and called from many sites, so that call contexts matter.
__device__ __noinline__ int leaf(int a, int b) {
    int r = a;
    for (int k = 0; k < (b & 7); ++k) {
        r = r * 5 + b;
    }
    return r;
}

__device__ __noinline__ int middle(int a, int b) {
    int left = leaf(a, b);
    if (left & 1) {
        return leaf(left, a) + 1;
    }
    return leaf(b, left);
}

extern "C" __global__ void calls_nested(const int *in, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int v = in[i];
    v = leaf(v, i);
    v += middle(v, 3);
    if (v > n) {
        v = middle(i, v) - leaf(v, 2);
    } else {
        v ^= leaf(n, v);
    }
    out[i] = middle(v, n);
}
