// A row of an image, blurred: every pixel becomes the mean of its neighbours.
#define RADIUS 4

extern "C" __global__ void blur(const float *in, float *out, int width) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x >= width)
        return;
    float sum = 0.0f;
#pragma unroll 1
    for (int k = -RADIUS; k <= RADIUS; k++)
        sum += in[min(max(x + k, 0), width - 1)];
    out[x] = sum / (2 * RADIUS + 1);
}
