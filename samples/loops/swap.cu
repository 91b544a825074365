// Why: compare and swap until no other thread came first.
// Archs: 80 120
extern "C" __global__ void cas_max(unsigned long long *a, const double *x) {
    double v = x[blockIdx.x * blockDim.x + threadIdx.x]; unsigned long long old = *a, seen;
    do { seen = old; if (__longlong_as_double(seen) >= v) break; old = atomicCAS(a, seen, __double_as_longlong(v)); } while (old != seen);
}
