// A filter of `taps` taps over n outputs: y[i] = h[0] * x[i] + h[1] * x[i + 1] + ..., x with n + taps - 1 elements.
//
// WORK is how many outputs each thread computes (neighbours share what they load: UNROLL taps at a time), so that the grid must have
// n / (blockDim.x * WORK) blocks, rounded up; n is a multiple of WORK. Each output is the same sum in the same order, whatever is chosen.
#ifndef WORK
#define WORK 1
#endif

extern "C" __global__ void fir(const float *__restrict__ x, const float *__restrict__ h, float *__restrict__ y, int n, int taps) {
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * WORK;
    float sum[WORK];
#pragma unroll
    for (int w = 0; w < WORK; ++w) {
        sum[w] = 0.0f;
    }
    if (first >= n) {
        return;
    }
#ifdef UNROLL
#pragma unroll UNROLL
#endif
    for (int k = 0; k < taps; ++k) {
        float tap = h[k];
#pragma unroll
        for (int w = 0; w < WORK; ++w) {
            sum[w] += tap * x[first + k + w];
        }
    }
#pragma unroll
    for (int w = 0; w < WORK; ++w) {
        y[first + w] = sum[w];
    }
}
