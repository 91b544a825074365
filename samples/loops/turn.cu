// Why: a block waits, with longer and longer pauses, until the one before it has passed on its turn.
// Archs: 80 120
extern "C" __global__ void wait_flag(float *a, int n) {
    volatile int *turn = (volatile int *)a + (1 << 20);
    float s = 0;
    for (int i = 0; i < n; i++) s += a[(blockIdx.x * n + i) * 128 + threadIdx.x];
    if (threadIdx.x == 0) { int ns = 8; while (*turn != blockIdx.x) { __nanosleep(ns); if (ns < 256) ns *= 2; } }
    __syncthreads();
    a[threadIdx.x] += s;
    __syncthreads();
    if (threadIdx.x == 0) { __threadfence(); *turn = blockIdx.x + 1; }
}
