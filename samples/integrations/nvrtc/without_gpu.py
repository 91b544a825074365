"""The bounds of CUDA C++ that a program would compile at run time, as with CuPy; no GPU is needed (extra `nvrtc`)."""

from sassan.integrations import nvrtc

SOURCE = """
template <typename T> __global__ void scale(T* x, T factor, int n) {
  int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at < n) x[at] *= factor;
}
extern "C" __global__ void fill(float* x, float value) {
  x[blockIdx.x * blockDim.x + threadIdx.x] = value;
}
"""

for kernel in nvrtc.analyze_source(SOURCE, arch="sm_80", options=["--use_fast_math"], instances=["scale<float>", "scale<double>"]):
    print(kernel.name, kernel.wcet, kernel.worst_path)
