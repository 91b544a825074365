// Why: bound by shared memory: the lanes of a warp read words of one bank.
// Archs: 80
extern "C" __global__ void shared_conflicts(float *out) {
    __shared__ float tile[32][32];
    tile[threadIdx.x & 31][threadIdx.x >> 5 & 31] = 1.0f;
    __syncthreads();
    float sum = 0;
#pragma unroll 1
    for (int i = 0; i < 32; i += 4)
#pragma unroll
        for (int k = 0; k < 4; ++k) sum += *(volatile float *)&tile[threadIdx.x & 31][i + k];
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
