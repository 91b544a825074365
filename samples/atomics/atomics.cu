// Why: a kernel for each rate of atomic operations: 16 of them by each thread, in L2 with and without a result, and in shared memory. The lanes of a warp are `step` apart: 0 for one word, 1 for neighbours, 32 for lines of their own.
// Archs: 52 61 70 75 80 86 90 120
#define LOOP _Pragma("unroll 1") for (int i = 0; i < 16; ++i)
#define AT (p + (threadIdx.x & 31) * step)

#define REDUCING(name, type, operation) \
    extern "C" __global__ void reducing_##name(type *p, int step, type v) { LOOP operation(AT, v); }
#define RETURNING(name, type, operation) \
    extern "C" __global__ void returning_##name(type *p, int step, type v) { LOOP v = operation(AT, v); if (v == (type)7) p[1 << 20] = v; }
#define SHARED(name, type, operation) \
    extern "C" __global__ void shared_##name(type *out, int step, type v) { \
        __shared__ type p[32 * 33]; \
        for (int i = threadIdx.x; i < 32 * 33; i += 256) p[i] = (type)i; \
        __syncthreads(); \
        LOOP v = operation(AT, v); \
        if (v == (type)7) out[threadIdx.x] = v; \
    }

template <class T> __device__ T swap(T *at, T v) { return atomicCAS(at, v, v + 1); }

REDUCING(integer, int, atomicAdd)
REDUCING(order, int, atomicMax)
REDUCING(wide, unsigned long long, atomicAdd)
REDUCING(single, float, atomicAdd)
RETURNING(integer, int, atomicAdd)
RETURNING(order, int, atomicMax)
RETURNING(exchange, int, atomicExch)
RETURNING(compare, int, swap)
RETURNING(wide, unsigned long long, atomicAdd)
RETURNING(single, float, atomicAdd)
SHARED(integer, int, atomicAdd)
SHARED(order, int, atomicMax)
SHARED(exchange, int, atomicExch)
SHARED(compare, int, swap)
SHARED(wide, unsigned long long, atomicExch)
SHARED(single, float, atomicAdd) // a loop of compare-and-swap

#if __CUDA_ARCH__ >= 600
__device__ void pairs(unsigned *at, unsigned v) { asm volatile("red.global.add.noftz.f16x2 [%0], %1;" ::"l"(at), "r"(v) : "memory"); }
REDUCING(double, double, atomicAdd)
RETURNING(double, double, atomicAdd)
REDUCING(pair, unsigned, pairs)
REDUCING(system, int, atomicAdd_system)
#endif
