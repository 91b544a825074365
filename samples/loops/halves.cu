// Why: an interval that halves: the number of iterations is the logarithm of its length, whatever memory holds.
// Archs: 80 120
extern "C" __global__ void binary_search(const int *a, const int *q, int *r, int n) {
    int x = q[blockIdx.x * blockDim.x + threadIdx.x], lo = 0, hi = n;
    while (lo < hi) { int mid = (lo + hi) >> 1; if (a[mid] < x) lo = mid + 1; else hi = mid; }
    r[blockIdx.x * blockDim.x + threadIdx.x] = lo;
}
