// Why: one row per thread, so each thread has its own trip count; the compiler unrolls with a remainder loop.
extern "C" __global__ void spmv_csr(int rows, const int *ptr, const int *col, const float *val, const float *x, float *y) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r < rows) {
        float sum = 0.0f;
        for (int e = ptr[r]; e < ptr[r + 1]; ++e) {
            sum += val[e] * x[col[e]];
        }
        y[r] = sum;
    }
}
