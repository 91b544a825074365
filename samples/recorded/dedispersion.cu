// Why: a sum along channels, each moved by its own delay: addresses of a table.
#include "device.h"

extern "C" __global__ void dedisperse(const unsigned char *in, const int *delays, float *out, int channels, int length, int samples) {
    int at = blockIdx.x * blockDim.x + threadIdx.x, trial = blockIdx.y;
    if (at >= samples) return;
    float sum = 0;
    for (int c = 0; c < channels; c++) sum += in[(size_t)c * length + delays[trial * channels + c] + at];
    out[trial * samples + at] = sum;
}

#ifndef __CUDACC_RTC__
int main() {
    const int channels = 64, trials = 8, samples = 4096;
    std::vector<int> delays;
    int longest = 0;
    for (int t = 0; t < trials; t++)
        for (int c = 0; c < channels; c++) {
            int delay = int(t * 4.0 * (1.0 / ((1.2 + c / 512.0) * (1.2 + c / 512.0)) - 1.0 / (1.325 * 1.325)) * 1000) / 10;
            longest = delay > longest ? delay : longest;
            delays.push_back(delay);
        }
    int length = samples + longest;
    unsigned char *in = device<unsigned char>(size_t(channels) * length);
    float *out = device<float>(trials * samples);
    dedisperse<<<dim3(samples / 256, trials), 256>>>(in, device(delays), out, channels, length, samples);
    return cudaDeviceSynchronize();
}
#endif
