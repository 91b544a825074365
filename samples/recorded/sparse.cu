// Why: sparse products, whose loops read where rows begin, and whose addresses are columns.
#include "device.h"

extern "C" __global__ void csr_scalar(int rows, const int *row, const int *col, const float *value, const float *x, float *y) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float sum = 0;
    for (int k = row[r]; k < row[r + 1]; k++) sum += value[k] * x[col[k]];
    y[r] = sum;
}

extern "C" __global__ void csr_vector(int rows, const int *row, const int *col, const float *value, const float *x, float *y) {
    int r = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (r >= rows) return;
    float sum = 0;
    for (int k = row[r] + lane; k < row[r + 1]; k += 32) sum += value[k] * x[col[k]];
    for (int step = 16; step > 0; step >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, step);
    if (lane == 0) y[r] = sum;
}

#ifndef __CUDACC_RTC__
int main() {
    const int rows = 512, columns = 1024;
    std::vector<int> row{0}, col;
    for (int r = 0; r < rows; r++) {
        int length = r % 64 == 5 ? 40 : below(4);
        for (int k = 0; k < length; k++) col.push_back(length > 4 ? k : (r + below(16)) % columns);
        row.push_back(int(col.size()));
    }
    int *rowp = device(row), *colp = device(col);
    float *value = device<float>(col.size()), *x = device<float>(columns), *y = device<float>(rows);
    csr_scalar<<<rows / 128, 128>>>(rows, rowp, colp, value, x, y);
    csr_vector<<<rows / 4, 128>>>(rows, rowp, colp, value, x, y);
    return cudaDeviceSynchronize();
}
#endif
