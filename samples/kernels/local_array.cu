// Why: an array indexed at run time lives in local memory (LDL, STL): per-lane data that never agrees.
extern "C" __global__ void local_array(const int *in, int *out, int n) {
    int stack[32];
    int top = 0;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    stack[top++] = in[i];
    int visited = 0;
    while (top > 0) {
        int v = stack[--top];
        ++visited;
        if (v < n && top < 30) {
            stack[top++] = 2 * v + 1;
            stack[top++] = 2 * v + 2;
        }
    }
    out[i] = visited;
}
