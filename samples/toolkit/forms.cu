// Why: instructions that CUDA 13.2 to 13.5 write and that older toolkits do not.
// Made by NVRTC 13.5.37: -arch=sm_NN -std=c++17.

// A division of 64 bits: sums whose carry stands in a predicate, on sm_120 and sm_121.
extern "C" __global__ void quotient(const unsigned long long *in, unsigned long long *out, unsigned long long n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i] / n;
}

// A product without carries, its lower and upper half.
extern "C" __global__ void polynomial(const unsigned long long *in, unsigned long long *out)
{
    unsigned long long a = in[threadIdx.x], b = in[threadIdx.x + 32], low, high;
    asm("clmad.lo.u64 %0, %1, %2, %1;" : "=l"(low) : "l"(a), "l"(b));
    asm("clmad.hi.u64 %0, %1, %2, %2;" : "=l"(high) : "l"(a), "l"(b));
    out[threadIdx.x] = low ^ high;
}

#if __CUDA_ARCH__ == 890 || __CUDA_ARCH__ >= 1200
// A product of matrices of 8-bit numbers with sums of half precision.
extern "C" __global__ void product(const uint4 *in, uint2 *out)
{
    uint4 x = in[threadIdx.x];
    uint2 sum = {x.w, x.w};
    asm("mma.sync.aligned.m16n8k16.row.col.f16.e4m3.e5m2.f16 {%0, %1}, {%2, %3}, {%4}, {%0, %1};"
        : "+r"(sum.x), "+r"(sum.y) : "r"(x.x), "r"(x.y), "r"(x.z));
    out[threadIdx.x] = sum;
}
#endif

#if __CUDA_ARCH__ >= 1200
// Sums of parts of a word that stay in their range.
extern "C" __global__ void saturated(const uint4 *in, uint4 *out)
{
    uint4 x = in[threadIdx.x], y;
    asm("add.sat.u32 %0, %1, %2;" : "=r"(y.x) : "r"(x.x), "r"(x.y));
    asm("add.sat.s16x2 %0, %1, %2;" : "=r"(y.y) : "r"(x.y), "r"(x.z));
    asm("sub.sat.u8x4 %0, %1, %2;" : "=r"(y.z) : "r"(x.z), "r"(x.w));
    asm("add.sat.s8x4 %0, %1, %2;" : "=r"(y.w) : "r"(x.w), "r"(x.x));
    out[threadIdx.x] = y;
}
#endif

#if __CUDA_ARCH__ == 1030
// What a thread reads of tensor memory, and the greatest of it.
extern "C" __global__ void greatest(unsigned place, float4 *out)
{
    float4 x;
    float most;
    asm volatile("tcgen05.ld.red.sync.aligned.32x32b.x4.max.abs.f32 {%0, %1, %2, %3}, %4, [%5];\n tcgen05.wait::ld.sync.aligned;"
                 : "=f"(x.x), "=f"(x.y), "=f"(x.z), "=f"(x.w), "=f"(most) : "r"(place));
    x.w = most;
    out[threadIdx.x] = x;
}
#endif
