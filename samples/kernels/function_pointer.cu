// Why: a call through a table of device functions: an indirect call whose targets only the table tells.
typedef int (*Operation)(int, int);

__device__ __noinline__ int op_add(int a, int b) { return a + b; }
__device__ __noinline__ int op_mul(int a, int b) { return a * b + 1; }
__device__ __noinline__ int op_div(int a, int b) { return a / (b | 1); }
__device__ __noinline__ int op_mix(int a, int b) { return (a << 5) ^ (b >> 3); }

__device__ Operation table[4] = {op_add, op_mul, op_div, op_mix};

extern "C" __global__ void function_pointer(const int *which, int *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        x[i] = table[which[i] & 3](x[i], i);
    }
}
