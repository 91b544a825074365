// Why: a product of matrices on the tensor units, operands through shared memory.
// Archs: 80 90
// Launch: --block-dim 128 --param param_3=256
extern "C" __global__ void matmul_tensor(const unsigned *a, const unsigned *b, float *c, int n) {
    __shared__ unsigned ta[4][128], tb[4][64];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    float d[4][4] = {};
    for (int t = 0; t < n; t += 16) {
#pragma unroll
        for (int i = 0; i < 4; ++i) ta[i][threadIdx.x] = a[(t + i) * 128 + threadIdx.x];
        if (threadIdx.x < 64) {
#pragma unroll
            for (int i = 0; i < 4; ++i) tb[i][threadIdx.x] = b[(t + i) * 64 + threadIdx.x];
        }
        __syncthreads();
#pragma unroll
        for (int j = 0; j < 4; ++j)
            asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                         : "+f"(d[j][0]), "+f"(d[j][1]), "+f"(d[j][2]), "+f"(d[j][3])
                         : "r"(ta[warp][lane]), "r"(ta[warp][lane + 32]), "r"(ta[warp][lane + 64]), "r"(ta[warp][lane + 96]), "r"(tb[j][lane]), "r"(tb[j][lane + 32]));
        __syncthreads();
    }
#pragma unroll
    for (int j = 0; j < 4; ++j)
#pragma unroll
        for (int i = 0; i < 4; ++i) c[((blockIdx.x * 4 + warp) * 16 + j * 4 + i) * 32 + lane] = d[j][i];
}
