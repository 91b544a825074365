// Why: a product of matrices with 4 x 4 results per thread: many multiply-adds for each access.
// Archs: 80 90
// Launch: --block-dim 16,16 --param param_3=256
constexpr int SIDE = 64, DEPTH = 16, PER = 4;

extern "C" __global__ void matmul_registers(const float *a, const float *b, float *c, int n) {
    __shared__ float ta[DEPTH][SIDE], tb[DEPTH][SIDE];
    int tid = threadIdx.y * 16 + threadIdx.x, row = blockIdx.y * SIDE, col = blockIdx.x * SIDE;
    float sum[PER][PER] = {};
    for (int t = 0; t < n; t += DEPTH) {
#pragma unroll
        for (int i = 0; i < PER; ++i) {
            int k = tid / SIDE + 4 * i, x = tid % SIDE;
            ta[k][x] = a[(t + k) * n + row + x];
            tb[k][x] = b[(t + k) * n + col + x];
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < DEPTH; ++k) {
            float ra[PER], rb[PER];
#pragma unroll
            for (int i = 0; i < PER; ++i) ra[i] = ta[k][threadIdx.y + 16 * i], rb[i] = tb[k][threadIdx.x + 16 * i];
#pragma unroll
            for (int i = 0; i < PER; ++i)
#pragma unroll
                for (int j = 0; j < PER; ++j) sum[i][j] += ra[i] * rb[j];
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < PER; ++i)
#pragma unroll
        for (int j = 0; j < PER; ++j) c[(row + threadIdx.y + 16 * i) * n + col + threadIdx.x + 16 * j] = sum[i][j];
}
