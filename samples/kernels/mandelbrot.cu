// Why: the classic divergent loop: the trip count is bounded by a parameter but differs in each lane.
extern "C" __global__ void mandelbrot(int *image, int width, int height, float x0, float y0, float step, int limit) {
    int px = blockIdx.x * blockDim.x + threadIdx.x;
    int py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px >= width || py >= height) {
        return;
    }
    float cr = x0 + px * step;
    float ci = y0 + py * step;
    float zr = 0.0f;
    float zi = 0.0f;
    int it = 0;
#pragma unroll 1
    while (it < limit && zr * zr + zi * zi < 4.0f) {
        float t = zr * zr - zi * zi + cr;
        zi = 2.0f * zr * zi + ci;
        zr = t;
        ++it;
    }
    image[py * width + px] = it;
}
