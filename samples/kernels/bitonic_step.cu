// Why: guards that depend on thread bits and data: both sides of an if hold stores.
extern "C" __global__ void bitonic_step(unsigned *data, unsigned j, unsigned k) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned other = i ^ j;
    if (other > i) {
        unsigned a = data[i];
        unsigned b = data[other];
        if ((i & k) == 0) {
            if (a > b) {
                data[i] = b;
                data[other] = a;
            }
        } else {
            if (a < b) {
                data[i] = b;
                data[other] = a;
            }
        }
    }
}
