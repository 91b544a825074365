// Why: an assertion in a loop, on a path that no run takes.
// Archs: 80 120
extern "C" __global__ void with_assert(float *a, int n, int m) {
    float s = 0;
    for (int i = 0; i < n; i++) { if (i >= m) __assertfail("i < m", "assertion.cu", 6, "with_assert", 1); s += a[i * 128 + threadIdx.x]; }
    a[threadIdx.x] = s;
}
