// Why: an inner loop that continues and breaks the outer one: several loop tokens are on the stack at once.
extern "C" __global__ void continue_from_inner(const int *in, int *out, int n, int m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int sum = 0;
    int r = 0;
    do {
        int c = 0;
        do {
            int v = in[(i + r) * m + c];
            if (v == 0) {
                atomicAdd(&out[0], c);
                goto next_row;
            }
            if (v == 1) {
                atomicAdd(&out[1], r);
                goto finished;
            }
            if (v == 2) {
                atomicSub(&out[2], sum);
                goto next_cell;
            }
            sum += v;
            atomicMax(&out[3], sum);
            if (sum > m) {
                break;
            }
        next_cell:
            ++c;
        } while (c < m);
        atomicMin(&out[4], sum);
    next_row:
        ++r;
    } while (r < n);
finished:
    out[8 + i] = sum;
}
