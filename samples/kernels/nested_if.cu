// Why: if/else nested four deep, with atomics in the leaves so that none can be turned into a select.
extern "C" __global__ void nested_if(const int *in, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int v = in[i];
        if (v & 1) {
            if (v & 2) {
                if (v & 4) {
                    atomicAdd(&out[0], v);
                } else {
                    atomicSub(&out[1], v);
                    __threadfence();
                }
                atomicXor(&out[2], v);
            } else {
                atomicMax(&out[3], v);
                __threadfence_block();
            }
            atomicAnd(&out[4], v);
        } else {
            if (v & 8) {
                atomicMin(&out[5], v);
                __threadfence();
            } else {
                atomicExch(&out[6], v);
                __threadfence_block();
            }
            atomicOr(&out[7], v);
        }
    }
    atomicInc((unsigned *)&out[8], 100u);
}
