// Why: four guarded halo loads before a barrier: short divergent branches in a row, all of which reconverge.
constexpr int TILE = 16;

extern "C" __global__ void stencil2d_halo(const float *in, float *out, int width, int height) {
    __shared__ float s[TILE + 2][TILE + 2];
    int x = blockIdx.x * TILE + threadIdx.x;
    int y = blockIdx.y * TILE + threadIdx.y;
    int tx = threadIdx.x + 1;
    int ty = threadIdx.y + 1;
    bool inside = x < width && y < height;
    s[ty][tx] = inside ? in[y * width + x] : 0.0f;
    if (threadIdx.x == 0) {
        s[ty][0] = x > 0 && y < height ? in[y * width + x - 1] : 0.0f;
    }
    if (threadIdx.x == TILE - 1) {
        s[ty][TILE + 1] = x + 1 < width && y < height ? in[y * width + x + 1] : 0.0f;
    }
    if (threadIdx.y == 0) {
        s[0][tx] = y > 0 && x < width ? in[(y - 1) * width + x] : 0.0f;
    }
    if (threadIdx.y == TILE - 1) {
        s[TILE + 1][tx] = y + 1 < height && x < width ? in[(y + 1) * width + x] : 0.0f;
    }
    __syncthreads();
    if (inside) {
        float around = s[ty - 1][tx] + s[ty + 1][tx] + s[ty][tx - 1] + s[ty][tx + 1];
        out[y * width + x] = 0.5f * s[ty][tx] + 0.125f * around;
    }
}
