// Why: steps of a stencil of five points on a tile that stays in shared memory.
// Archs: 80 90
// Launch: --block-dim 16,16 --param param_2=256 --param param_3=32
extern "C" __global__ void stencil_plane(const float *in, float *out, int width, int steps) {
    __shared__ float s[2][18][18];
    int x = threadIdx.x + 1, y = threadIdx.y + 1, at = (blockIdx.y * 16 + y) * width + blockIdx.x * 16 + x;
    s[0][y][x] = s[1][y][x] = in[at];
    if (threadIdx.x == 0) s[0][y][0] = s[1][y][0] = in[at - 1];
    if (threadIdx.x == 15) s[0][y][17] = s[1][y][17] = in[at + 1];
    if (threadIdx.y == 0) s[0][0][x] = s[1][0][x] = in[at - width];
    if (threadIdx.y == 15) s[0][17][x] = s[1][17][x] = in[at + width];
    __syncthreads();
    for (int i = 0; i < steps; ++i) {
        float(*from)[18] = s[i & 1];
        s[1 - (i & 1)][y][x] = 0.5f * from[y][x] + 0.125f * (from[y - 1][x] + from[y + 1][x] + from[y][x - 1] + from[y][x + 1]);
        __syncthreads();
    }
    out[at] = s[steps & 1][y][x];
}
