/* A program of the CUDA runtime as nvcc's host code makes it, without nvcc: it registers a cubin (its second argument) and its kernel saxpy. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct {
  unsigned x, y, z;
} dim3;
void **__cudaRegisterFatBinary(void *);
void __cudaRegisterFunction(void **, const void *, char *, const char *, int, void *, void *, void *, void *, void *);
void __cudaRegisterVar(void **, char *, char *, const char *, int, size_t, int, int);
unsigned __cudaPushCallConfiguration(dim3, dim3, size_t, void *);
int __cudaPopCallConfiguration(dim3 *, dim3 *, size_t *, void *);
int cudaLaunchKernel(const void *, dim3, dim3, void **, size_t, void *);
int cudaMalloc(void **, size_t), cudaFree(void *), cudaMemcpy(void *, const void *, size_t, int), cudaMemset(void *, int, size_t);
int cudaMemcpyToSymbol(const void *, const void *, size_t, size_t, int), cudaMemcpyFromSymbol(void *, const void *, size_t, size_t, int);
int cudaGetLastError(void), cudaMemGetInfo(size_t *, size_t *), cudaMallocMipmappedArray(void), cudaGetDeviceProperties(char *, int);
int cudaStreamCreate(void **), cudaStreamBeginCapture(void *, int), cudaStreamEndCapture(void *, void **);
int cudaGraphInstantiate(void **, void *, unsigned long long), cudaGraphLaunch(void *, void *);
int cudaEventCreate(void **), cudaEventRecord(void *, void *), cudaEventElapsedTime(float *, void *, void *);
int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *, const void *, int, size_t);

static char saxpy, variable[16];
static void *x, *y;

static int launch(unsigned blocks, unsigned threads, int n, void *stream) {
  dim3 grid = {blocks, 1, 1}, block = {threads, 1, 1}, popped_grid, popped_block;
  size_t shared;
  float a = 2.0f;
  void *arguments[] = {&n, &a, &x, &y}, *on;
  __cudaPushCallConfiguration(grid, block, 0, stream);
  __cudaPopCallConfiguration(&popped_grid, &popped_block, &shared, &on);
  return cudaLaunchKernel(&saxpy, popped_grid, popped_block, arguments, shared, on);
}

static int data(void) {
  char bytes[1000], back[1000];
  memset(bytes, 7, sizeof bytes);
  size_t before, after, total;
  cudaMemGetInfo(&before, &total);
  void *more;
  if (cudaMalloc(&more, 1000) || cudaMemcpy(back, more, 1000, 2) || back[0] || back[999]) return 1;
  cudaMemGetInfo(&after, &total);
  if (before - after != 1000) return 2;
  if (cudaMemcpy(more, bytes, 1000, 1) || cudaMemcpy(back, more, 1000, 2) || memcmp(bytes, back, 1000)) return 3;
  if (cudaMemset(more, 9, 500) || cudaMemcpy(back, more, 1000, 2) || back[499] != 9 || back[500] != 7) return 4;
  if (cudaMemcpyToSymbol(variable, bytes, 8, 8, 1) || cudaMemcpyFromSymbol(back, variable, 16, 0, 2) || back[7] || back[8] != 7) return 5;
  if (cudaMemcpyToSymbol(variable, bytes, 9, 8, 1) != 1) return 6;
  void *again;
  if (cudaFree(more) || cudaMalloc(&again, 1000) || again != more || cudaMemcpy(back, again, 1000, 2) || back[0] || back[999]) return 7;
  if (cudaMalloc(&again, total + 1) != 2) return 8;
  return cudaFree(back) != 1;
}

static int transfers(void) {
  unsigned char words[4000], others[400], back[4000];
  for (int i = 0; i < 4000; i++) words[i] = (unsigned char)i;
  memset(others, 3, sizeof others);
  cudaMemcpy(x, words, 4000, 1);
  launch(1, 32, 1, NULL);
  cudaMemset(y, 5, 4000);
  cudaMemcpy((char *)y + 1000, x, 400, 3);
  launch(2, 32, 1, NULL);
  for (int i = 0; i < 3; i++) cudaMemcpy(x, others, 400, 1), launch(3, 32, 1, NULL);
  for (int i = 0; i < 2; i++) cudaMemcpy(y, x, 400, 3), launch(4, 32, 1, NULL); /* from the second time on, what a kernel may have stored */
  cudaFree(x);
  cudaMalloc(&x, 4000); /* the same memory, and it holds nothing that is known */
  launch(5, 32, 1, NULL);
  cudaMemcpy(back, y, 4000, 2); /* what a kernel may have computed, and all that follows from it */
  cudaMemcpy(x, words, 400, 1);
  launch(6, 32, 1, NULL);
  return 0;
}

