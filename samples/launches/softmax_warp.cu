// Why: softmax of a row by a warp, its elements in registers, by shuffles.
// Archs: 80 90
// Launch: --block-dim 128
extern "C" __global__ void softmax_warp(const float *in, float *out) {
    int at = (blockIdx.x * 4 + threadIdx.x / 32) * 256 + threadIdx.x % 32;
    float x[8], most = -3.0e38f, sum = 0.0f;
#pragma unroll
    for (int i = 0; i < 8; ++i) most = fmaxf(most, x[i] = in[at + 32 * i]);
#pragma unroll
    for (int step = 16; step > 0; step >>= 1) most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, step));
#pragma unroll
    for (int i = 0; i < 8; ++i) sum += x[i] = __expf(x[i] - most);
#pragma unroll
    for (int step = 16; step > 0; step >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, step);
    float scale = __frcp_rn(sum);
#pragma unroll
    for (int i = 0; i < 8; ++i) out[at + 32 * i] = x[i] * scale;
}
