// Why: a walk of one thread through memory, each access at the place that the one before read: what traffic of the CPU adds to a latency.
// Archs: 62 72 87
// Listing: no
extern "C" __global__ void walk(const unsigned *next, unsigned *out, int n) {
    unsigned at = 0, sum = 0;
    for (int i = 0; i < n; i++) { at = next[at]; sum += at; }
    *out = sum;
}