static int pieces(int forks) {
  unsigned char words[4000];
  for (int i = 0; i < 4000; i++) words[i] = (unsigned char)i;
  for (int i = 0; i < 500; i++) cudaMemcpy((char *)x + 8 * i, words + 8 * i, 8, 1); /* one behind the other */
  launch(1, 32, 1, NULL);
  cudaMemcpy(y, words, 4000, 1); /* what was sent already */
  launch(2, 32, 1, NULL);
  for (int i = 0; i < 12000; i++) cudaMemcpy((char *)(i < 11000 ? y : x) + i * 16 % 4000, words + i % 3997, 4, 1);
  cudaMemset(x, 5, 16);
  launch(3, 32, 1, NULL);
  cudaMemcpy(x, words, 400, 1);
  if (forks && fork() == 0) { /* what the parent wrote is not the child's, which has sent nothing */
    launch(4, 32, 1, NULL);
    exit(0);
  }
  return forks && wait(NULL) < 0;
}

static int graph(void) {
  void *stream, *captured, *executable, *first, *last;
  float milliseconds;
  cudaStreamCreate(&stream);
  cudaEventCreate(&first);
  cudaEventCreate(&last);
  cudaEventRecord(first, stream);
  if (cudaStreamBeginCapture(stream, 0) || launch(5, 32, 10, stream) || launch(6, 32, 10, stream)) return 1;
  if (cudaStreamEndCapture(stream, &captured) || cudaGraphInstantiate(&executable, captured, 0)) return 2;
  if (cudaGraphLaunch(executable, stream) || cudaGraphLaunch(executable, stream)) return 3;
  cudaEventRecord(last, stream);
  return cudaEventElapsedTime(&milliseconds, first, last) || milliseconds <= 0;
}

int main(int count, char **arguments) {
  const char *mode = count > 2 ? arguments[1] : "";
  FILE *file = count > 2 ? fopen(arguments[2], "rb") : NULL;
  if (file == NULL) return 9;
  char *image = calloc(1, 1 << 20);
  if (fread(image, 1, 1 << 20, file) < 64) return 9;
  struct {
    int magic, version;
    void *data, *names;
  } wrapper = {0x466243b1, 1, image, NULL};
  void **handle = __cudaRegisterFatBinary(&wrapper);
  __cudaRegisterFunction(handle, &saxpy, "saxpy", "saxpy", -1, NULL, NULL, NULL, NULL, NULL);
  __cudaRegisterVar(handle, variable, variable, "variable", 0, sizeof variable, 0, 0);
  cudaMalloc(&x, 4000);
  cudaMalloc(&y, 4000);
  if (!strcmp(mode, "data")) return data();
  if (!strcmp(mode, "transfers")) return transfers();
  if (!strncmp(mode, "pieces", 6)) return pieces(mode[6] != 0);
  if (!strcmp(mode, "graph")) return graph();
  if (!strcmp(mode, "properties")) {
    char properties[1008];
    int blocks;
    cudaGetDeviceProperties(properties, 0);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &saxpy, 256, 0);
    printf("%s, %d SMs, %d blocks\n", properties, *(int *)(properties + 384), blocks);
  }
  for (int i = 0; i < 3; i++) launch(4, 256, 1000, NULL);
  launch(2, 256, 500, NULL);
  if (!strcmp(mode, "refused")) return launch(1, 2048, 1, NULL) == 9 && cudaGetLastError() == 9 && cudaGetLastError() == 0 ? 0 : 1;
  if (!strcmp(mode, "unknown")) cudaMallocMipmappedArray(), cudaMallocMipmappedArray();
  if (!strcmp(mode, "crash")) raise(SIGSEGV);
  if (!strcmp(mode, "status")) return 3;
  if (!strcmp(mode, "wait")) {
    printf("waiting\n");
    fflush(stdout);
    pause();
  }
  for (int i = 0; !strcmp(mode, "endless"); i++) launch(1, 32, i % 2, NULL);
  if (!strcmp(mode, "fork")) {
    cudaMemset(x, 1, 4000);
    if (fork() == 0) {
      launch(7, 64, 1, NULL);
      _exit(0);
    }
    wait(NULL);
    launch(8, 64, 1, NULL);
  }
  return 0;
}
