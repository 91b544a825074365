// Why: the first tile comes from a shuffle, and the tiles are multiplied in uniform registers.
// Archs: 80 120
extern "C" __global__ void r2ur_uimad(float *a, int tiles, int columns, int k) {
    int t = __shfl_sync(~0u, blockIdx.x, 0);
    for (; t < tiles; t += gridDim.x) {
        int row = t / columns, col = t % columns;
        float s = 0;
        for (int i = __shfl_sync(~0u, row * 8, 0); i < k; i += 8) s += a[i * 32 + col + threadIdx.x];
        a[t * 32 + threadIdx.x] = s;
    }
}
