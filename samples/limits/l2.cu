// Why: bound by L2: every block reads the same 16 MiB, which L2 keeps and L1 does not.
// Archs: 80
extern "C" __global__ void kept_by_l2(float *out, const float *in) {
    float sum = 0;
    unsigned at = blockIdx.x * 4096 + threadIdx.x;
#pragma unroll 1
    for (int i = 0; i < 16; ++i)
#pragma unroll
        for (int k = 0; k < 8; ++k) sum += in[(at + (i * 8 + k) * 32768) & 0x3fffff];
    if (sum == 1.0f) out[threadIdx.x] = sum;
}
