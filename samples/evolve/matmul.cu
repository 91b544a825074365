// C = A * B for square matrices of n * n, n a multiple of TILE: one thread per element of C, tiles of TILE * TILE in shared memory.
//
// UNROLL is how often the inner loop is unrolled, STRIP how many tiles are fetched before a barrier (n is a multiple of TILE * STRIP); DEPTH fetches the next
// strip into registers while this one is used. None changes a result: every element is the same sum, in the same order.
constexpr int TILE = 16;

#ifndef STRIP
#define STRIP 1
#endif

extern "C" __global__ void matmul(const float *a, const float *b, float *c, int n) {
    __shared__ float ta[STRIP][TILE][TILE];
    __shared__ float tb[STRIP][TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y;
    int col = blockIdx.x * TILE + threadIdx.x;
    float sum = 0.0f;
    for (int t = 0; t < n; t += TILE * STRIP) {
#pragma unroll
        for (int s = 0; s < STRIP; ++s) {
            ta[s][threadIdx.y][threadIdx.x] = a[row * n + t + s * TILE + threadIdx.x];
            tb[s][threadIdx.y][threadIdx.x] = b[(t + s * TILE + threadIdx.y) * n + col];
        }
        __syncthreads();
#ifdef UNROLL
#pragma unroll UNROLL
#endif
        for (int k = 0; k < TILE * STRIP; ++k) {
            sum += ta[k / TILE][threadIdx.y][k % TILE] * tb[k / TILE][k % TILE][threadIdx.x];
        }
        __syncthreads();
    }
    c[row * n + col] = sum;
}
