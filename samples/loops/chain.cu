// Why: from word to word, as memory holds them, until one is negative.
// Archs: 80 120
extern "C" __global__ void chase(const int *next, const int *head, int *len) {
    int i = head[threadIdx.x], n = 0;
    while (i >= 0) { i = next[i]; n++; }
    len[threadIdx.x] = n;
}
