// Why: a loop with two entries (irreducible): no natural loop, no single head, and a per-lane way in.
extern "C" __global__ void goto_two_heads(const int *in, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int a = in[i];
    int count = 0;
    if (a & 1) {
        goto second;
    }
first:
    atomicAdd(&out[0], a);
    a = a * 3 + 1;
    if (++count > n) {
        goto done;
    }
second:
    atomicXor(&out[1], a);
    a >>= 1;
    if (a > 4 && ++count < n) {
        goto first;
    }
    if (a == 3 && ++count < n) {
        goto second;
    }
done:
    out[8 + i] = count;
}
