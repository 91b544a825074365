// Archs: 52 60 61 70 75 80 86 90 120
// Listing: no
// Code and caches of instructions: `fetch_KIB` turns n times through KIB KiB of sums without a jump. For each generation one that the cache of a
// partition keeps, one that only the cache of an SM keeps, and one that comes from L2 each turn. Launch: one warp, or more that share the caches.
// scripts/experiments fetch prints what a line of code costs in the bound of each.
#define FETCH(kib, instructions)                                                              \
    extern "C" __global__ void fetch_##kib(float* out, int n)                                  \
    {                                                                                          \
        float x = out[0], y = out[1];                                                          \
        _Pragma("unroll 1") for (int turn = 0; turn < n; ++turn) {                             \
            _Pragma("unroll") for (int i = 0; i < instructions; ++i)                           \
                asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(x) : "f"(y));                 \
        }                                                                                      \
        out[0] = x;                                                                            \
    }
// KiB of code hold 96 instructions of 64 bits with their control words until Pascal, 64 of 128 bits since Volta.
#if __CUDA_ARCH__ < 700
#define OF(kib) FETCH(kib, kib * 96)
#else
#define OF(kib) FETCH(kib, kib * 64)
#endif
#define EACH(kib) OF(kib)

EACH(4)
#if __CUDA_ARCH__ == 750
EACH(32)
EACH(56)
#elif __CUDA_ARCH__ == 600 || __CUDA_ARCH__ == 700
EACH(24)
EACH(144)
#elif __CUDA_ARCH__ == 800
EACH(48)
EACH(144)
#else
EACH(24)
EACH(48)
#endif
