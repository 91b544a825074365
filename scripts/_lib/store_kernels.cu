// Why: stores that cover sectors of 32 bytes, and stores of parts of them. STRIDE: floats from one thread to the next.
extern "C" __global__ void strided(const float *__restrict__ in, float *__restrict__ out, int n) {
    int at = (blockIdx.x * blockDim.x + threadIdx.x) * STRIDE;
    if (at < n) out[at] = in[at];
}
extern "C" __global__ void masked(const float *__restrict__ in, float *__restrict__ out, int n) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < n && (at & 1)) out[at] = in[at];
}
extern "C" __global__ void bytes(const float *__restrict__ in, unsigned char *__restrict__ out, int n) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < n) out[4 * at] = (unsigned char)in[at];
}
extern "C" __global__ void sums(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ out, int n) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < n) out[at] = a[at] + b[at];
}
extern "C" __global__ void axpy(const float *__restrict__ a, float *__restrict__ out, float scale, int n) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < n) out[at] = scale * a[at] + out[at];
}
extern "C" __global__ void transposed(const float *__restrict__ in, float *__restrict__ out, int rows, int columns) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows && column < columns) out[column * rows + row] = in[row * columns + column];
}
