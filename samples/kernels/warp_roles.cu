// Why: branches on what all lanes of a warp share once the shape of the block is known; in lane_roles on the lane, as a contrast.
__device__ __forceinline__ float iterate(float v, int rounds) {
#pragma unroll 1
    for (int k = 0; k < rounds; ++k) {
        v = v * v - 1.5f;
        __threadfence();
    }
    return v;
}

// One row of the block is one warp: 32 x 8 threads.
extern "C" __global__ void first_row(float *x, int rounds) {
    int t = threadIdx.y * blockDim.x + threadIdx.x;
    float v = x[t];
    if (threadIdx.y == 0) {
        v = iterate(v, rounds);
    }
    x[t] = v;
}

// The number of the warp is compared, and is the bound of a loop.
extern "C" __global__ void warp_number(float *x, int k) {
    int warp = threadIdx.x / 32;
    float v = x[threadIdx.x];
    if (warp == k) {
        v = iterate(v, k);
    }
    x[threadIdx.x] = iterate(v, warp);
}

// The first thread of the warp, as a number of all of them.
extern "C" __global__ void warp_first(float *x, int k) {
    int first = threadIdx.x & ~31;
    float v = x[threadIdx.x];
    if (first < k) {
        v = iterate(v, k);
    }
    x[threadIdx.x] = v;
}

// Threads counted over two dimensions.
extern "C" __global__ void linear_warp(float *x, int k) {
    int t = threadIdx.y * blockDim.x + threadIdx.x;
    float v = x[t];
    if (t / 32 < k) {
        v = iterate(v, k);
    }
    x[t] = v;
}

// A tail of whole warps, where n is a multiple of 32.
extern "C" __global__ void aligned_tail(float *x, int n, int rounds) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = x[i];
    if (i < n) {
        v = iterate(v, rounds);
    }
    x[i] = v;
}

// The lane decides: these branches divide a warp whatever the launch.
extern "C" __global__ void lane_roles(float *x, int rounds) {
    int lane = threadIdx.x & 31;
    float v = x[threadIdx.x];
    if (lane == 0) {
        v = iterate(v, rounds);
    }
    x[threadIdx.x] = iterate(v, lane);
}
