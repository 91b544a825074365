// Why: optimised but relocatable: device functions in sections of their own, called through relocations and a table.
// Options: -rdc=true
typedef float (*Shape)(float, float);

__device__ __noinline__ float square(float w, float) { return w * w; }
__device__ __noinline__ float rectangle(float w, float h) { return w * h; }
__device__ __noinline__ float triangle(float w, float h) { return 0.5f * rectangle(w, h); }

__device__ Shape shapes[3] = {square, rectangle, triangle};

extern "C" __global__ void separate_sections(const int *kind, const float *w, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && kind[i] >= 0 && kind[i] < 3) {
        out[i] = shapes[kind[i]](w[i], w[i + 1]) + triangle(w[i], 2.0f);
    }
}
