// Why: the threads of a block go on until none has changed anything.
// Archs: 80 120
extern "C" __global__ void vote(int *a, int n) {
    int i = threadIdx.x, changed;
    do { int x = a[i], y = a[(i + 1) % n]; changed = y < x; if (changed) a[i] = y; } while (__syncthreads_or(changed));
}
