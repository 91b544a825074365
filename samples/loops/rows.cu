// Why: both ends of a row are read from memory.
// Archs: 80 120
extern "C" __global__ void csr(const int *row, const float *v, float *y, int n) {
    int r = blockIdx.x * blockDim.x + threadIdx.x; if (r >= n) return;
    float s = 0;
    for (int i = row[r]; i < row[r + 1]; i++) s += v[i];
    y[r] = s;
}
