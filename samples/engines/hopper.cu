// Why: what engines and waits of Hopper take, which no publication says: products of warpgroups, bulk copies, barriers, clusters, memory.
// Build: nvcc -std=c++17 -O3 -gencode arch=compute_90a,code=sm_90a hopper.cu -o hopper -ldl; ./hopper products prints h100.csv.
#include <cuda.h>
#include <cuda_runtime.h>
#include <cooperative_groups.h>
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <algorithm>
#include <dlfcn.h>
typedef unsigned long long u64;
#define CHECK(x) do { cudaError_t e = (x); if (e != cudaSuccess) { printf("error,%s,%d,%s\n", #x, __LINE__, cudaGetErrorString(e)); } } while (0)
static long long *out; static long long host[4096];
static void fetch() { CHECK(cudaDeviceSynchronize()); CHECK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost)); }
static void say(const char *name, const char *parameter, double value, const char *unit) { printf("%s,%s,%.2f,%s\n", name, parameter, value, unit); fflush(stdout); }
__device__ u64 make_descriptor(unsigned address) {
  return ((u64)(address & 0x3ffff) >> 4) | (u64)1 << 16 | (u64)(1024 >> 4) << 32 | (u64)1 << 62;
}
#include "products.h"

__device__ void init_barrier(unsigned b, unsigned n) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(b), "r"(n) : "memory"); }
__device__ void expect(unsigned b, unsigned bytes) { asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(b), "r"(bytes) : "memory"); }
__device__ void arrive(unsigned b) { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(b) : "memory"); }
__device__ void wait(unsigned b, unsigned phase) {
  asm volatile("{\n.reg .pred p;\nL: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@p bra D;\nbra L;\nD:\n}" ::"r"(b), "r"(phase) : "memory");
}
__device__ void bulk(unsigned to, const void *from, unsigned bytes, unsigned b) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to), "l"(from), "r"(bytes), "r"(b) : "memory");
}
// One copy at a time: its latency. `stride` bytes between copies; rounds copies, the least and the mean.
__global__ void bulk_latency(const char *data, size_t stride, unsigned bytes, int rounds, long long *out) {
  extern __shared__ __align__(1024) char shared[];
  unsigned base = (unsigned)__cvta_generic_to_shared(shared), b = base, to = base + 1024;
  if (threadIdx.x == 0) {
    init_barrier(b, 1);
    asm volatile("fence.proxy.async;" ::: "memory");
    long long least = 1ll << 60, sum = 0;
    for (int r = 0; r < rounds; r++) {
      long long start = clock64();
      expect(b, bytes);
      bulk(to, data + (size_t)r * stride, bytes, b);
      wait(b, r & 1);
      long long took = clock64() - start;
      least = min(least, took); sum += took;
    }
    out[blockIdx.x * 2] = least; out[blockIdx.x * 2 + 1] = sum / rounds;
  }
}

template <int S> __global__ void bulk_rate(const char *data, size_t per_block, unsigned bytes, int turns, long long *out) {
  extern __shared__ __align__(1024) char shared[];
  unsigned base = (unsigned)__cvta_generic_to_shared(shared), to = base + 1024;
  if (threadIdx.x == 0) {
    for (int s = 0; s < S; s++) init_barrier(base + 8 * s, 1);
    asm volatile("fence.proxy.async;" ::: "memory");
    const char *mine = data + blockIdx.x * per_block;
    long long start = clock64();
#pragma unroll
    for (int s = 0; s < S; s++) { expect(base + 8 * s, bytes); bulk(to + s * bytes, mine, bytes, base + 8 * s); mine += bytes; }
#pragma unroll 1
    for (int t = 0; t < turns - 1; t++) {
#pragma unroll
      for (int s = 0; s < S; s++) { wait(base + 8 * s, t & 1); expect(base + 8 * s, bytes); bulk(to + s * bytes, mine, bytes, base + 8 * s); mine += bytes; }
    }
#pragma unroll
    for (int s = 0; s < S; s++) wait(base + 8 * s, (turns - 1) & 1);
    out[blockIdx.x] = clock64() - start;
  }
}
__global__ void bulk_store(char *data, size_t stride, unsigned bytes, int rounds, int each, long long *out) {
  extern __shared__ __align__(1024) char shared[];
  unsigned base = (unsigned)__cvta_generic_to_shared(shared);
  if (threadIdx.x == 0) {
    data += (size_t)blockIdx.x * rounds * stride;
    long long start = clock64();
    for (int r = 0; r < rounds; r++) {
      asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(data + (size_t)r * stride), "r"(base + 1024), "r"(bytes) : "memory");
      asm volatile("cp.async.bulk.commit_group;");
      if (each == 1) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
      if (each == 2) asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
    }
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    out[blockIdx.x] = (clock64() - start) / rounds;
  }
}

