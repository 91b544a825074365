// Why: nearest limit point for each pixel, the case study of the 2013 makespan paper (string L5 C9 L2 C9 ...).
extern "C" __global__ void voronoi(const float *px, const float *py, int points, int *owner, int width) {
    float x = (float)(blockIdx.x * blockDim.x + threadIdx.x);
    float y = (float)(blockIdx.y * blockDim.y + threadIdx.y);
    float dx = x - px[0];
    float dy = y - py[0];
    float best = dx * dx + dy * dy;
    int nearest = 0;
#pragma unroll 1
    for (int i = 1; i < points; ++i) {
        dx = x - px[i];
        dy = y - py[i];
        float d = dx * dx + dy * dy;
        if (d < best) {
            best = d;
            nearest = i;
        }
    }
    owner[(int)y * width + (int)x] = nearest;
}
