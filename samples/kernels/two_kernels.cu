// Why: two kernels and a shared helper in one file: listings with several functions.
__device__ __noinline__ int mix(int a, int b) {
    return a % (b | 1) + (a ^ b);
}

extern "C" __global__ void two_kernels_first(int *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        x[i] = mix(x[i], i);
    }
}

__global__ void two_kernels_second(int *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < n; ++k) {
        x[i] = mix(x[i], k);
    }
}
