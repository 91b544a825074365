// Why: more than 5,000 instructions with dozens of divergent branches and loops, the size limit for the analyses.
struct State {
    unsigned a;
    unsigned b;
    float f;
    float g;
};

// A block of straight-line arithmetic that the compiler cannot shorten: each line needs the one before.
template <int ID, int LEFT>
struct Mix {
    static __device__ __forceinline__ void run(State &s, const float *table) {
        s.a = s.a * (2654435761u + 2u * ID) + s.b;
        s.b ^= s.a >> ((ID + LEFT) % 13 + 3);
        s.f = s.f * s.g + table[(s.b + LEFT) & 255u];
        s.g = s.g * 0.5f + __uint_as_float((s.a & 0x007fffffu) | 0x3f800000u);
        Mix<ID, LEFT - 1>::run(s, table);
    }
};

template <int ID>
struct Mix<ID, 0> {
    static __device__ __forceinline__ void run(State &, const float *) {}
};

// One stage: a guard with two sides, a loop with a break and a nested guard, then arithmetic for all.
template <int ID>
__device__ __forceinline__ void stage(State &s, const float *table, unsigned *out, int limit) {
    if (s.a & (1u << (ID % 31))) {
        atomicAdd(&out[ID], s.b);
        Mix<ID, 5>::run(s, table);
    } else {
        atomicXor(&out[ID + 64], s.a);
        Mix<ID + 100, 3>::run(s, table);
    }
#pragma unroll 1
    for (int k = 0; k < limit; ++k) {
        Mix<ID + 200, 2>::run(s, table);
        if (s.f > s.g) {
            atomicMax(&out[ID + 128], s.b);
            if (s.b & 1u) {
                break;
            }
            s.f = 0.0f;
        }
    }
    Mix<ID + 300, 4>::run(s, table);
}

template <int ID, int LEFT>
struct Stages {
    static __device__ __forceinline__ void run(State &s, const float *table, unsigned *out, int limit) {
        stage<ID>(s, table, out, limit);
        Stages<ID + 1, LEFT - 1>::run(s, table, out, limit);
    }
};

template <int ID>
struct Stages<ID, 0> {
    static __device__ __forceinline__ void run(State &, const float *, unsigned *, int) {}
};

extern "C" __global__ void large_5000(const float *table, unsigned *out, int rounds, int limit) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    State s = {i, i * 7u + 1u, 1.0f, 2.0f};
    Stages<0, 12>::run(s, table, out, limit);
#pragma unroll 1
    for (int r = 0; r < rounds; ++r) {
        Stages<12, 10>::run(s, table, out, limit);
        if (s.a == s.b) {
            break;
        }
    }
    Stages<22, 6>::run(s, table, out, limit);
    out[1024 + i] = s.a ^ s.b ^ __float_as_uint(s.f + s.g);
}
