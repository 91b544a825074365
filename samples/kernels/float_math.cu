// Why: single-precision IEEE division, square root and sine: slow paths with a call, a loop and a local array.
extern "C" __global__ void float_math(const float *a, const float *b, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = sinf(a[i] / b[i]) + sqrtf(b[i]);
    }
}
