// Why: the trip count stands in a table of parameters at the index of the block: LDC at a run-time index.
// Archs: 80 120
struct T { int n[16]; float *p[16]; };
extern "C" __global__ void param_by_block(const __grid_constant__ T t) {
    float *p = t.p[blockIdx.x];
    for (int i = threadIdx.x; i < t.n[blockIdx.x]; i += blockDim.x) p[i] *= 2;
}
