// Why: the trip count goes through shared memory: one thread writes it, and all read it behind a barrier.
// Archs: 80 120
extern "C" __global__ void shared_counter(float *a, int n) {
    __shared__ int count;
    if (threadIdx.x == 0) count = n / 4;
    __syncthreads();
    float s = 0;
    for (int i = 0; i < count; i++) s += a[i * 128 + threadIdx.x];
    a[threadIdx.x] = s;
}
