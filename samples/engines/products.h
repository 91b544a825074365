// Products of a warpgroup by type, columns and place of the left matrix (ss: shared memory, rs: registers): COUNT that follow each other.
// Registers of the sum are the first operands of each instruction, counted by tens.
#define TEN(t) "%" #t "0, " "%" #t "1, " "%" #t "2, " "%" #t "3, " "%" #t "4, " "%" #t "5, " "%" #t "6, " "%" #t "7, " "%" #t "8, " "%" #t "9, "
#define WORDS(c, t) c(d[t##0]), c(d[t##1]), c(d[t##2]), c(d[t##3]), c(d[t##4]), c(d[t##5]), c(d[t##6]), c(d[t##7]), c(d[t##8]), c(d[t##9])
#define LIST_4 "%0, %1, %2, %3"
#define SUM_4(c) c(d[0]), c(d[1]), c(d[2]), c(d[3])
#define SS_4 "%4, %5"
#define LIST_8 "%0, %1, %2, %3, %4, %5, %6, %7"
#define SUM_8(c) c(d[0]), c(d[1]), c(d[2]), c(d[3]), c(d[4]), c(d[5]), c(d[6]), c(d[7])
#define SS_8 "%8, %9"
#define LIST_16 TEN() "%10, %11, %12, %13, %14, %15"
#define SUM_16(c) WORDS(c, ), c(d[10]), c(d[11]), c(d[12]), c(d[13]), c(d[14]), c(d[15])
#define SS_16 "%16, %17"
#define LIST_32 TEN() TEN(1) TEN(2) "%30, %31"
#define SUM_32(c) WORDS(c, ), WORDS(c, 1), WORDS(c, 2), c(d[30]), c(d[31])
#define SS_32 "%32, %33"
#define RS_32 "{%32, %33, %34, %35}, %36"
#define LIST_48 TEN() TEN(1) TEN(2) TEN(3) "%40, %41, %42, %43, %44, %45, %46, %47"
#define SUM_48(c) WORDS(c, ), WORDS(c, 1), WORDS(c, 2), WORDS(c, 3), c(d[40]), c(d[41]), c(d[42]), c(d[43]), c(d[44]), c(d[45]), c(d[46]), c(d[47])
#define SS_48 "%48, %49"
#define LIST_64 TEN() TEN(1) TEN(2) TEN(3) TEN(4) TEN(5) "%60, %61, %62, %63"
#define SUM_64(c) WORDS(c, ), WORDS(c, 1), WORDS(c, 2), WORDS(c, 3), WORDS(c, 4), WORDS(c, 5), c(d[60]), c(d[61]), c(d[62]), c(d[63])
#define SS_64 "%64, %65"
#define RS_64 "{%64, %65, %66, %67}, %68"
#define LIST_96 TEN() TEN(1) TEN(2) TEN(3) TEN(4) TEN(5) TEN(6) TEN(7) TEN(8) "%90, %91, %92, %93, %94, %95"
#define SUM_96(c) WORDS(c, ), WORDS(c, 1), WORDS(c, 2), WORDS(c, 3), WORDS(c, 4), WORDS(c, 5), WORDS(c, 6), WORDS(c, 7), WORDS(c, 8), c(d[90]), c(d[91]), c(d[92]), c(d[93]), c(d[94]), c(d[95])
#define SS_96 "%96, %97"
#define LIST_128 TEN() TEN(1) TEN(2) TEN(3) TEN(4) TEN(5) TEN(6) TEN(7) TEN(8) TEN(9) TEN(10) TEN(11) "%120, %121, %122, %123, %124, %125, %126, %127"
#define SUM_128(c) WORDS(c, ), WORDS(c, 1), WORDS(c, 2), WORDS(c, 3), WORDS(c, 4), WORDS(c, 5), WORDS(c, 6), WORDS(c, 7), WORDS(c, 8), WORDS(c, 9), WORDS(c, 10), WORDS(c, 11), c(d[120]), c(d[121]), c(d[122]), c(d[123]), c(d[124]), c(d[125]), c(d[126]), c(d[127])
#define SS_128 "%128, %129"
#define RS_128 "{%128, %129, %130, %131}, %132"
#define IN_SS "l"(a), "l"(b)
#define IN_RS "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "l"(b)
#define PRODUCT(name, Word, constraint, words, place, instruction, tail) \
  template <int COUNT> __global__ void __launch_bounds__(256) name(long long *out, int rounds, unsigned zero) { \
    extern __shared__ __align__(1024) char shared[]; \
    for (int i = threadIdx.x; i < 49152 / 4; i += blockDim.x) ((unsigned *)shared)[i] = 0; \
    __syncthreads(); \
    asm volatile("fence.proxy.async;" ::: "memory"); \
    unsigned base = (unsigned)__cvta_generic_to_shared(shared); \
    unsigned long long a = make_descriptor(base), b = make_descriptor(base + 16384); \
    Word d[words]; \
    unsigned x[4] = {zero, zero, zero, zero}; \
    for (int i = 0; i < words; i++) d[i] = 0; \
    (void)x, (void)a; \
    long long best = 1ll << 60; \
    for (int r = 0; r < rounds; r++) { \
      __syncthreads(); \
      long long start = clock64(); \
      asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); \
      _Pragma("unroll") for (int i = 0; i < COUNT; i++) \
        asm volatile("wgmma.mma_async.sync.aligned." instruction " {" LIST_##words "}, " place##_##words ", " tail ";" : SUM_##words(constraint) : IN_##place); \
      asm volatile("wgmma.commit_group.sync.aligned;\n\twgmma.wait_group.sync.aligned 0;" ::: "memory"); \
      long long took = clock64() - start; \
      best = took < best ? took : best; \
    } \
    Word sum = 0; \
    for (int i = 0; i < words; i++) sum += d[i]; \
    if (threadIdx.x == 0) out[blockIdx.x] = best; \
    if (sum == (Word)12345) out[0] = 0; \
  }
