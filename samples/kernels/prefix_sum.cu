// Why: Blelloch's scan: two barrier loops with bounds known from blockDim and guards that diverge.
extern "C" __global__ void prefix_sum(int *data, int *block_sums) {
    extern __shared__ int tmp[];
    int tid = threadIdx.x;
    int n = 2 * blockDim.x;
    int base = blockIdx.x * n;
    tmp[2 * tid] = data[base + 2 * tid];
    tmp[2 * tid + 1] = data[base + 2 * tid + 1];
    int offset = 1;
    for (int d = n >> 1; d > 0; d >>= 1) {
        __syncthreads();
        if (tid < d) {
            tmp[offset * (2 * tid + 2) - 1] += tmp[offset * (2 * tid + 1) - 1];
        }
        offset <<= 1;
    }
    if (tid == 0) {
        block_sums[blockIdx.x] = tmp[n - 1];
        tmp[n - 1] = 0;
    }
    for (int d = 1; d < n; d <<= 1) {
        offset >>= 1;
        __syncthreads();
        if (tid < d) {
            int left = offset * (2 * tid + 1) - 1;
            int right = offset * (2 * tid + 2) - 1;
            int t = tmp[left];
            tmp[left] = tmp[right];
            tmp[right] += t;
        }
    }
    __syncthreads();
    data[base + 2 * tid] = tmp[2 * tid];
    data[base + 2 * tid + 1] = tmp[2 * tid + 1];
}
