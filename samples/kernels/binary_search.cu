// Why: a loop with a logarithmic bound that no counter shows, left early when the key is found.
extern "C" __global__ void binary_search(const int *sorted, int n, const int *keys, int *found, int m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= m) {
        return;
    }
    int key = keys[i];
    int lo = 0;
    int hi = n - 1;
    int where = -1;
    while (lo <= hi) {
        int mid = lo + (hi - lo) / 2;
        int v = sorted[mid];
        if (v == key) {
            where = mid;
            break;
        }
        if (v < key) {
            lo = mid + 1;
        } else {
            hi = mid - 1;
        }
    }
    found[i] = where;
}
