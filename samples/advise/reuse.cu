// Why: every thread of a block reads the same rows and columns from global memory. Mended: tiles of them in shared memory.
// Archs: 80
// Flaw: reuse
// Launch: 16,16 64,64 param_3=1024
const int T = 16;

extern "C" __global__ void flawed(float *c, const float *a, const float *b, int n) {
    int row = blockIdx.y * T + threadIdx.y, column = blockIdx.x * T + threadIdx.x;
    float sum = 0;
#pragma unroll 4
    for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
    c[row * n + column] = sum;
}

extern "C" __global__ void mended(float *c, const float *a, const float *b, int n) {
    __shared__ float left[T][T], right[T][T];
    int row = blockIdx.y * T + threadIdx.y, column = blockIdx.x * T + threadIdx.x;
    float sum = 0;
#pragma unroll 1
    for (int t = 0; t < n; t += T) {
        left[threadIdx.y][threadIdx.x] = a[row * n + t + threadIdx.x];
        right[threadIdx.y][threadIdx.x] = b[(t + threadIdx.y) * n + column];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < T; ++k) sum += left[threadIdx.y][k] * right[k][threadIdx.x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}
