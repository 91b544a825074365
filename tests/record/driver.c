/* A program of the CUDA driver: it loads the image that its argument names, and launches its kernel saxpy, arguments one by one and packed. */
#include <stdio.h>
#include <stdlib.h>

typedef void *handle;
typedef unsigned long long address;
int cuInit(unsigned), cuDeviceGet(int *, int), cuDevicePrimaryCtxRetain(handle *, int), cuCtxSetCurrent(handle);
int cuModuleLoad(handle *, const char *), cuModuleGetFunction(handle *, handle, const char *), cuMemAlloc_v2(address *, size_t);
int cuGetProcAddress_v2(const char *, void *, int, unsigned long long, int *);

int main(int count, char **arguments) {
  int device;
  handle context, module, function;
  address x;
  if (count < 2 || cuInit(0) || cuDeviceGet(&device, 0) || cuDevicePrimaryCtxRetain(&context, device) || cuCtxSetCurrent(context)) return 1;
  if (cuModuleLoad(&module, arguments[1]) || cuModuleGetFunction(&function, module, "saxpy")) return 2;
  if (cuModuleGetFunction(&context, module, "nothing") != 500) return 3;
  int (*launch)(handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, handle, handle *, handle *);
  if (cuGetProcAddress_v2("cuLaunchKernel", &launch, 12000, 0, NULL) || cuMemAlloc_v2(&x, 100)) return 4;
  int n = 3;
  float a = 1;
  handle one_by_one[] = {&n, &a, &x, &x};
  if (launch(function, 2, 1, 1, 32, 1, 1, 64, NULL, one_by_one, NULL)) return 5;
  struct {
    int n;
    float a;
    address x, y;
  } packed = {4, 1, x, x};
  size_t size = sizeof packed;
  handle extra[] = {(handle)1, &packed, (handle)2, &size, NULL};
  return launch(function, 2, 1, 1, 32, 1, 1, 64, NULL, NULL, extra);
}
