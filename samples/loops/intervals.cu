// Why: intervals that are halved whose ends memory holds: what is halved is the difference of two registers, or a count.
// Archs: 80 120
// Listing: no
extern "C" __global__ void diagonal(const int *in, int *out, const int *counts) {
    int n = counts[0], m = counts[1], diag = counts[2] + 4 * (int)threadIdx.x, first = max(0, diag - m), last = min(diag, n);
    while (first < last) { int mid = first + ((last - first) >> 1);
        if (in[mid] <= in[n + diag - 1 - mid]) first = mid + 1; else last = mid; }
    out[threadIdx.x] = first; }
extern "C" __global__ void rounded_diagonal(const int *in, int *out, const int *counts) {
    int n = counts[0], m = counts[1], diag = counts[2] + 4 * (int)threadIdx.x, first = max(0, diag - m), last = min(diag, n);
    while (first < last) { int mid = first + (last - first) / 2;
        if (in[mid] <= in[n + diag - 1 - mid]) first = mid + 1; else last = mid; }
    out[threadIdx.x] = first; }
extern "C" __global__ void shared_diagonal(const int *in, int *out, int count) {
    __shared__ int keys[1024];
    for (int i = threadIdx.x; i < 1024; i += blockDim.x) keys[i] = in[i];
    __syncthreads();
    int diag = min(count, 4 * (int)threadIdx.x), first = max(0, diag - (count - 512)), last = min(diag, 512);
    while (first < last) { int mid = first + (int)((unsigned)(last - first) >> 1);
        if (keys[mid] <= keys[512 + diag - 1 - mid]) first = mid + 1; else last = mid; }
    out[threadIdx.x] = first; }
extern "C" __global__ void counted_search(const int *in, int *out, const int *counts) {
    int key = out[threadIdx.x], base = 0, n = counts[threadIdx.x];
    while (n > 0) { int half = n >> 1; if (in[base + half] < key) { base += half + 1; n -= half + 1; } else n = half; }
    out[threadIdx.x] = base; }
extern "C" __global__ void search_in_row(const unsigned *rows, const int *in, int *out) {
    unsigned first = rows[threadIdx.x], last = rows[threadIdx.x + 1]; int key = out[threadIdx.x];
    while (first != last) { unsigned mid = first + ((last - first) >> 1); if (in[mid] < key) first = mid + 1; else last = mid; }
    out[threadIdx.x] = first; }
extern "C" __global__ void stays_apart(const unsigned *rows, const int *in, int *out) {
    unsigned first = rows[threadIdx.x], last = rows[threadIdx.x + 1]; int key = out[threadIdx.x];
    while (first < last) { unsigned mid = first + ((last - first) >> 1); if (in[mid] < key) first = mid; else last = mid; }
    out[threadIdx.x] = first; }
