// Ten kernels, and what happens to them in a build: tests hold each build to the first one.
// Archs: 80
// Build: as_is
// Build: rewritten -DREWRITTEN
// Build: spill -maxrregcount=24
// Build: scalar -DSCALAR
// Build: divergent -DDIVERGENT
// Build: conflict -DCONFLICT

// Loads of four words, which fall apart.
#ifdef SCALAR
__device__ __forceinline__ float4 load(const float *p) { return make_float4(p[0], p[1], p[2], p[3]); }
#else
__device__ __forceinline__ float4 load(const float *p) { return *reinterpret_cast<const float4 *>(p); }
#endif

// A condition of blocks, which becomes one of threads.
#ifdef DIVERGENT
#define ODD (threadIdx.x & 1)
#else
#define ODD (blockIdx.x & 1)
#endif

// Rows of a tile, which lose their padding.
#ifdef CONFLICT
constexpr int PITCH = 32;
#else
constexpr int PITCH = 33;
#endif

// The column of a thread in a tile that the block has filled by rows.
__device__ __forceinline__ float column(float value, int k) {
    __shared__ float tile[32 * PITCH];
    int lane = threadIdx.x % 32, row = threadIdx.x / 32;
    tile[row * PITCH + lane] = value;
    __syncthreads();
    float found = tile[lane * PITCH + (row + k) % 8];
    __syncthreads();
    return found;
}

// A loop that half of the blocks take.
__device__ __forceinline__ float refine(float x, int rounds) {
    if (ODD)
#pragma unroll 1
        for (int i = 0; i < rounds; i++)
            x = x * x + 0.25f;
    return x;
}

// Twenty-four values in use at once.
template <class Step> __device__ __forceinline__ float wide(float4 a, float4 b, Step step) {
    float v[24], sum = 0;
#pragma unroll
    for (int i = 0; i < 24; i++)
        v[i] = step((&a.x)[i % 4], (&b.x)[i / 4 % 4], float(i));
#pragma unroll
    for (int i = 0; i < 24; i++)
        sum = sum * v[i] + v[(i * 5 + 3) % 24];
    return sum;
}

// Twice the same kernel.
#ifdef REWRITTEN
#define KERNEL(name, k, step)                                                                                                              \
    extern "C" __global__ void name(float *__restrict__ to, const float *__restrict__ from, int count, int times) {                        \
        const int place = threadIdx.x + blockDim.x * blockIdx.x;                                                                           \
        float4 first = load(from + place * 4), second = load(from + place * 4 + k * 4);                                                    \
        float total = column(wide(first, second, [](float p, float q, float r) { return step(p, q, r); }), k);                             \
        total = refine(total, times);                                                                                                      \
        if (!(place >= count))                                                                                                             \
            to[place] = total;                                                                                                             \
    }
#else
#define KERNEL(name, k, step)                                                                                                              \
    extern "C" __global__ void name(float *__restrict__ out, const float *__restrict__ in, int n, int rounds) {                            \
        int i = blockIdx.x * blockDim.x + threadIdx.x;                                                                                     \
        float4 a = load(in + 4 * i), b = load(in + 4 * (i + k));                                                                           \
        float sum = wide(a, b, [](float x, float y, float z) { return step(x, y, z); });                                                   \
        sum = refine(column(sum, k), rounds);                                                                                              \
        if (i < n)                                                                                                                         \
            out[i] = sum;                                                                                                                  \
    }
#endif

#define PLUS(x, y, z) ((x) * (y) + (z))
#define MINUS(x, y, z) ((x) - (y) * (z))
#define MOST(x, y, z) fmaxf((x) + (z), (y))
#define LEAST(x, y, z) fminf((x) * (z), (y))
#define SQUARE(x, y, z) ((x) * (x) + (y) * (z))
#define APART(x, y, z) fabsf((x) - (y) + (z))
#define MEAN(x, y, z) (0.5f * ((x) + (y)) + (z))
#define SCALE(x, y, z) ((x) * (z) * 1.5f + (y))
#define CUBE(x, y, z) ((x) * (x) * (x) + (y) + (z))
#define BLEND(x, y, z) ((x) + ((y) - (x)) * (0.1f * (z)))

KERNEL(plus, 1, PLUS)
KERNEL(minus, 2, MINUS)
KERNEL(most, 3, MOST)
KERNEL(least, 4, LEAST)
KERNEL(square, 5, SQUARE)
KERNEL(apart, 6, APART)
KERNEL(mean, 7, MEAN)
KERNEL(scale, 1, SCALE)
KERNEL(cube, 2, CUBE)
KERNEL(blend, 3, BLEND)
