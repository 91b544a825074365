"""CUDA C++ as CuPy gives it to NVRTC: raw kernels, and kernels in the shape of its elementwise and reduction kernels.

All of it is written here; no line is taken from CuPy.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CupyCase:
    """A source with one kernel or several, the options of the compiler, and the codes of gaps that are known limits."""

    name: str
    source: str
    options: tuple[str, ...] = ("--std=c++17",)
    known: frozenset[str] = frozenset()


_ARRAY = """
// An array with a shape and strides in bytes, which is found by the number of an element.
template <typename T, int Axes> struct Array {
  T* data;
  long long size, shape[Axes], strides[Axes];
  __device__ T& operator[](long long number) const {
    char* place = (char*)data;
    for (int axis = Axes - 1; axis > 0; --axis) {
      place += strides[axis] * (number % shape[axis]);
      number /= shape[axis];
    }
    return *reinterpret_cast<T*>(place + strides[0] * number);
  }
};
template <typename T> struct Flat {
  T* data;
  long long size;
  __device__ T& operator[](long long number) const { return data[number]; }
};
#define FIRST ((long long)blockIdx.x * blockDim.x + threadIdx.x)
#define EACH(at, size) for (long long at = FIRST; at < (size); at += (long long)blockDim.x * gridDim.x)
"""

_ELEMENTWISE = (
    _ARRAY
    + """
extern "C" __global__ void add(Array<const float, 3> x, Array<const float, 3> y, Array<float, 3> out, long long size) {
  EACH(at, size) { out[at] = x[at] + y[at]; }
}
extern "C" __global__ void add_flat(Flat<const double> x, double factor, Flat<double> out, long long size) {
  EACH(at, size) { out[at] = x[at] * factor + 1; }
}
extern "C" __global__ void powers(Flat<const double> x, Flat<double> out, long long size) {
  EACH(at, size) { out[at] = pow(x[at], 2.5) + exp(x[at]) + sin(x[at]) + log1p(x[at]); }
}
extern "C" __global__ void shares(Flat<const long long> x, Flat<const long long> y, Flat<long long> out, long long size) {
  EACH(at, size) { out[at] = y[at] == 0 ? 0 : x[at] / y[at] - (x[at] % y[at] != 0 && (x[at] < 0) != (y[at] < 0)); }
}
extern "C" __global__ void bytes(Array<const unsigned char, 2> x, Flat<bool> out, long long size) {
  EACH(at, size) { out[at] = x[at] > 7; }
}
extern "C" __global__ void squares(Flat<const float2> x, Flat<float2> out, long long size) {
  EACH(at, size) { out[at] = make_float2(x[at].x * x[at].x - x[at].y * x[at].y, 2 * x[at].x * x[at].y); }
}
extern "C" __global__ void take(Flat<const float> x, Flat<const int> places, Flat<float> out, long long width, long long size) {
  EACH(at, size) {
    long long place = places[at / width];
    if (place < 0) place += width;
    out[at] = x[place * width + at % width];
  }
}
extern "C" __global__ void scatter(Flat<float> x, Flat<const int> places, Flat<const float> values, long long size) {
  EACH(at, size) { atomicAdd(&x[places[at]], values[at]); }
}
"""
)

_REDUCTION = (
    _ARRAY
    + """
template <typename T> struct Sum { __device__ static T first() { return 0; } __device__ static T with(T a, T b) { return a + b; } };
template <typename T> struct Most {
  __device__ static T first() { return -1e30; }
  __device__ static T with(T a, T b) { return a > b ? a : b; }
};
struct Place { float value; long long place; };
struct Best {
  __device__ static Place first() { return {-1e30f, -1}; }
  __device__ static Place with(Place a, Place b) { return b.value > a.value || (b.value == a.value && b.place < a.place) ? b : a; }
};
__device__ Place taken(float value, long long at, Place*) { return {value, at}; }
template <typename T, typename S> __device__ S taken(T value, long long, S*) { return value; }
__device__ void give(long long& out, Place value) { out = value.place; }
template <typename T, typename S> __device__ void give(T& out, S value) { out = value; }

#define SIZES long long outputs, long long inner, unsigned width
#define KERNEL extern "C" __global__ void __launch_bounds__(512)

