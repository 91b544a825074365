// Why: an iteration waits for one load, and mostly counts. Mended: eight iterations load at once.
// Archs: 80
// Flaw: unroll
// Launch: 256 216 param_2=128
extern "C" __global__ void flawed(float *out, const float *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
    float sum = 0;
#pragma unroll 1
    for (int k = 0; k < n; ++k, i += all) sum += in[i];
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

extern "C" __global__ void mended(float *out, const float *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
    float sum = 0;
#pragma unroll 1
    for (int k = 0; k < n; k += 8, i += 8 * all) {
        float v[8];
#pragma unroll
        for (int j = 0; j < 8; ++j) v[j] = in[i + j * all];
#pragma unroll
        for (int j = 0; j < 8; ++j) sum += v[j];
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
