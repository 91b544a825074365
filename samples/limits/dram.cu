// Why: bound by DRAM: a copy of more than L2 keeps.
// Archs: 80
extern "C" __global__ void copy(float4 *out, const float4 *in) {
    unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
    out[at] = in[at];
}
