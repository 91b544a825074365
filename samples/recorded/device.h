// Arrays of the device that hold what the host has written: what `sassan record` keeps.
#ifndef __CUDACC_RTC__
#include <random>
#include <vector>

template <typename T> T *device(const std::vector<T> &host) {
    T *out;
    cudaMalloc(&out, host.size() * sizeof(T));
    cudaMemcpy(out, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice);
    return out;
}

template <typename T> T *device(size_t count) {
    T *out;
    cudaMalloc(&out, count * sizeof(T));
    return out;
}

inline std::mt19937 draw(7);
inline int below(int limit) { return int(draw() % unsigned(limit)); }
#endif
