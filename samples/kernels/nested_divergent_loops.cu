// Why: three nested loops whose inner bounds depend on the lane and on the outer counters.
extern "C" __global__ void nested_divergent_loops(const int *w, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int sum = 0;
#pragma unroll 1
    for (int a = 0; a < n; ++a) {
#pragma unroll 1
        for (int b = a; b < (i & 7) + a; ++b) {
            int stop = w[b];
#pragma unroll 1
            for (int c = 0; c < stop; ++c) {
                sum = sum * 31 + w[c + b];
            }
        }
        sum ^= a;
    }
    out[i] = sum;
}
