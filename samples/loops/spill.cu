// Why: the start of a later loop and the counter of an earlier one are spilled to local memory, in a phase that needs all registers.
// Archs: 80
extern "C" __global__ void __maxnreg__(40) real_spill(float *a, int n, int m, int k) {
    int last = (n + 6) / 7 - 2 + (threadIdx.x >> 10);  // in a register of the thread, not cheap to compute again
    float v[40], w = 0;
    for (int j = 0; j < 40; j++) v[j] = a[j * 128 + threadIdx.x];
    for (int l = 0; l < m; l++) { float x = a[l % k];
        for (int j = 0; j < 40; j++) v[j] = v[j] * x + v[(j + 7) % 40]; __syncthreads(); }
    for (int i = last; i >= 0; i--) { w += a[i * 128 + threadIdx.x]; if (i % 3 == 0) for (int j = 0; j < 40; j++) v[j] += w * v[(j + 9) % 40]; }
    for (int j = 0; j < 40; j++) a[j * 128 + threadIdx.x] = v[j];
}
