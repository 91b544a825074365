// Why: SHFL inside a rolled loop, a warp-wide reduction, then an atomic by one lane.
extern "C" __global__ void reduce_shuffle(const float *in, float *out, int n) {
    float sum = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        sum += in[i];
    }
#pragma unroll 1
    for (int offset = 16; offset > 0; offset >>= 1) {
        sum += __shfl_down_sync(0xffffffffu, sum, offset);
    }
    if ((threadIdx.x & 31) == 0) {
        atomicAdd(out, sum);
    }
}
