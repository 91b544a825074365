// Why: anti-diagonal sweep: the number of active lanes grows and shrinks with the loop counter.
extern "C" __global__ void smith_waterman(const char *a, const char *b, int n, int *best, int match, int miss, int gap) {
    extern __shared__ int diag[];
    int *prev2 = diag;
    int *prev = diag + n + 1;
    int *cur = diag + 2 * (n + 1);
    int row = threadIdx.x + 1;
    int top = 0;
    for (int k = threadIdx.x; k < 3 * (n + 1); k += blockDim.x) {
        diag[k] = 0;
    }
    __syncthreads();
    for (int d = 2; d <= 2 * n; ++d) {
        int column = d - row;
        if (row <= n && column >= 1 && column <= n) {
            int score = prev2[row - 1] + (a[row - 1] == b[column - 1] ? match : miss);
            score = max(score, prev[row - 1] + gap);
            score = max(score, prev[row] + gap);
            score = max(score, 0);
            cur[row] = score;
            top = max(top, score);
        }
        __syncthreads();
        int *t = prev2;
        prev2 = prev;
        prev = cur;
        cur = t;
    }
    atomicMax(best, top);
}
