// Why: streams over memory as the kernels of a histogram are: a scan for the largest, a copy, counts in shared memory, a fill.
// Archs: 62 72 87
// Listing: no
extern "C" __global__ void scan(const uint4 *from, unsigned *most, int n) {
    unsigned known = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        uint4 word = from[i];
        known = max(max(known, max(word.x, word.y)), max(word.z, word.w));
    }
    atomicMax(most, known);
}
extern "C" __global__ void copy(const uint4 *from, uint4 *to, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) to[i] = from[i];
}
extern "C" __global__ void count(const uint4 *from, unsigned *counts, int n) {
    __shared__ unsigned own[1024];
    for (int i = threadIdx.x; i < 1024; i += blockDim.x) own[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        uint4 word = from[i];
        atomicAdd(&own[word.x & 1023], 1), atomicAdd(&own[word.y & 1023], 1);
        atomicAdd(&own[word.z & 1023], 1), atomicAdd(&own[word.w & 1023], 1);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < 1024; i += blockDim.x) atomicAdd(&counts[i], own[i]);
}
extern "C" __global__ void fill(uint4 *to, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) to[i] = make_uint4(i, i, i, i);
}