PRODUCT(wg_bf16_8_ss, float, "+f", 4, SS, "m64n8k16.f32.bf16.bf16", "1, 1, 1, 0, 0")
PRODUCT(wg_bf16_16_ss, float, "+f", 8, SS, "m64n16k16.f32.bf16.bf16", "1, 1, 1, 0, 0")
PRODUCT(wg_bf16_32_ss, float, "+f", 16, SS, "m64n32k16.f32.bf16.bf16", "1, 1, 1, 0, 0")
PRODUCT(wg_bf16_64_ss, float, "+f", 32, SS, "m64n64k16.f32.bf16.bf16", "1, 1, 1, 0, 0")
PRODUCT(wg_bf16_64_rs, float, "+f", 32, RS, "m64n64k16.f32.bf16.bf16", "1, 1, 1, 0")
PRODUCT(wg_bf16_96_ss, float, "+f", 48, SS, "m64n96k16.f32.bf16.bf16", "1, 1, 1, 0, 0")
PRODUCT(wg_bf16_128_ss, float, "+f", 64, SS, "m64n128k16.f32.bf16.bf16", "1, 1, 1, 0, 0")
PRODUCT(wg_bf16_128_rs, float, "+f", 64, RS, "m64n128k16.f32.bf16.bf16", "1, 1, 1, 0")
PRODUCT(wg_bf16_192_ss, float, "+f", 96, SS, "m64n192k16.f32.bf16.bf16", "1, 1, 1, 0, 0")
PRODUCT(wg_bf16_256_ss, float, "+f", 128, SS, "m64n256k16.f32.bf16.bf16", "1, 1, 1, 0, 0")
PRODUCT(wg_bf16_256_rs, float, "+f", 128, RS, "m64n256k16.f32.bf16.bf16", "1, 1, 1, 0")
PRODUCT(wg_f16h_64_ss, unsigned, "+r", 16, SS, "m64n64k16.f16.f16.f16", "1, 1, 1, 0, 0")
PRODUCT(wg_f16h_128_ss, unsigned, "+r", 32, SS, "m64n128k16.f16.f16.f16", "1, 1, 1, 0, 0")
PRODUCT(wg_f16h_256_ss, unsigned, "+r", 64, SS, "m64n256k16.f16.f16.f16", "1, 1, 1, 0, 0")
PRODUCT(wg_e4m3_64_ss, float, "+f", 32, SS, "m64n64k32.f32.e4m3.e4m3", "1, 1, 1")
PRODUCT(wg_e4m3_64_rs, float, "+f", 32, RS, "m64n64k32.f32.e4m3.e4m3", "1, 1, 1")
PRODUCT(wg_e4m3_128_ss, float, "+f", 64, SS, "m64n128k32.f32.e4m3.e4m3", "1, 1, 1")
PRODUCT(wg_e4m3_128_rs, float, "+f", 64, RS, "m64n128k32.f32.e4m3.e4m3", "1, 1, 1")
PRODUCT(wg_e4m3_192_ss, float, "+f", 96, SS, "m64n192k32.f32.e4m3.e4m3", "1, 1, 1")
PRODUCT(wg_e4m3_256_ss, float, "+f", 128, SS, "m64n256k32.f32.e4m3.e4m3", "1, 1, 1")
PRODUCT(wg_e4m3_256_rs, float, "+f", 128, RS, "m64n256k32.f32.e4m3.e4m3", "1, 1, 1")
PRODUCT(wg_tf32_64_ss, float, "+f", 32, SS, "m64n64k8.f32.tf32.tf32", "1, 1, 1")
PRODUCT(wg_tf32_128_ss, float, "+f", 64, SS, "m64n128k8.f32.tf32.tf32", "1, 1, 1")
PRODUCT(wg_tf32_256_ss, float, "+f", 128, SS, "m64n256k8.f32.tf32.tf32", "1, 1, 1")
PRODUCT(wg_s8_64_ss, unsigned, "+r", 32, SS, "m64n64k32.s32.s8.s8", "1")
PRODUCT(wg_s8_128_ss, unsigned, "+r", 64, SS, "m64n128k32.s32.s8.s8", "1")
PRODUCT(wg_s8_256_ss, unsigned, "+r", 128, SS, "m64n256k32.s32.s8.s8", "1")

