// Why: limits that go through shared memory, from one thread or many, and loops that wait for the block in each iteration.
// Archs: 80 120
// Listing: no
extern "C" __global__ void shared_phases(float *o, int n) { __shared__ int lim; float s = 0; for (int p = 0; p < n; p++) {
    if (!threadIdx.x) lim = p * 10; __syncthreads(); for (int i = 0; i < lim; i++) s += o[i * 128 + threadIdx.x]; __syncthreads();
    } o[threadIdx.x] = s; }
extern "C" __global__ void shared_tail(float *o, int n) { __shared__ int lim[4];
    if (threadIdx.x < 4) lim[threadIdx.x] = n + threadIdx.x; __syncthreads(); float s = 0; for (int w = 0; w < 4;
    w++) for (int i = 0; i < lim[w]; i++) s += o[i * 128 + threadIdx.x]; o[threadIdx.x] = s; }
extern "C" __global__ void prefix_in_shared(const int *len, float *o) { __shared__ int s[128]; int t = threadIdx.x;
    s[t] = len[t]; __syncthreads(); for (int d = 1; d < 128; d *= 2) { int v = t >= d ? s[t - d] : 0; __syncthreads(); s[t] += v;
    __syncthreads(); } float r = 0; for (int i = 0; i < s[127]; i++) r += o[i]; o[t] = r; }
extern "C" __global__ void shared_count_data(const int *len, float *o) { __shared__ int n;
    if (threadIdx.x == 0) n = len[blockIdx.x * 13]; __syncthreads(); float s = 0; for (int i = 0; i < n;
    i++) s += o[i * 128 + threadIdx.x]; o[threadIdx.x] = s; }
extern "C" __global__ void bitonic(int *a, int n) { __shared__ int s[512]; int t = threadIdx.x; s[t] = a[t];
    for (int k = 2; k <= n; k <<= 1) for (int j = k >> 1; j > 0; j >>= 1) { __syncthreads(); int o = t ^ j;
    if (o > t) { int x = s[t], y = s[o]; if ((x > y) == ((t & k) == 0)) { s[t] = y; s[o] = x; } } }
    a[t] = s[t]; }
extern "C" __global__ void half_reduce(float *a) { __shared__ float s[256]; int t = threadIdx.x; s[t] = a[blockIdx.x * 256 + t];
    __syncthreads();
    for (unsigned d = blockDim.x >> 1; d > 0; d >>= 1) { if (t < d) s[t] += s[t + d]; __syncthreads(); }
    if (!t) a[blockIdx.x] = s[0]; }
