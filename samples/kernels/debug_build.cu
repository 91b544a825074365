// Why: compiled with -G: unoptimised code, a section for each function, and absolute calls that need relocations (JCAL).
// Options: -G
__device__ __noinline__ int collatz(int v) {
    int steps = 0;
    while (v != 1) {
        if (v <= 0) {
            break;
        }
        ++steps;
        if (v & 1) {
            v = 3 * v + 1;
            continue;
        }
        v /= 2;
    }
    return steps;
}

extern "C" __global__ void debug_build(const int *in, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = collatz(in[i]);
    }
}
