"""Each remedy as a change in CUDA C++."""

from collections.abc import Mapping

from sassan.app.advise.remedy import AdviceCode

EXAMPLES: Mapping[AdviceCode, str] = {
    AdviceCode.COALESCE: """\
// lanes of a warp access addresses that follow each other
int i = blockIdx.x * blockDim.x + threadIdx.x;
x[i] = ...;                        // not x[i * stride], not particle[i].x: one array per member
// a transpose: read rows into __shared__ float tile[32][33], __syncthreads(), write rows""",
    AdviceCode.BANK_CONFLICT: """\
__shared__ float tile[32][32 + 1]; // one word more per row: a column lies in 32 banks
// or exchange columns: tile[row][column ^ row]""",
    AdviceCode.OCCUPANCY: """\
__global__ void __launch_bounds__({threads}, {blocks}) kernel(...)  // the compiler keeps to so many registers
// or nvcc -maxrregcount""",
    AdviceCode.TAIL: """\
kernel<<<{blocks}, threads>>>(...);
for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) ...""",
    AdviceCode.VECTORIZE: """\
float4 v = reinterpret_cast<const float4 *>(in)[i];  // 16 bytes at an address that is a multiple of 16""",
    AdviceCode.REUSE: """\
__shared__ float tile[16][16];
tile[threadIdx.y][threadIdx.x] = a[row * n + t + threadIdx.x];  // each thread brings one word, all read it there
__syncthreads();""",
    AdviceCode.BLOCK_SIZE: """\
kernel<<<{blocks}, {threads}>>>(...);""",
    AdviceCode.CHEAPER_OPERATION: """\
float y = 1.5f * x;                // 1.5 without f makes the product double""",
    AdviceCode.CLUSTER: """\
__global__ void __cluster_dims__({size}, 1, 1) kernel(...)
cooperative_groups::this_cluster().map_shared_rank(tile, rank)  // or a multicast copy: cp.async.bulk ... .multicast::cluster""",
    AdviceCode.SPILL: """\
__global__ void __launch_bounds__(threads) kernel(...)  // without the second number, or -maxrregcount: more registers per thread
// or less to keep: smaller tiles, fewer iterations unrolled, values computed again""",
    AdviceCode.LOCAL_MEMORY: """\
float a[8];
#pragma unroll
for (int k = 0; k < 8; ++k) a[k] = ...;  // indices that the compiler knows: the array lies in registers
// an index that only the run knows: __shared__ float a[8][THREADS]""",
    AdviceCode.DIVERGENCE: """\
if (threadIdx.x / 32 & 1) ...      // lanes of one warp take one side: sort work by side, or branch per warp
x = condition ? a : b;             // short sides: compute both, and select""",
    AdviceCode.PIPELINE: """\
float next = a[i];                 // ahead of the loop
for (...) { float now = next; next = a[i + step]; use(now); }  // or two stages in shared memory""",
    AdviceCode.UNROLL: """\
#pragma unroll {factor}
for (...)                          // loads of several iterations are on their way at once""",
    AdviceCode.ATOMICS: """\
for (int step = 16; step; step /= 2) x += __shfl_down_sync(~0u, x, step);
if (threadIdx.x % 32 == 0) atomicAdd(sum, x);  // or one operation per block, by shared memory""",
    AdviceCode.ASYNC_COPY: """\
#include <cuda_pipeline.h>
__pipeline_memcpy_async(&tile[i], &in[i], 16); __pipeline_commit();
__pipeline_wait_prior(0); __syncthreads();""",
}
