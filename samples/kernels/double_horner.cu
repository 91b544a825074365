// Why: double precision arithmetic only (DFMA, DADD, DSETP): the D letter of the kernel strings.
extern "C" __global__ void double_horner(const double *coef, int degree, const double *x, double *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        double t = x[i];
        double sum = coef[degree];
#pragma unroll 1
        for (int k = degree - 1; k >= 0; --k) {
            sum = sum * t + coef[k];
        }
        y[i] = sum > 0.0 ? sum : -sum;
    }
}