// A block works on as many outputs as it has groups of `width` threads; a group keeps its partial results in shared memory.
template <typename How, typename State, int Block, typename In, typename Out>
__device__ void reduce(In x, Out out, long long outputs, long long inner, unsigned width) {
  __shared__ __align__(16) char room[Block * sizeof(State)];
  State* kept = reinterpret_cast<State*>(room);
  unsigned thread = threadIdx.x;
  for (long long first = (long long)blockIdx.x * (Block / width); first < outputs; first += (long long)gridDim.x * (Block / width)) {
    State mine = How::first();
    long long output = first + thread / width;
    if (output < outputs)
      for (long long at = thread % width; at < inner; at += width) mine = How::with(mine, taken(x[output * inner + at], at, &mine));
    kept[thread] = mine;
    __syncthreads();
    for (unsigned distance = width / 2; distance > 0; distance /= 2) {
      if (thread % width < distance) kept[thread] = How::with(kept[thread], kept[thread + distance]);
      __syncthreads();
    }
    if (thread % width == 0 && output < outputs) give(out[output], kept[thread]);
    __syncthreads();
  }
}
KERNEL total(Array<const float, 2> x, Flat<float> out, SIZES) {
  reduce<Sum<float>, float, 512>(x, out, outputs, inner, width);
}
KERNEL total_double(Flat<const double> x, Flat<double> out, SIZES) {
  reduce<Sum<double>, double, 512>(x, out, outputs, inner, width);
}
KERNEL most(Flat<const float> x, Flat<float> out, SIZES) {
  reduce<Most<float>, float, 512>(x, out, outputs, inner, width);
}
KERNEL best(Flat<const float> x, Flat<long long> out, SIZES) {
  reduce<Best, Place, 512>(x, out, outputs, inner, width);
}
"""
)

_PRODUCT = """
#define SIZES int m, int n, int k
template <typename T, int Tile, int Each> __device__ void product(const T* a, const T* b, T* c, int m, int n, int k) {
  __shared__ T left[Tile][Tile + 1], right[Tile][Tile + 1];
  constexpr int Side = Tile / Each;
  T sums[Each][Each] = {};
  int row = blockIdx.y * Tile, column = blockIdx.x * Tile;
  for (int start = 0; start < k; start += Tile) {
    for (int y = threadIdx.y; y < Tile; y += Side)
      for (int x = threadIdx.x; x < Tile; x += Side) {
        left[y][x] = row + y < m && start + x < k ? a[(row + y) * k + start + x] : T(0);
        right[y][x] = start + y < k && column + x < n ? b[(start + y) * n + column + x] : T(0);
      }
    __syncthreads();
#pragma unroll
    for (int inner = 0; inner < Tile; ++inner)
      for (int y = 0; y < Each; ++y)
        for (int x = 0; x < Each; ++x) sums[y][x] += left[threadIdx.y + y * Side][inner] * right[inner][threadIdx.x + x * Side];
    __syncthreads();
  }
  for (int y = 0; y < Each; ++y)
    for (int x = 0; x < Each; ++x) {
      int r = row + threadIdx.y + y * Side, s = column + threadIdx.x + x * Side;
      if (r < m && s < n) c[r * n + s] = sums[y][x];
    }
}
extern "C" __global__ void product_single(const float* a, const float* b, float* c, SIZES) { product<float, 32, 4>(a, b, c, m, n, k); }
extern "C" __global__ void product_double(const double* a, const double* b, double* c, SIZES) { product<double, 16, 2>(a, b, c, m, n, k); }
extern "C" __global__ void product_int(const int* a, const int* b, int* c, SIZES) { product<int, 16, 1>(a, b, c, m, n, k); }
"""

_WARPS = """
__device__ float total_of_warp(float value) {
  for (int distance = 16; distance; distance /= 2) value += __shfl_xor_sync(0xffffffff, value, distance);
  return value;
}
extern "C" __global__ void row_norms(const float* x, float* out, int width) {
  __shared__ float parts[32];
  float mine = 0;
  const float* row = x + blockIdx.x * (long long)width;
  for (int at = threadIdx.x; at < width; at += blockDim.x) mine += row[at] * row[at];
  mine = total_of_warp(mine);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = mine;
  __syncthreads();
  if (threadIdx.x < 32) {
    mine = total_of_warp(threadIdx.x < blockDim.x / 32 ? parts[threadIdx.x] : 0);
    if (threadIdx.x == 0) out[blockIdx.x] = sqrtf(mine);
  }
}
extern "C" __global__ void counts(const unsigned char* x, unsigned* out, int size) {
  __shared__ unsigned mine[256];
  mine[threadIdx.x] = 0;
  __syncthreads();
  for (int at = blockIdx.x * blockDim.x + threadIdx.x; at < size; at += blockDim.x * gridDim.x) atomicAdd(&mine[x[at]], 1u);
  __syncthreads();
  atomicAdd(&out[threadIdx.x], mine[threadIdx.x]);
}
extern "C" __global__ void compact(const int* x, int* out, int* used, int size) {
  int at = blockIdx.x * blockDim.x + threadIdx.x;
  bool wanted = at < size && x[at] > 0;
  unsigned others = __ballot_sync(0xffffffff, wanted);
  int first = 0, leader = __ffs(others) - 1;
  if (wanted && (threadIdx.x & 31) == leader) first = atomicAdd(used, __popc(others));
  if (others) first = __shfl_sync(0xffffffff, first, leader);
  if (wanted) out[first + __popc(others & ((1u << (threadIdx.x & 31)) - 1))] = x[at];
}
"""

_OTHERS = """
#include <cuda_fp16.h>
extern "C" __global__ void half_axpy(const __half2* x, __half2* y, __half2 factor, int size) {
  int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at < size) y[at] = __hfma2(factor, x[at], y[at]);
}
extern "C" __global__ void blur(cudaTextureObject_t image, float* out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  float sum = 0;
  for (int dy = -1; dy <= 1; ++dy)
    for (int dx = -1; dx <= 1; ++dx) sum += tex2D<float>(image, x + dx + 0.5f, y + dy + 0.5f);
  if (x < width && y < height) out[y * width + x] = sum / 9;
}
__device__ __noinline__ float step(float x, int kind) {
  switch (kind) {
    case 0: return x * x;
    case 1: return sinf(x);
    case 2: return expf(x);
    case 3: return sqrtf(x);
    case 4: return x / 3;
    case 5: return logf(x);
    default: return x;
  }
}
extern "C" __global__ void program(const int* kinds, float* x, int count) {
  float value = x[threadIdx.x];
  for (int each = 0; each < count; ++each) value = step(value, kinds[each]);
  x[threadIdx.x] = value;
}
"""

_RECURSION = """
__device__ int depth(const int* left, const int* right, int node) {
  if (node < 0) return 0;
  int a = depth(left, right, left[node]), b = depth(left, right, right[node]);
  return 1 + (a > b ? a : b);
}
extern "C" __global__ void tree(const int* left, const int* right, int* out) { out[threadIdx.x] = depth(left, right, threadIdx.x); }
"""

_MATRIX = """
#include <mma.h>
using namespace nvcuda;
extern "C" __global__ void product_tensor(const half* a, const half* b, float* c, int m, int n, int k) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> right;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums;
  wmma::fill_fragment(sums, 0.0f);
  int row = blockIdx.y * 16, column = blockIdx.x * 16;
  for (int start = 0; start < k; start += 16) {
    wmma::load_matrix_sync(left, a + row * k + start, k);
    wmma::load_matrix_sync(right, b + column * k + start, k);
    wmma::mma_sync(sums, left, right, sums);
  }
  wmma::store_matrix_sync(c + row * n + column, sums, n, wmma::mem_row_major);
}
"""

_GRID = """
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void steps_of_grid(float* x, float* y, int size, int rounds) {
  cg::grid_group grid = cg::this_grid();
  for (int round = 0; round < rounds; ++round) {
    for (int at = grid.thread_rank(); at < size; at += grid.size()) y[at] = 0.5f * (x[at] + x[at ? at - 1 : 0]);
    grid.sync();
    float* other = x;
    x = y;
    y = other;
  }
}
"""

CASES = (
    CupyCase("elementwise", _ELEMENTWISE),
    CupyCase("elementwise-fast", _ELEMENTWISE, ("--std=c++17", "--use_fast_math")),
    CupyCase("reduction", _REDUCTION),
    CupyCase("product", _PRODUCT),
    CupyCase("warps", _WARPS),
    CupyCase("others", _OTHERS),
    CupyCase("matrix", _MATRIX),
    CupyCase("grid", _GRID),
    CupyCase("recursion", _RECURSION, known=frozenset({"recursion"})),
)
