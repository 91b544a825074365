// Why: loops that words of memory end, which a recording knows: rows, runs, pages, lengths that a warp shares, strings, a table of hashes.
// Archs: 80 120
// Listing: no
extern "C" __global__ void ragged(float *a, const int *off) { for (int i = off[blockIdx.x] + threadIdx.x;
    i < off[blockIdx.x + 1]; i += 32) a[i] *= 2; }
extern "C" __global__ void run_length(const int *len, int *o) { int t = blockIdx.x * 128 + threadIdx.x; int c = len[t];
    for (int i = 0; i < c; i++) o[t * 8 + i] = t; }
extern "C" __global__ void paged(const int *len, const int *table, float *o, int page) { int n = len[blockIdx.x]; float s = 0;
    for (int p = 0; p * page < n; p++) { int t = table[blockIdx.x * 32 + p]; for (int i = 0; i < min(page, n - p * page);
    i++) s += o[t * 16 + i]; } o[threadIdx.x + 100000] = s; }
extern "C" __global__ void shuffle_bound(const int *len, int *o) { int n = 0;
    if ((threadIdx.x & 31) == 0) n = len[threadIdx.x / 32 + 4 * blockIdx.x]; n = __shfl_sync(~0u, n, 0); int s = 0; for (int i = 0;
    i < n; i++) s += o[i * 32]; o[threadIdx.x] = s; }
extern "C" __global__ void redux_bound(const int *len, int *o) { int n = len[threadIdx.x];
#if __CUDA_ARCH__ >= 800
    int m = __reduce_max_sync(~0u, n);
#else
    int m = n; for (int d = 16; d; d >>= 1) m = max(m, __shfl_xor_sync(~0u, m, d));
#endif
    int s = 0; for (int i = 0; i < m; i++) s += o[i * 32]; o[threadIdx.x] = s; }
extern "C" __global__ void collatz_data(const unsigned *d, int *o) { unsigned n = d[blockIdx.x * blockDim.x + threadIdx.x] + 1;
    int s = 0; while (n != 1) { n = n & 1 ? 3 * n + 1 : n >> 1; s++; } o[blockIdx.x * 128 + threadIdx.x] = s; }
extern "C" __global__ void strlen(const int *text, int *o) { int n = 0; while (text[n + (threadIdx.x & 7)]) n++; o[threadIdx.x] = n; }
extern "C" __global__ void hash_find(const int *keys, const int *table, int *o, int mask) {
    int key = keys[threadIdx.x] + 1000003, h = (key * 0x9E3779B1u) & mask;
    while (table[h] != key && table[h] != -1) h = (h + 1) & mask; o[threadIdx.x] = h; }
extern "C" __global__ void string_match(const char *text, const char *pat, int *o, int n, int m) {
    int i = blockIdx.x * 128 + threadIdx.x; if (i + m > n) return; int j = 0; while (j < m && text[i + j] == pat[j]) j++; o[i] = j == m; }
