// Why: a data-dependent loop inside two nested data-dependent guards.
extern "C" __global__ void bfs_step(const int *row, const int *col, int *level, int depth, int n, int *changed) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < n && level[v] == depth) {
        for (int e = row[v]; e < row[v + 1]; ++e) {
            int w = col[e];
            if (level[w] < 0) {
                level[w] = depth + 1;
                *changed = 1;
            }
        }
    }
}
