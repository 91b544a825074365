// Why: a skewed tile loop as polyhedral compilers write it: a bound of its inner loop is far above what warps iterate.
// Archs: 86
// Both ends of the inner loop are a minimum or a maximum of sums of indices and the outer counter.
extern "C" __global__ void tiles(float *a, int n) {
    int b = blockIdx.x, t = threadIdx.x;
    for (int c = 640 * b; c <= min(n, 608 * b + 700); c += 32) {
        for (int k = max(0, 640 * b + 20 * t - c); k <= min(31, 608 * b + 19 * t - c + 60); ++k) a[b * 32 + t] += a[4096 + 650 * b + 20 * t + c + k];
        __syncthreads();
    }
}
