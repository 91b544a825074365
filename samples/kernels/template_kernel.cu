// Why: C++ kernels in a namespace, instantiated twice: mangled names, and a uniform branch folded in one of them.
namespace samples {
template <typename T, int UNROLL, bool CLAMP>
__global__ void map(const T *in, T *out, int n) {
    int i = (blockIdx.x * blockDim.x + threadIdx.x) * UNROLL;
#pragma unroll
    for (int k = 0; k < UNROLL; ++k) {
        if (i + k < n) {
            T v = in[i + k] * in[i + k];
            out[i + k] = CLAMP && v > T(1) ? T(1) : v;
        }
    }
}

template __global__ void map<float, 4, true>(const float *, float *, int);
template __global__ void map<double, 2, false>(const double *, double *, int);
} // namespace samples
