// Why: one access each at an address that data name: rows of a table, bins, slots of a hash table, places found by bisection.
#include "device.h"

extern "C" __global__ void gather(const float *table, const int *token, float *out, int width) {
    int row = token[blockIdx.x];
    for (int k = threadIdx.x; k < width; k += blockDim.x) out[blockIdx.x * width + k] = table[(size_t)row * width + k];
}

extern "C" __global__ void histogram(const int *data, int count, int *bins) {
    for (int at = blockIdx.x * blockDim.x + threadIdx.x; at < count; at += gridDim.x * blockDim.x) atomicAdd(bins + data[at], 1);
}

extern "C" __global__ void histogram_shared(const int *data, int count, int *bins) {
    __shared__ int own[64];
    if (threadIdx.x < 64) own[threadIdx.x] = 0;
    __syncthreads();
    for (int at = blockIdx.x * blockDim.x + threadIdx.x; at < count; at += gridDim.x * blockDim.x) atomicAdd(own + data[at], 1);
    __syncthreads();
    if (threadIdx.x < 64) atomicAdd(bins + threadIdx.x, own[threadIdx.x]);
}

extern "C" __global__ void probe(const unsigned *key, const unsigned *slot, unsigned mask, int *found) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned wanted = key[at], place = (wanted * 2654435761u >> 16) & mask;
    while (slot[place] != wanted && slot[place] != 0) place = (place + 1) & mask;
    found[at] = slot[place] == wanted ? int(place) : -1;
}

extern "C" __global__ void bisect(const int *sorted, int count, const int *wanted, int *place) {
    int at = blockIdx.x * blockDim.x + threadIdx.x, value = wanted[at], low = 0, high = count;
    while (low < high) {
        int middle = (low + high) / 2;
        if (sorted[middle] < value) low = middle + 1;
        else high = middle;
    }
    place[at] = low;
}

#ifndef __CUDACC_RTC__
int main() {
    std::vector<int> token, data, sorted, wanted;
    for (int i = 0; i < 64; i++) token.push_back(below(1000));
    gather<<<64, 64>>>(device<float>(1000 * 128), device(token), device<float>(64 * 128), 128);
    for (int i = 0; i < 1024; i++) data.push_back(i % 4 ? below(64) : 7);
    int *values = device(data), *bins = device<int>(64);
    histogram<<<4, 128>>>(values, 1024, bins);
    histogram_shared<<<4, 128>>>(values, 1024, bins);
    std::vector<unsigned> slot(1024), key;
    for (int i = 0; i < 512; i++) {
        unsigned wanted = draw() | 1, place = (wanted * 2654435761u >> 16) & 1023;
        key.push_back(i % 8 ? wanted : wanted ^ 2);
        while (slot[place]) place = (place + 1) & 1023;
        slot[place] = wanted;
    }
    probe<<<4, 128>>>(device(key), device(slot), 1023, device<int>(512));
    for (int i = 0, value = 0; i < 500; i++) sorted.push_back(value += below(5));
    for (int i = 0; i < 256; i++) wanted.push_back(below(1000));
    bisect<<<2, 128>>>(device(sorted), 500, device(wanted), device<int>(256));
    return cudaDeviceSynchronize();
}
#endif
