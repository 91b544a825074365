// Why: a thread sums a row: neighbouring lanes read words that are a row apart. Mended: the matrix is stored by columns.
// Archs: 80
// Flaw: coalesce
// Launch: 256 432 param_2=256
extern "C" __global__ void flawed(float *out, const float *in, int n) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
#pragma unroll 4
    for (int k = 0; k < n; ++k) sum += in[row * n + k];
    out[row] = sum;
}

extern "C" __global__ void mended(float *out, const float *in, int n) {
    int row = blockIdx.x * blockDim.x + threadIdx.x, rows = gridDim.x * blockDim.x;
    float sum = 0;
#pragma unroll 4
    for (int k = 0; k < n; ++k) sum += in[k * rows + row];
    out[row] = sum;
}
