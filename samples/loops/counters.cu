// Why: loops that count: in 8, 16 and 64 bits, down, by pointers, by products and quotients, in tiles, in triangles, below a limit.
// Archs: 80 120
// Listing: no
extern "C" __global__ void count_8_wrap(float *a, int z) { unsigned char i = 100; do { a[i * 128 + threadIdx.x] *= 2; i++;
    } while (i); }
extern "C" __global__ void count_16_wrap(float *a, int step) { unsigned short i = 0; do { a[i * 128 + threadIdx.x] *= 2;
    i += step; } while (i != 35); }
extern "C" __global__ void countdown(float *a, unsigned n) { for (unsigned i = n;
    i-- > 0;) a[i * 128 + threadIdx.x] = a[i * 128 + 1 + threadIdx.x] * 2; }
extern "C" __global__ void count_64(float *a, long long n) { for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    i < n; i += (long long)blockDim.x * gridDim.x) a[i] *= 2; }
extern "C" __global__ void count_64_unsigned(float *a, unsigned long long n) {
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)blockDim.x * gridDim.x) a[i] *= 2; }
extern "C" __global__ void pointer_end(float *a, int n) { for (float *p = a + threadIdx.x, *e = a + n; p < e;
    p += blockDim.x) *p *= 2; }
extern "C" __global__ void pointer_ne(float *a, int n) { float s = 0; for (const float *p = a, *e = a + n; p != e; ++p) s += *p;
    a[threadIdx.x] = s; }
extern "C" __global__ void times_ten(int *a, int n) { int d = 0; for (long long i = 1; i <= n; i *= 10) d++; a[threadIdx.x] = d; }
extern "C" __global__ void halve_signed(float *a, int n) { for (int s = n; s > 0; s /= 2) a[s * 128 + threadIdx.x] *= 2; }
extern "C" __global__ void tile_min(float *a, int n, int tile) { for (int i0 = 0; i0 < n; i0 += tile) {
    int m = min(tile, n - i0); for (int i = 0; i < m; i++) a[(i0 + i) * 128 + threadIdx.x] *= 2; __syncthreads(); } }
extern "C" __global__ void triangular_3(float *a, int n) { float s = 0; for (int i = 0; i < n; i++) for (int j = i; j < n;
    j++) for (int k = i; k < j; k++) s += a[(i * n + j) * 128 + k]; a[threadIdx.x] = s; }
extern "C" __global__ void guarded_counter(const int *a, int *o, int cap) { int c = 0, i = threadIdx.x; while (c < cap) {
    int x = a[i & 4095]; if (x < 0) break; i += x; c++; } o[threadIdx.x] = c; }
extern "C" __global__ void sqrt_loop(int *o, int n) { int p = 1; for (int i = 2; i * i <= n; i++) if (n % i == 0) { p = 0; break;
    } o[threadIdx.x] = p; }
extern "C" __global__ void switch_steps(int *a, int n) { int st = 0, i = 0; while (i < n) { switch (st) { case 0: st = a[i] & 3;
    i++; break; case 1: st = 2; i += 2; break; case 2: st = 0; i++; break; default: st = 1; i += 3; } } a[threadIdx.x] = st; }
