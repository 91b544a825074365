// Why: loops of which counters or limits have 64 bits, as size_t and long long make them. ptxas counts them in two registers, by distances, backwards,
// in steps of 4 and 16, and since sm_120 with sums, minima and comparisons of pairs.
typedef unsigned long long u64;
typedef long long i64;

extern "C" __global__ void up(const float *a, float *out, u64 n) {
    float sum = 0.0f;
    for (u64 i = 0; i < n; i++) {
        sum += a[i * 64 + threadIdx.x];
    }
    out[threadIdx.x] = sum;
}

extern "C" __global__ void down(const float *a, float *out, u64 n) {
    float sum = 0.0f;
    for (u64 i = n; i > 0; i--) {
        sum += a[i * 64 + threadIdx.x];
    }
    out[threadIdx.x] = sum;
}

extern "C" __global__ void down_by_8(const float *a, float *out, u64 n) {
    float sum = 0.0f;
    for (u64 i = n; i >= 8; i -= 8) {
        sum += a[i * 64 + threadIdx.x];
    }
    out[threadIdx.x] = sum;
}

extern "C" __global__ void strided(const float *a, float *out, i64 n) {
    float sum = 0.0f;
    for (i64 i = threadIdx.x; i < n; i += 256) {
        sum += a[blockIdx.x * n + i];
    }
    out[blockIdx.x * 256 + threadIdx.x] = sum;
}

extern "C" __global__ void strided_by_block(const float *a, float *out, i64 n) {
    float sum = 0.0f;
    for (i64 i = threadIdx.x; i < n; i += blockDim.x) {
        sum += a[blockIdx.x * n + i];
    }
    out[blockIdx.x * 256 + threadIdx.x] = sum;
}

extern "C" __global__ void over_grid(const float *a, float *out, i64 n) {
    float sum = 0.0f;
    for (i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (i64)gridDim.x * blockDim.x) {
        sum += a[i];
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
