// Why: 64-bit division and remainder, signed and unsigned: the compiler calls its own division routines.
extern "C" __global__ void int64_divide(const long long *a, const long long *b, long long *q, unsigned long long *r, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        q[i] = a[i] / b[i];
        r[i] = (unsigned long long)b[i] % (unsigned long long)(a[i] | 1);
    }
}
