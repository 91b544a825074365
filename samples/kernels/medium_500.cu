// Why: about 500 instructions with ordinary control flow (loops with breaks, nested guards, barriers): the benchmark kernel.
struct State {
    int a;
    int b;
    float f;
};

template <int ID>
__device__ __forceinline__ void step(State &s, const int *in, int *out, int limit) {
    int v = in[s.a & 1023];
    if (v > limit) {
        atomicAdd(&out[ID], v);
        if (s.b & (1 << (ID & 7))) {
            atomicXor(&out[ID + 64], s.b);
            s.a += v;
        } else {
            s.f = s.f * 1.5f + (float)v;
            atomicMax(&out[ID + 96], s.a);
        }
    }
#pragma unroll 1
    for (int k = 0; k < (v & 15); ++k) {
        s.b = s.b * 33 + in[(s.b + k) & 1023];
        if (s.b == limit) {
            atomicMin(&out[ID + 128], k);
            break;
        }
    }
    s.a ^= s.b >> ID;
}

extern "C" __global__ void medium_500(const int *in, int *out, int n, int limit) {
    __shared__ int shared[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    State s = {i, in[i & 1023], 1.0f};
    step<0>(s, in, out, limit);
    step<1>(s, in, out, limit);
#pragma unroll 1
    for (int round = 0; round < n; ++round) {
        shared[threadIdx.x & 255] = s.a;
        __syncthreads();
        s.b += shared[(threadIdx.x + round) & 255];
        __syncthreads();
        step<3>(s, in, out, limit);
        if (s.a < 0) {
            s.a = -s.a;
            step<5>(s, in, out, limit);
        }
    }
    step<6>(s, in, out, limit);
    if (i < n) {
        out[1024 + i] = s.a + s.b + (int)s.f;
    }
}
