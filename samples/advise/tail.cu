// Why: a few blocks more than run at once: the last ones run alone. Mended: as many blocks as run at once share the rounds.
// Archs: 80
// Flaw: tail
// Launch: flawed 1024 240 param_2=129600
// Launch: mended 1024 216 param_2=129600
__device__ __forceinline__ void rounds(float *out, const float *in, int all) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float f = in[i];
#pragma unroll 1
    for (int k = blockIdx.x; k < all; k += 32 * gridDim.x)
#pragma unroll
        for (int j = 0; j < 32; ++j) f = f * 0.5f + 0.25f;
    out[i] = f;
}

extern "C" __global__ void flawed(float *out, const float *in, int all) { rounds(out, in, all); }

extern "C" __global__ void mended(float *out, const float *in, int all) { rounds(out, in, all); }
