// Why: a dense switch with bodies that no select can replace: an indirect branch (BRX) over a table.
extern "C" __global__ void switch_brx(const int *op, int *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) {
        return;
    }
    int v = x[i];
    switch (op[i]) {
    case 0: atomicAdd(&x[n], v); v += 3; break;
    case 1: atomicSub(&x[n + 1], v); v *= 5; break;
    case 2: v = atomicExch(&x[n + 2], v); break;
    case 3: v = atomicMax(&x[n + 3], v) + 7; break;
    case 4: v = atomicMin(&x[n + 4], v) - 9; break;
    case 5: __threadfence(); v = x[n + 5] ^ v; break;
    case 6: v = atomicAnd(&x[n + 6], v); v = v % 11; break;
    case 7: v = atomicOr(&x[n + 7], v); // falls through
    case 8: v = atomicXor(&x[n + 8], v) << 1; break;
    case 9: v = atomicCAS(&x[n + 9], v, 1); break;
    case 10: x[n + 10] = v; __threadfence_block(); v = 10; break;
    case 11: return;
    default: v = -1; break;
    }
    x[i] = v;
}
