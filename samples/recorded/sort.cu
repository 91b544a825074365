// Why: sorts, by recursion and by digits, and a scan that looks back at what blocks before it have stored.
#include "device.h"

__device__ __noinline__ void quick(int *data, int low, int high) {
    if (high - low < 2) return;
    int pivot = data[(low + high) / 2], left = low, right = high - 1;
    while (left <= right) {
        while (data[left] < pivot) left++;
        while (data[right] > pivot) right--;
        if (left <= right) {
            int held = data[left];
            data[left++] = data[right];
            data[right--] = held;
        }
    }
    quick(data, low, right + 1);
    quick(data, left, high);
}

extern "C" __global__ void sort_recursive(int *data, int length) { quick(data + (blockIdx.x * blockDim.x + threadIdx.x) * length, 0, length); }

extern "C" __global__ void sort_digit(const unsigned *key, const int *offset, unsigned *out, int count, int shift) {
    __shared__ int place[16];
    if (threadIdx.x < 16) place[threadIdx.x] = offset[blockIdx.x * 16 + threadIdx.x];
    __syncthreads();
    int first = blockIdx.x * count;
    if (threadIdx.x == 0)
        for (int at = first; at < first + count; at++) out[place[key[at] >> shift & 15]++] = key[at];
}

extern "C" __global__ void scan_look_back(const int *in, int *out, volatile int *state, volatile int *sum) {
    int total = in[blockIdx.x * blockDim.x + threadIdx.x];
    for (int step = 1; step < 32; step <<= 1) {
        int other = __shfl_up_sync(0xffffffffu, total, step);
        if (threadIdx.x >= step) total += other;
    }
    if (threadIdx.x == 31) {
        int before = 0;
        if (blockIdx.x > 0) {
            while (state[blockIdx.x - 1] == 0) {}
            before = sum[blockIdx.x - 1];
        }
        sum[blockIdx.x] = before + total;
        __threadfence();
        state[blockIdx.x] = 1;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = total;
}

#ifndef __CUDACC_RTC__
int main() {
    std::vector<int> data, offset, in;
    std::vector<unsigned> key;
    for (int i = 0; i < 64 * 16; i++) data.push_back(below(1000));
    sort_recursive<<<2, 32>>>(device(data), 16);
    const int blocks = 4, count = 64;
    for (int i = 0; i < blocks * count; i++) key.push_back(draw());
    for (int b = 0; b < blocks; b++)
        for (unsigned digit = 0; digit < 16; digit++) {
            int place = 0;
            for (int i = 0; i < blocks * count; i++) place += (key[i] >> 8 & 15) < digit || ((key[i] >> 8 & 15) == digit && i / count < b);
            offset.push_back(place);
        }
    sort_digit<<<blocks, 32>>>(device(key), device(offset), device<unsigned>(blocks * count), count, 8);
    for (int i = 0; i < 256; i++) in.push_back(below(10));
    int *state = device(std::vector<int>(8));
    scan_look_back<<<8, 32>>>(device(in), device<int>(256), state, device<int>(8));
    return cudaDeviceSynchronize();
}
#endif
