// Why: a list of tiles is copied to shared memory, and ends at -1.
// Archs: 80 120
extern "C" __global__ void tile_list(const int *list, float *a) {
    __shared__ int mine[64];
    if (threadIdx.x < 64) mine[threadIdx.x] = list[blockIdx.x * 64 + threadIdx.x];
    __syncthreads();
    for (int i = 0; mine[i] != -1; i++) a[mine[i] * 128 + threadIdx.x] *= 2;
}
