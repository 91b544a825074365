// Why: a stencil of seven points in space: planes follow each other in registers, no barrier.
// Archs: 80 90
// Launch: --block-dim 32,8 --param param_2=256 --param param_3=64
extern "C" __global__ void stencil_space(const float *in, float *out, int width, int depth) {
    int plane = width * width, at = (blockIdx.y * 8 + threadIdx.y + 1) * width + blockIdx.x * 32 + threadIdx.x + 1;
    float below = in[at], here = in[at + plane];
    for (int z = 1; z < depth; ++z) {
        int now = at + z * plane;
        float above = in[now + plane];
        out[now] = 0.4f * here + 0.1f * (below + above + in[now - 1] + in[now + 1] + in[now - width] + in[now + width]);
        below = here;
        here = above;
    }
}
