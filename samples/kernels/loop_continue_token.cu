// Why: loop_break_continue with the PBK/BRK of its `continue` rewritten as PCNT/CONT (see "A rewritten kernel").
// Patch: PCNT
extern "C" __global__ void loop_continue_token(const int *in, int *out, int n, int stop) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int sum = 0;
#pragma unroll 1
    for (int k = 0; k < n; ++k) {
        int v = in[i * n + k];
        if (v == stop) {
            atomicAdd(&out[0], 1);
            break;
        }
        if (v < 0) {
            atomicAdd(&out[1], v);
            continue;
        }
        if (v > 1000) {
            atomicMax(&out[2], v);
            if (v & 1) {
                continue;
            }
            atomicMin(&out[3], v);
        }
        sum += v;
        atomicXor(&out[4], sum);
    }
    out[8 + i] = sum;
}
