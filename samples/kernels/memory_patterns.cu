// Why: accesses of memory whose sectors and bank conflicts are known: transposes, structures, strides, tiles, atomics, vectors.
const int TILE = 32;

extern "C" __global__ void transpose_naive(float *out, const float *in, int n) {
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    out[x * n + y] = in[y * n + x];
}

template <int WIDTH>
__device__ __forceinline__ void transpose_by_tile(float *out, const float *in, int n) {
    __shared__ float tile[TILE][WIDTH];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    tile[threadIdx.y][threadIdx.x] = in[y * n + x];
    __syncthreads();
    out[(blockIdx.x * TILE + threadIdx.y) * n + blockIdx.y * TILE + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}

// A column of the tile lies in one bank.
extern "C" __global__ void transpose_tile(float *out, const float *in, int n) {
    transpose_by_tile<TILE>(out, in, n);
}

// Padded: a column of the tile lies in 32 banks.
extern "C" __global__ void transpose_pad(float *out, const float *in, int n) {
    transpose_by_tile<TILE + 1>(out, in, n);
}

struct Particle {
    float x, y, z, mass;
};

extern "C" __global__ void array_of_structures(Particle *p) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    p[i].x += 1.0f;
}

extern "C" __global__ void structure_of_arrays(float *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    x[i] += 1.0f;
}

extern "C" __global__ void strided_copy(float *out, const float *in, int n) {
#pragma unroll 1
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        out[i] = in[2 * i];
    }
}

// One element behind a multiple of a sector.
extern "C" __global__ void shifted_copy(float *out, const float *in) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i + 1];
}

extern "C" __global__ void vector_copy(float4 *out, const float4 *in) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i];
}

extern "C" __global__ void daxpy(double *y, const double *x, double a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] += a * x[i];
    }
}

extern "C" __global__ void gather(float *out, const float *in, const int *index) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[index[i]];
}

extern "C" __global__ void histogram(const unsigned char *data, int *counts) {
    __shared__ int bins[256];
    bins[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&bins[data[blockIdx.x * 256 + threadIdx.x]], 1);
    __syncthreads();
    atomicAdd(&counts[threadIdx.x], bins[threadIdx.x]);
}

// A block of 16 x 16 threads: a warp has two rows of the block.
template <bool TRANSPOSED>
__device__ __forceinline__ void multiply_by_tiles(float *c, const float *a, const float *b, int n) {
    const int T = 16;
    __shared__ float left[T][T], right[T][T];
    int row = blockIdx.y * T + threadIdx.y, column = blockIdx.x * T + threadIdx.x;
    float sum = 0;
#pragma unroll 1
    for (int t = 0; t < n; t += T) {
        left[threadIdx.y][threadIdx.x] = a[row * n + t + threadIdx.x];
        right[threadIdx.y][threadIdx.x] = b[(t + threadIdx.y) * n + column];
        __syncthreads();
#pragma unroll 1
        for (int k = 0; k < T; ++k) {
            sum += left[threadIdx.y][k] * (TRANSPOSED ? right[threadIdx.x][k] : right[k][threadIdx.x]);
        }
        __syncthreads();
    }
    c[row * n + column] = sum;
}

extern "C" __global__ void matmul(float *c, const float *a, const float *b, int n) {
    multiply_by_tiles<false>(c, a, b, n);
}

// Reads a column of a tile of 16 words a row: 16 rows lie in two banks.
extern "C" __global__ void matmul_conflicts(float *c, const float *a, const float *b, int n) {
    multiply_by_tiles<true>(c, a, b, n);
}