struct Product {
  const char *name;
  int count;
  void (*run)(long long *, int, unsigned);
};
#define COUNTS(name) {#name, 1, name<1>}, {#name, 4, name<4>}, {#name, 32, name<32>}
static const Product products[] = {COUNTS(wg_bf16_8_ss), COUNTS(wg_bf16_16_ss), COUNTS(wg_bf16_32_ss), COUNTS(wg_bf16_64_ss),
    COUNTS(wg_bf16_64_rs), COUNTS(wg_bf16_96_ss), COUNTS(wg_bf16_128_ss), COUNTS(wg_bf16_128_rs),
    COUNTS(wg_bf16_192_ss), COUNTS(wg_bf16_256_ss), COUNTS(wg_bf16_256_rs), COUNTS(wg_f16h_64_ss),
    COUNTS(wg_f16h_128_ss), COUNTS(wg_f16h_256_ss), COUNTS(wg_e4m3_64_ss), COUNTS(wg_e4m3_64_rs),
    COUNTS(wg_e4m3_128_ss), COUNTS(wg_e4m3_128_rs), COUNTS(wg_e4m3_192_ss), COUNTS(wg_e4m3_256_ss),
    COUNTS(wg_e4m3_256_rs), COUNTS(wg_tf32_64_ss), COUNTS(wg_tf32_128_ss), COUNTS(wg_tf32_256_ss),
    COUNTS(wg_s8_64_ss), COUNTS(wg_s8_128_ss), COUNTS(wg_s8_256_ss)};