template <int S> __global__ void tensor_copy(const __grid_constant__ CUtensorMap map, unsigned bytes, int rows, int turns, int step, long long *out) {
  extern __shared__ __align__(1024) char shared[];
  unsigned base = (unsigned)__cvta_generic_to_shared(shared), to = base + 1024;
  if (threadIdx.x == 0) {
    for (int s = 0; s < S; s++) init_barrier(base + 8 * s, 1);
    asm volatile("fence.proxy.async;" ::: "memory");
    int y = blockIdx.x * step;
    long long start = clock64();
#define TENSOR(s) expect(base + 8 * (s), bytes); asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];" ::"r"(to + (s) * bytes), "l"(&map), "r"(base + 8 * (s)), "r"(0), "r"(y) : "memory"); y += rows;
#pragma unroll
    for (int s = 0; s < S; s++) { TENSOR(s) }
    long long issued = clock64() - start;
#pragma unroll 1
    for (int t = 0; t < turns - 1; t++) {
#pragma unroll
      for (int s = 0; s < S; s++) { wait(base + 8 * s, t & 1); TENSOR(s) }
    }
#pragma unroll
    for (int s = 0; s < S; s++) wait(base + 8 * s, (turns - 1) & 1);
    out[blockIdx.x] = clock64() - start;
    out[200 + blockIdx.x] = issued;
  }
}
// Barriers of a block.
__global__ void barrier_cost(int rounds, long long *out) {
  __syncthreads();
  long long start = clock64();
  for (int r = 0; r < rounds; r++) __syncthreads();
  if (threadIdx.x == 0) out[0] = (clock64() - start) * 100 / rounds;
}
__global__ void mbarrier_alone(int rounds, long long *out) { // one thread arrives and tries: a phase that is complete
  __shared__ u64 bars[2];
  unsigned b = (unsigned)__cvta_generic_to_shared(bars);
  if (threadIdx.x == 0) init_barrier(b, 1);
  __syncthreads();
  long long start = clock64();
  for (int r = 0; r < rounds; r++) { arrive(b); wait(b, r & 1); }
  if (threadIdx.x == 0) out[0] = (clock64() - start) * 100 / rounds;
  start = clock64();
  for (int r = 0; r < rounds; r++) wait(b, 1 - ((rounds) & 1));
  if (threadIdx.x == 0) out[1] = (clock64() - start) * 100 / rounds;
  start = clock64();
  if (threadIdx.x == 0) { for (int r = 0; r < rounds; r++) arrive(b); out[2] = (clock64() - start) * 100 / rounds; }
}
__global__ void mbarrier_turns(int rounds, long long *out) { // two warps in turn: the way there and back
  __shared__ u64 bars[2];
  unsigned b = (unsigned)__cvta_generic_to_shared(bars);
  if (threadIdx.x == 0) { init_barrier(b, 1); init_barrier(b + 8, 1); }
  __syncthreads();
  long long start = clock64();
  if (threadIdx.x == 0)
    for (int r = 0; r < rounds; r++) { arrive(b); wait(b + 8, r & 1); }
  else if (threadIdx.x == 32)
    for (int r = 0; r < rounds; r++) { wait(b, r & 1); arrive(b + 8); }
  if (threadIdx.x == 0) out[0] = (clock64() - start) * 100 / rounds;
}
__global__ void named_turns(int rounds, long long *out) { // bar.sync / bar.arrive between two warps
  long long start = clock64();
  if (threadIdx.x < 32) for (int r = 0; r < rounds; r++) { asm volatile("bar.arrive 1, 64;\n\tbar.sync 2, 64;" ::: "memory"); }
  else for (int r = 0; r < rounds; r++) { asm volatile("bar.sync 1, 64;\n\tbar.arrive 2, 64;" ::: "memory"); }
  if (threadIdx.x == 0) out[0] = (clock64() - start) * 100 / rounds;
}
template <int S> __global__ void __cluster_dims__(S, 1, 1) cluster_cost(int rounds, long long *out) {
  __shared__ unsigned words[64];
  __shared__ u64 bar;
  namespace cg = cooperative_groups;
  words[threadIdx.x & 63] = 0;
  unsigned me; asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(me));
  unsigned b = (unsigned)__cvta_generic_to_shared(&bar);
  if (threadIdx.x == 0) init_barrier(b, 1);
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  asm volatile("barrier.cluster.arrive.aligned;\n\tbarrier.cluster.wait.aligned;" ::: "memory");
  long long start = clock64();
  for (int r = 0; r < rounds; r++) asm volatile("barrier.cluster.arrive.aligned;\n\tbarrier.cluster.wait.aligned;" ::: "memory");
  if (threadIdx.x == 0 && blockIdx.x == 0) out[0] = (clock64() - start) * 100 / rounds;
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    unsigned local = (unsigned)__cvta_generic_to_shared(words), remote, value = 0;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(local), "r"(S - 1));
    start = clock64();
    for (int r = 0; r < rounds; r++) { asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(value) : "r"(remote + value) : "memory"); }
    out[1] = (clock64() - start) * 100 / rounds + value;
  }
  if (S > 1) { // remote arrivals in turn between the first and the last block
    unsigned remote;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(b), "r"(me == 0 ? S - 1 : 0));
    asm volatile("barrier.cluster.arrive.aligned;\n\tbarrier.cluster.wait.aligned;" ::: "memory");
    start = clock64();
    if (threadIdx.x == 0 && me == 0)
      for (int r = 0; r < rounds; r++) { asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(remote) : "memory"); wait(b, r & 1); }
    if (threadIdx.x == 0 && me == S - 1)
      for (int r = 0; r < rounds; r++) { wait(b, r & 1); asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(remote) : "memory"); }
    if (threadIdx.x == 0 && blockIdx.x == 0) out[2] = (clock64() - start) * 100 / rounds;
  }
  asm volatile("barrier.cluster.arrive.aligned;\n\tbarrier.cluster.wait.aligned;" ::: "memory");
}
// Memory: every thread reads 16 bytes at a time.
__global__ void reads(const uint4 *data, size_t words, int passes, long long *out) {
  uint4 sum = {0, 0, 0, 0};
  size_t at = blockIdx.x * (size_t)blockDim.x + threadIdx.x, step = (size_t)gridDim.x * blockDim.x;
  for (int p = 0; p < passes; p++)
#pragma unroll 8
    for (size_t i = at; i < words; i += step) { uint4 v; asm volatile("ld.global.cg.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(data + i)); sum.x ^= v.x; sum.y ^= v.y; sum.z ^= v.z; sum.w ^= v.w; }
  if ((sum.x ^ sum.y ^ sum.z ^ sum.w) == 12345) out[0] = 1;
}
__global__ void same_reads(const uint4 *data, size_t words, int passes, long long *out) { // every block reads all
  uint4 sum = {0, 0, 0, 0};
  for (int p = 0; p < passes; p++)
#pragma unroll 8
    for (size_t i = threadIdx.x; i < words; i += blockDim.x) { uint4 v; asm volatile("ld.global.cg.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(data + i)); sum.x ^= v.x; sum.y ^= v.y; sum.z ^= v.z; sum.w ^= v.w; }
  if ((sum.x ^ sum.y ^ sum.z ^ sum.w) == 12345) out[0] = 1;
}
__global__ void writes(uint4 *data, size_t words) {
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < words; i += (size_t)gridDim.x * blockDim.x) data[i] = make_uint4(1, 2, 3, 4);
}
__global__ void eighth_writes(unsigned *data, size_t words) {
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < words; i += (size_t)gridDim.x * blockDim.x) data[i * 8] = 1;
}
__global__ void copies(uint4 *to, const uint4 *from, size_t words) {
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < words; i += (size_t)gridDim.x * blockDim.x) to[i] = from[i];
}
__global__ void make_chain(unsigned *data, unsigned count, unsigned step) { for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) data[(size_t)i * step] = (i + 1) % count * step; }
template <int C> __global__ void chase(const unsigned *__restrict__ data, int warm, int rounds, long long *out) {
  unsigned at = 0;
  for (int r = 0; r < warm; r++) at = C == 2 ? __ldcg(data + at) : data[at];
  at = at * 0;
  long long start = clock64();
  for (int r = 0; r < rounds; r++) at = C == 2 ? __ldcg(data + at) : data[at];
  out[0] = (clock64() - start) * 100 / rounds + (at == 77777777);
}
__global__ void atomic_chain(int *word, int rounds, long long *out) {
  int at = 0; long long start = clock64();
  for (int r = 0; r < rounds; r++) at = atomicAdd(word + at, 0);
  out[0] = (clock64() - start) * 100 / rounds;
  __shared__ int near[4]; near[0] = 0; at = 0; start = clock64();
  for (int r = 0; r < rounds; r++) at = atomicAdd(near + at, 0);
  out[1] = (clock64() - start) * 100 / rounds + at;
  start = clock64();
  for (int r = 0; r < rounds; r++) __threadfence();
  out[2] = (clock64() - start) * 100 / rounds;
  start = clock64();
  for (int r = 0; r < rounds; r++) asm volatile("fence.proxy.async;" ::: "memory");
  out[3] = (clock64() - start) * 100 / rounds;
}
__global__ void same_atomics(int *word, int per) { for (int i = 0; i < per; i++) atomicAdd(word, 1); }
__global__ void spread_atomics(int *words, int per) { for (int i = 0; i < per; i++) atomicAdd(words + (blockIdx.x * blockDim.x + threadIdx.x) * 1 + i * 65536 % 1048576, 1); }
__global__ void lane_atomics(int *words, int per) { int got = 0; for (int i = 0; i < per; i++) got += atomicAdd(words + ((blockIdx.x * blockDim.x + threadIdx.x) * 8 + got % 2 * 0) % 1048576, 1); if (got == -1) words[0] = 0; }
__global__ void empty() {}
__global__ void tiny(int *p) { if (p) p[blockIdx.x * blockDim.x + threadIdx.x] = 1; }
__global__ void shared_reads(int stride, int rounds, long long *out) {
  __shared__ volatile unsigned words[8192];
  for (int i = threadIdx.x; i < 8192; i += blockDim.x) words[i] = 0;
  __syncthreads();
  unsigned at = threadIdx.x * stride % 8192; unsigned sum = 0;
  long long start = clock64();
  for (int r = 0; r < rounds; r++) { at = words[at] + at; }
  if (threadIdx.x == 0) out[0] = (clock64() - start) * 100 / rounds + (at == 123456789);
  __syncthreads(); start = clock64();
#pragma unroll 8
  for (int r = 0; r < rounds; r++) { sum += words[(at + r * 32) % 8192]; }
  __syncthreads();
  if (threadIdx.x == 0) out[1] = (clock64() - start) * 100 / rounds + (sum == 123456789);
}
__global__ void spin(long long cycles, u64 *times) {
  u64 a, b; asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(a));
  long long start = clock64(); while (clock64() - start < cycles) {}
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(b)); times[0] = b - a; times[1] = clock64() - start;
}
static void encode(CUtensorMap *map, void *data, int columns, u64 total_rows, int rows, bool swizzle) {
  static auto call = (CUresult(*)(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *, const cuuint64_t *, const cuuint32_t *, const cuuint32_t *, CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill))dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuTensorMapEncodeTiled");
  cuuint64_t dims[2] = {(cuuint64_t)columns, total_rows}, strides[1] = {(cuuint64_t)columns * 2};
  cuuint32_t box[2] = {(cuuint32_t)columns, (cuuint32_t)rows}, one[2] = {1, 1};
  CUresult why = call(map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, data, dims, strides, box, one, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle ? CU_TENSOR_MAP_SWIZZLE_128B : CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (why) printf("error,encode,%d,\n", (int)why);
}
static float timed(cudaEvent_t a, cudaEvent_t b) { float ms; CHECK(cudaEventSynchronize(b)); cudaEventElapsedTime(&ms, a, b); return ms; }
int main(int argc, char **) {
  cudaDeviceProp p; CHECK(cudaGetDeviceProperties(&p, 0));
  int sms = p.multiProcessorCount; char text[64];
  printf("device,%s,%d,SMs\nL2,,%d,bytes\nshared,,%zu,bytes\n", p.name, sms, p.l2CacheSize, p.sharedMemPerBlockOptin);
  CHECK(cudaMalloc(&out, sizeof host)); CHECK(cudaMemset(out, 0, sizeof host));
  char *data; size_t size = (size_t)8 << 30; CHECK(cudaMalloc(&data, size)); CHECK(cudaMemset(data, 0, size));
  for (int i = 0; i < 3; i++) { spin<<<1, 1>>>(200000000, (u64 *)out); fetch(); say("clock", "one thread", host[1] * 1e3 / host[0], "MHz"); }
  for (const Product &product : products) { if (argc < 2) break;
    cudaFuncSetAttribute(product.run, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536);
    for (int groups = 1; groups <= 2; groups++) {
        product.run<<<1, 128 * groups, 65536>>>(out, 20, 0); fetch();
        snprintf(text, sizeof text, "%d groups %d products", groups, product.count); say(product.name, text, host[0], "cycles");
      }
  }
  for (auto f : {(void *)bulk_latency, (void *)bulk_rate<4>, (void *)bulk_rate<8>, (void *)bulk_store, (void *)tensor_copy<1>, (void *)tensor_copy<2>, (void *)tensor_copy<4>, (void *)tensor_copy<6>}) CHECK(cudaFuncSetAttribute(f, cudaFuncAttributeMaxDynamicSharedMemorySize, 200 * 1024));
  for (unsigned bytes : {16u, 128u, 512u, 1024u, 2048u, 4096u, 8192u, 16384u, 32768u, 65536u}) {
    bulk_latency<<<1, 32, 200 * 1024>>>(data, 0, bytes, 64, out); fetch();
    snprintf(text, sizeof text, "%u bytes L2", bytes); say("bulk_latency", text, host[0], "cycles least"); say("bulk_latency", text, host[1], "cycles mean");
    bulk_latency<<<1, 32, 200 * 1024>>>(data + ((size_t)1 << 30), 1 << 20, bytes, 256, out); fetch();
    snprintf(text, sizeof text, "%u bytes DRAM", bytes); say("bulk_latency", text, host[0], "cycles least"); say("bulk_latency", text, host[1], "cycles mean");
  }

  for (unsigned bytes : {256u, 1024u, 4096u, 8192u, 16384u, 32768u})
    for (int blocks : {1, 8, 32, sms})
      for (int where = 0; where < 3; where++)
        for (int stages : {4, 8}) {
          if (stages * bytes > 196608) continue;
          int turns = where == 2 ? 32 : (131072 / bytes) / stages; if (turns < 1) continue;
          size_t per = where == 1 ? 0 : (size_t)turns * stages * bytes;
          const char *at = where == 2 ? data + ((size_t)1 << 30) * ((bytes / 256 + stages) % 6 + 1) : data;
          auto kernel = stages == 4 ? bulk_rate<4> : bulk_rate<8>;
          for (int pass = 0; pass < (where < 2 ? 3 : 1); pass++) kernel<<<blocks, 32, 200 * 1024>>>(at, per, bytes, turns, out);
          fetch(); double sum = 0; for (int i = 0; i < blocks; i++) sum += host[i]; sum /= blocks;
          snprintf(text, sizeof text, "%u bytes %d stages %d blocks %s", bytes, stages, blocks, where == 0 ? "own L2" : where == 1 ? "same L2" : "DRAM"); say("bulk_rate", text, (double)turns * stages * bytes / sum, "bytes per cycle and SM");
          snprintf(text, sizeof text, "%u bytes %d stages %d blocks %s", bytes, stages, blocks, where == 0 ? "own L2" : where == 1 ? "same L2" : "DRAM"); say("bulk_each", text, sum / (turns * stages), "cycles per copy");
        }
  for (unsigned bytes : {128u, 1024u, 8192u, 32768u})
    for (int blocks : {1, sms})
      for (int each = 0; each < 3; each++) {
        bulk_store<<<blocks, 32, 200 * 1024>>>(data, bytes, bytes, 32, each, out); fetch();
        snprintf(text, sizeof text, "%u bytes %d blocks %s", bytes, blocks, each == 0 ? "together" : each == 1 ? "each complete" : "each read"); say("bulk_store", text, host[0], "cycles per store");
      }

  for (int columns : {16, 64})
    for (int rows : {8, 64, 128, 256})
      for (int blocks : {1, sms})
        for (int stages : {1, 2, 4, 6})
          for (int own = 0; own < 2; own++) {
            unsigned bytes = columns * 2 * rows; if (stages * bytes > 198000) continue;
            CUtensorMap map; encode(&map, data, columns, 4194304 / columns * 16, rows, columns == 64);
            auto kernel = stages == 1 ? tensor_copy<1> : stages == 2 ? tensor_copy<2> : stages == 4 ? tensor_copy<4> : tensor_copy<6>;
            int turns = 24 / stages;
            for (int pass = 0; pass < 3; pass++) kernel<<<blocks, 32, 200 * 1024>>>(map, bytes, rows, turns, own ? rows * turns * stages % 2048 : 0, out);
            fetch(); double sum = 0; for (int i = 0; i < blocks; i++) sum += host[i]; sum /= blocks;
            snprintf(text, sizeof text, "%d x %d x 2 bytes %d stages %d blocks %s", columns, rows, stages, blocks, own ? "own" : "same"); say("tensor_copy", text, sum / (turns * stages), "cycles per copy");
            if (own == 0 && blocks == 1) say("tensor_issue", text, (double)host[200] / stages, "cycles per copy");
          }
  for (int warps : {1, 2, 4, 8, 16, 32}) { barrier_cost<<<1, 32 * warps>>>(1000, out); fetch(); snprintf(text, sizeof text, "%d warps", warps); say("bar_sync", text, host[0] / 100.0, "cycles"); }
  mbarrier_alone<<<1, 1>>>(1000, out); fetch(); say("mbarrier", "arrive and try", host[0] / 100.0, "cycles"); say("mbarrier", "try of a complete phase", host[1] / 100.0, "cycles"); say("mbarrier", "arrive alone", host[2] / 100.0, "cycles");
  mbarrier_turns<<<1, 64>>>(1000, out); fetch(); say("mbarrier", "there and back", host[0] / 100.0, "cycles");
  named_turns<<<1, 64>>>(1000, out); fetch(); say("named barrier", "there and back", host[0] / 100.0, "cycles");
#define CLUSTER(S) cluster_cost<S><<<S, 128>>>(500, out); fetch(); say("cluster barrier", #S, host[0] / 100.0, "cycles"); say("remote shared load", #S, host[1] / 100.0, "cycles"); say("remote arrival there and back", #S, host[2] / 100.0, "cycles");
  CLUSTER(1) CLUSTER(2) CLUSTER(4) CLUSTER(8)
  for (int stride : {1, 2, 4, 8, 32}) for (int warps : {1, 8, 32}) { shared_reads<<<1, 32 * warps>>>(stride, 512, out); fetch(); snprintf(text, sizeof text, "stride %d %d warps", stride, warps); say("shared latency", text, host[0] / 100.0, "cycles"); say("shared reads", text, host[1] / 100.0, "cycles per read"); }
  cudaEvent_t a, b; cudaEventCreate(&a); cudaEventCreate(&b);
  for (int blocks : {1, 2, 4}) for (size_t mib : {1, 4, 16, 30, 48, 4096}) {
    int passes = mib > 100 ? 1 : 20; reads<<<sms * blocks, 512>>>((uint4 *)data, (mib << 20) / 16, 1, out);
    cudaEventRecord(a); reads<<<sms * blocks, 512>>>((uint4 *)data, (mib << 20) / 16, passes, out); cudaEventRecord(b);
    snprintf(text, sizeof text, "%zu MiB %d blocks of 512", mib, blocks); say("reads", text, (mib << 20) * (double)passes / timed(a, b) / 1e6, "GB/s");
  }
  for (size_t kib : {64, 512, 4096}) { cudaEventRecord(a); same_reads<<<sms * 2, 512>>>((uint4 *)data, (kib << 10) / 16, 20, out); cudaEventRecord(b); snprintf(text, sizeof text, "%zu KiB by all", kib); say("same_reads", text, (kib << 10) * 20.0 * sms * 2 / timed(a, b) / 1e6, "GB/s"); }
  cudaEventRecord(a); writes<<<sms * 4, 512>>>((uint4 *)data, ((size_t)4 << 30) / 16); cudaEventRecord(b); say("writes", "4 GiB", ((size_t)4 << 30) / timed(a, b) / 1e6, "GB/s");
  writes<<<sms * 4, 512>>>((uint4 *)data, ((size_t)16 << 20) / 16); cudaEventRecord(a); for (int i = 0; i < 20; i++) writes<<<sms * 4, 512>>>((uint4 *)data, ((size_t)16 << 20) / 16); cudaEventRecord(b); say("writes", "16 MiB", 20 * ((size_t)16 << 20) / timed(a, b) / 1e6, "GB/s");
  cudaEventRecord(a); eighth_writes<<<sms * 4, 512>>>((unsigned *)data, ((size_t)1 << 27)); cudaEventRecord(b); say("eighth_writes", "4 GiB of sectors", ((size_t)1 << 32) / timed(a, b) / 1e6, "GB/s of sectors");
  cudaEventRecord(a); copies<<<sms * 4, 512>>>((uint4 *)data, (uint4 *)(data + ((size_t)3 << 30)), ((size_t)2 << 30) / 16); cudaEventRecord(b); say("copies", "2 GiB", ((size_t)4 << 30) / timed(a, b) / 1e6, "GB/s");
  make_chain<<<64, 256>>>((unsigned *)data, 64, 32); chase<0><<<1, 1>>>((unsigned *)data, 128, 1000, out); fetch(); say("load latency", "L1", host[0] / 100.0, "cycles");
  make_chain<<<64, 256>>>((unsigned *)data, 1024, 64); chase<2><<<1, 1>>>((unsigned *)data, 1024, 2000, out); fetch(); say("load latency", "L2 cg", host[0] / 100.0, "cycles");
  make_chain<<<64, 256>>>((unsigned *)data, 16384, 64); chase<1><<<1, 1>>>((unsigned *)data, 16384, 8000, out); fetch(); say("load latency", "L2 4 MiB", host[0] / 100.0, "cycles");
  make_chain<<<64, 256>>>((unsigned *)data, 65536, 64); chase<1><<<1, 1>>>((unsigned *)data, 65536, 20000, out); fetch(); say("load latency", "L2 16 MiB", host[0] / 100.0, "cycles");
  make_chain<<<1024, 256>>>((unsigned *)data, 32768, 65536 / 4); chase<1><<<1, 1>>>((unsigned *)data, 0, 4000, out); fetch(); say("load latency", "DRAM", host[0] / 100.0, "cycles");
  CHECK(cudaMemset(data, 0, 1 << 24)); atomic_chain<<<1, 1>>>((int *)data, 1000, out); fetch();
  say("atomic latency", "global", host[0] / 100.0, "cycles"); say("atomic latency", "shared", host[1] / 100.0, "cycles"); say("membar", "gl", host[2] / 100.0, "cycles"); say("fence", "proxy async", host[3] / 100.0, "cycles");
  for (auto kernel : {same_atomics, spread_atomics, lane_atomics}) { cudaEventRecord(a); kernel<<<sms, 256>>>((int *)data, 256); cudaEventRecord(b); say("atomics", kernel == same_atomics ? "same word" : kernel == spread_atomics ? "lanes in a row" : "a sector each", sms * 256 * 256.0 / timed(a, b) / 1e6, "10^9 per s"); }
  for (int threads : {32, 256, 1024}) for (int blocks : {1, 132, 1056, 10560, 105600}) for (int i = 0; i < 3; i++) empty<<<blocks, threads>>>();
  for (int blocks : {1, 132, 1056, 10560}) for (int i = 0; i < 3; i++) tiny<<<blocks, 256>>>((int *)data);
  CHECK(cudaDeviceSynchronize());
  cudaStream_t stream; cudaStreamCreate(&stream);
  return 0;
}
