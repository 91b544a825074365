// Chains: each step reads the result of the one before. NAME_4 has 4 steps, NAME_12 has 12, so that their difference is 8 steps.
// Launch: one block of 32 threads. chains.toml has what publications measured; scripts/experiments chains holds both against it.
using uint32_t = unsigned;

#define CHAIN(name, type, init, steps, ...)                                   \
    extern "C" __global__ void name##_##steps(type* out)                       \
    {                                                                          \
        type x = init, y = out[1];                                             \
        _Pragma("unroll") for (int i = 0; i < steps; ++i) { __VA_ARGS__; }     \
        out[0] = x + y;                                                        \
    }
#define BOTH(name, type, init, ...)       \
    CHAIN(name, type, init, 4, __VA_ARGS__) \
    CHAIN(name, type, init, 12, __VA_ARGS__)

BOTH(ffma, float, out[0], asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(x) : "f"(y)))
BOTH(dfma, double, out[0], asm volatile("fma.rn.f64 %0, %0, %1, %1;" : "+d"(x) : "d"(y)))
BOTH(iadd, uint32_t, out[0], asm volatile("add.u32 %0, %0, %1;" : "+r"(x) : "r"(y)); asm volatile("xor.b32 %0, %0, %1;" : "+r"(x) : "r"(y)))
BOTH(imad, uint32_t, out[0], asm volatile("mad.lo.u32 %0, %0, %1, %1;" : "+r"(x) : "r"(y)))
BOTH(popc, uint32_t, out[0], asm volatile("popc.b32 %0, %0;" : "+r"(x)))
BOTH(brev, uint32_t, out[0], asm volatile("brev.b32 %0, %0;" : "+r"(x)))
BOTH(mufu, float, out[0], asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(x)))
BOTH(shfl, uint32_t, out[threadIdx.x], asm volatile("shfl.sync.bfly.b32 %0, %0, 1, 0x1f, 0xffffffff;" : "+r"(x)))

#if __CUDA_ARCH__ >= 750
#define PRODUCT(name, steps, ...)                                                                                          \
    extern "C" __global__ void name##_##steps(float* out, const uint32_t* in)                                              \
    {                                                                                                                      \
        uint32_t a0 = in[0], a1 = in[1], a2 = in[2], a3 = in[3], b0 = in[4], b1 = in[5], b2 = in[6], b3 = in[7];           \
        float d0 = out[0], d1 = out[1], d2 = out[2], d3 = out[3];                                                          \
        _Pragma("unroll") for (int i = 0; i < steps; ++i) { __VA_ARGS__; }                                                 \
        out[0] = d0 + d1 + d2 + d3 + a2 + a3 + b1 + b2 + b3;                                                               \
    }
#define PRODUCTS(name, ...)      \
    PRODUCT(name, 4, __VA_ARGS__) \
    PRODUCT(name, 12, __VA_ARGS__)
#define ACCUMULATOR "+f"(d0), "+f"(d1), "+f"(d2), "+f"(d3)

PRODUCTS(hmma_1688, asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
                                 : ACCUMULATOR : "r"(a0), "r"(a1), "r"(b0)))

#define LDSM(steps)                                                                                                   \
    extern "C" __global__ void ldsm_##steps(uint32_t* out)                                                            \
    {                                                                                                                 \
        __shared__ uint32_t words[32];                                                                                \
        words[threadIdx.x] = 0;                                                                                       \
        __syncthreads();                                                                                              \
        uint32_t at = (uint32_t)__cvta_generic_to_shared(words), got;                                                 \
        _Pragma("unroll") for (int i = 0; i < steps; ++i)                                                             \
            asm volatile("ldmatrix.sync.aligned.x1.m8n8.shared.b16 {%1}, [%0]; add.u32 %0, %0, %1;" : "+r"(at), "=r"(got)); \
        out[0] = at + got;                                                                                            \
    }
LDSM(4)
LDSM(12)
#endif

#if __CUDA_ARCH__ >= 800
PRODUCTS(hmma_16816, asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                                  : ACCUMULATOR : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1)))
#endif

#ifdef __CUDA_ARCH_FEAT_SM120_ALL
#define NARROW(name, type)                                                                                                                       \
    PRODUCTS(name, asm volatile("mma.sync.aligned.kind::f8f6f4.m16n8k32.row.col.f32." type "." type ".f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};" \
                                : ACCUMULATOR : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1)))
NARROW(qmma_e4m3, "e4m3")
NARROW(qmma_e2m1, "e2m1")
NARROW(qmma_e3m2, "e3m2")
PRODUCTS(omma_4x, asm volatile("mma.sync.aligned.kind::mxf4nvf4.block_scale.scale_vec::4X.m16n8k64.row.col.f32.e2m1.e2m1.f32.ue4m3 "
                               "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3}, {%10}, {0,0}, {%11}, {0,0};"
                               : ACCUMULATOR : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1), "r"(b2), "r"(b3)))
// The chain of the publication: 16, 32, 64 products between two reads of the clock.
#define CLOCKED(steps)                                                                                                                       \
    extern "C" __global__ void clocked_##steps(float* out, const uint32_t* in, unsigned long long* cycles)                                   \
    {                                                                                                                                        \
        uint32_t a0 = in[0], a1 = in[1], a2 = in[2], a3 = in[3], b0 = in[4], b1 = in[5];                                                     \
        float d0 = 0, d1 = 0, d2 = 0, d3 = 0;                                                                                                \
        unsigned long long begin = clock64();                                                                                                \
        _Pragma("unroll") for (int i = 0; i < steps; ++i)                                                                                    \
            asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"           \
                         : ACCUMULATOR : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));                                              \
        cycles[0] = clock64() - begin;                                                                                                       \
        out[0] = d0 + d1 + d2 + d3;                                                                                                          \
    }
CLOCKED(16)
CLOCKED(32)
CLOCKED(64)
#endif
