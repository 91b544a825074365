// Why: double division, square root and reciprocal: slow paths that are called, each behind a range test.
extern "C" __global__ void double_math(const double *a, const double *b, double *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        double q = a[i] / b[i];
        double s = sqrt(q * q + 1.0);
        out[i] = 1.0 / (s + b[i]) + q / s;
    }
}
