// Why: exits through inline PTX inside nested loops, so that lanes vanish while loop tokens are on the stack.
extern "C" __global__ void discard_lanes(const int *in, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int sum = 0;
#pragma unroll 1
    for (int a = 0; a < n; ++a) {
        int v = in[i + a];
        if (v < 0) {
            atomicAdd(&out[0], 1);
            asm volatile("exit;");
        }
#pragma unroll 1
        for (int b = 0; b < v; ++b) {
            int w = in[b];
            if (w == a) {
                atomicMax(&out[1], b);
                break;
            }
            if (w == -b) {
                asm volatile("exit;");
            }
            sum += w;
        }
    }
    out[8 + i] = sum;
}
