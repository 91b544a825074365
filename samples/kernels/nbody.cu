// Why: floating-point heavy inner loop of constant length inside a barrier loop; RSQ on the special-function unit.
constexpr int TILE = 128;

extern "C" __global__ void nbody(const float4 *pos, float4 *acc, int tiles, float eps) {
    __shared__ float4 sh[TILE];
    int i = blockIdx.x * TILE + threadIdx.x;
    float4 p = pos[i];
    float ax = 0.0f, ay = 0.0f, az = 0.0f;
    for (int t = 0; t < tiles; ++t) {
        sh[threadIdx.x] = pos[t * TILE + threadIdx.x];
        __syncthreads();
#pragma unroll 4
        for (int j = 0; j < TILE; ++j) {
            float dx = sh[j].x - p.x;
            float dy = sh[j].y - p.y;
            float dz = sh[j].z - p.z;
            float inv = rsqrtf(dx * dx + dy * dy + dz * dz + eps);
            float s = sh[j].w * inv * inv * inv;
            ax += dx * s;
            ay += dy * s;
            az += dz * s;
        }
        __syncthreads();
    }
    acc[i] = make_float4(ax, ay, az, 0.0f);
}
