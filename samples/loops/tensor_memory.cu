// Why: products of tensor memory (tcgen05): columns are taken, one thread asks for products, all wait for them at a barrier.
// Archs: 100a
// Launch: --block-dim 128 --param param_3=64
#define SHARED(x) ((unsigned)__cvta_generic_to_shared(x))

// 128 x 16 halves without swizzle: 8 rows of 16 bytes lie together, the next 8 columns 128 bytes on, the next 8 rows 256.
__device__ unsigned long long matrix(unsigned at) {
    return (unsigned long long)(at >> 4) | (unsigned long long)(128 >> 4) << 16 | (unsigned long long)(256 >> 4) << 32 | 1ull << 46;
}

// Of a row of tiles of 128 x 16 halves, and one of the right matrix: the sum of their products, 128 x COLUMNS.
template <int COLUMNS> __device__ void tiles(const uint4 *a, const uint4 *b, float *c, int steps) {
    __shared__ __align__(128) uint4 left[256], right[2 * COLUMNS];
    __shared__ __align__(8) unsigned long long done;
    __shared__ unsigned columns;
    int t = threadIdx.x;
    if (t < 32) asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(SHARED(&columns)), "n"(COLUMNS) : "memory");
    if (t == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(SHARED(&done)) : "memory");
    __syncthreads();
    unsigned to = columns;
    a += (size_t)blockIdx.x * steps * 256;
    b += (size_t)blockIdx.y * steps * 2 * COLUMNS;
    for (int s = 0; s < steps; s++, a += 256, b += 2 * COLUMNS) {
        left[t] = a[t];
        left[t + 128] = a[t + 128];
        for (int k = t; k < 2 * COLUMNS; k += 128) right[k] = b[k];
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncthreads();
        if (t == 0) {
            unsigned shape = 1u << 4 | COLUMNS / 8 << 17 | 128 / 16 << 24;
            asm volatile(
                "{\n.reg .pred more;\nsetp.ne.u32 more, %4, 0;\ntcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, more;\n}" ::"r"(to),
                "l"(matrix(SHARED(left))), "l"(matrix(SHARED(right))), "r"(shape), "r"(s));
            asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.b64 [%0];" ::"l"((unsigned long long)SHARED(&done)) : "memory");
        }
        asm volatile(
            "{\n.reg .pred over;\nAGAIN: mbarrier.try_wait.parity.shared::cta.b64 over, [%0], %1;\n@over bra OVER;\nbra AGAIN;\nOVER:\n}" ::"r"(
                SHARED(&done)), "r"(s & 1) : "memory");
    }
    asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
    c += ((size_t)blockIdx.x * 128 + t) * gridDim.y * COLUMNS + blockIdx.y * COLUMNS;
    for (int k = 0; k < COLUMNS; k += 4) {
        float v[4];
        asm volatile("tcgen05.ld.sync.aligned.32x32b.x4.b32 {%0, %1, %2, %3}, [%4];"
                     : "=f"(v[0]), "=f"(v[1]), "=f"(v[2]), "=f"(v[3]) : "r"(to + (t / 32 << 21) + k));
        asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
        *(float4 *)(c + k) = make_float4(v[0], v[1], v[2], v[3]);
    }
    __syncthreads();
    if (t < 32) asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, %1;" ::"r"(to), "n"(COLUMNS));
}

extern "C" __global__ void narrow(const uint4 *a, const uint4 *b, float *c, int steps) { tiles<64>(a, b, c, steps); }
extern "C" __global__ void wide(const uint4 *a, const uint4 *b, float *c, int steps) { tiles<256>(a, b, c, steps); }
