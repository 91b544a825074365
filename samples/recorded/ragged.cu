// Why: work of lengths that the host has chosen: sequences with pages of keys, products of a table of pointers.
#include "device.h"

extern "C" __global__ void scores(const float *query, const float *pool, const int *page, const int *begin, const int *length, float *out) {
    int sequence = blockIdx.x, count = length[sequence];
    for (int k = threadIdx.x / 32; k < count; k += blockDim.x / 32) {
        int at = page[begin[sequence] + k / 16] * 16 + k % 16;
        float sum = query[sequence * 32 + threadIdx.x % 32] * pool[(size_t)at * 32 + threadIdx.x % 32];
        for (int step = 16; step > 0; step >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, step);
        if (threadIdx.x % 32 == 0) out[begin[sequence] * 16 + k] = sum;
    }
}

struct Product {
    const float *a, *b;
    float *c;
    int m, n, k;
};

extern "C" __global__ void grouped(const Product *products) {
    Product p = products[blockIdx.y];
    for (int at = blockIdx.x * blockDim.x + threadIdx.x; at < p.m * p.n; at += gridDim.x * blockDim.x) {
        float sum = 0;
        for (int k = 0; k < p.k; k++) sum += p.a[at / p.n * p.k + k] * p.b[k * p.n + at % p.n];
        p.c[at] = sum;
    }
}

#ifndef __CUDACC_RTC__
int main() {
    const int sequences = 16;
    std::vector<int> page, begin, length;
    for (int s = 0; s < sequences; s++) {
        length.push_back(s == 3 ? 200 : 1 + below(40));
        begin.push_back(int(page.size()));
        for (int k = 0; k * 16 < length[s]; k++) page.push_back(below(256));
    }
    float *pool = device<float>(256 * 16 * 32);
    scores<<<sequences, 128>>>(device<float>(sequences * 32), pool, device(page), device(begin), device(length), device<float>(page.size() * 16));
    std::vector<Product> products;
    for (int size : {8, 16, 24, 64}) products.push_back({device<float>(size * 32), device<float>(32 * size), device<float>(size * size), size, size, 32});
    grouped<<<dim3(2, 4), 128>>>(device(products));
    return cudaDeviceSynchronize();
}
#endif
