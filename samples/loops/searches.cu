// Why: searches that halve, and loops that other threads, memory or the convergence of numbers end.
// Archs: 80 120
// Listing: no
extern "C" __global__ void lengths_float_search(const float *a, int *o, int n) { float x = a[threadIdx.x] * 0.5f;
    int lo = 0, hi = n; while (lo < hi) { int mid = lo + (hi - lo) / 2; if (a[mid] < x) lo = mid + 1; else hi = mid;
    } o[threadIdx.x] = lo; }
extern "C" __global__ void upper_bound_cub(const int *a, int *o, int n) { int x = a[threadIdx.x]; const int *p = a;
    while (n > 0) { int half = n >> 1; if (!(x < p[half])) { p += half + 1; n -= half + 1; } else n = half; } o[threadIdx.x] = p - a; }
extern "C" __global__ void merge_path(const int *a, const int *b, int *o, int na, int nb) {
    int diag = (blockIdx.x * 128 + threadIdx.x) * 4; int lo = max(0, diag - nb), hi = min(diag, na);
    while (lo < hi) { int mid = (lo + hi) >> 1; if (a[mid] < b[diag - 1 - mid]) lo = mid + 1; else hi = mid; } o[threadIdx.x] = lo; }
extern "C" __global__ void hash_probe(const int *keys, int *table, int mask) {
    int key = keys[threadIdx.x], h = (key * 0x9E3779B1u) & mask; while (true) { int old = atomicCAS(&table[h], -1, key);
    if (old == -1 || old == key) break; h = (h + 1) & mask; } }
extern "C" __global__ void spin_lock(int *lock, float *a) { if (threadIdx.x == 0) { while (atomicCAS(lock, 0, 1) != 0);
    a[0] += 1; __threadfence(); atomicExch(lock, 0); } }
extern "C" __global__ void lookback_cub(volatile unsigned long long *st, int *o) { if (threadIdx.x < 32) {
    int p = (int)blockIdx.x - 1 - threadIdx.x; int sum = 0;
    while (true) { unsigned long long v; do { v = p >= 0 ? st[p] : 2ull << 32; } while (__any_sync(~0u, (v >> 32) == 0));
    unsigned done = __ballot_sync(~0u, (v >> 32) == 2); sum += (int)v; if (done) break; p -= 32; } o[blockIdx.x] = sum; } }
extern "C" __global__ void newton_converge(float *o, float eps) { float a = o[threadIdx.x], x = a;
    while (fabsf(x * x - a) > eps) x = 0.5f * (x + a / x); o[threadIdx.x] = x; }
extern "C" __global__ void float_bisection(float *o, float eps) { float lo = 0, hi = 1; while (hi - lo > eps) {
    float m = 0.5f * (lo + hi); if (m * m < o[threadIdx.x]) lo = m; else hi = m; } o[threadIdx.x] = lo; }
extern "C" __global__ void lcg_reject(float *o, unsigned seed) { unsigned s = seed + threadIdx.x * 747796405u; float x, y, r;
    do { s = s * 1664525u + 1013904223u; x = (s >> 8) * (2.f / 16777216) - 1; s = s * 1664525u + 1013904223u;
    y = (s >> 8) * (2.f / 16777216) - 1; r = x * x + y * y; } while (r >= 1 || r == 0); o[threadIdx.x] = x * r; }
extern "C" __global__ void work_queue(int *next, float *a, int n) { for (;;) { int i;
    if ((threadIdx.x & 31) == 0) i = atomicAdd(next, 1); i = __shfl_sync(~0u, i, 0); if (i >= n) break;
    a[i * 32 + (threadIdx.x & 31)] *= 2; } }
extern "C" __global__ void list_pointer(void **head, int *o) { struct N { N *next; int v; }; N *p = (N*)head[threadIdx.x];
    int s = 0; while (p) { s += p->v; p = p->next; } o[threadIdx.x] = s; }
