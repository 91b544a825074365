/* A program that holds a static runtime, as far as names go: its own functions say that they are not to be called. */
#include <stdlib.h>

__attribute__((section(".nv_fatbin"))) const char fatbin[64] = "x";
#define OWN(name) __attribute__((noinline, aligned(16))) int name(void *a, unsigned long b) { abort(); }
OWN(__cudaRegisterFatBinary)
OWN(cudaMalloc)
OWN(cudaRuntimeGetVersion)
#ifdef NEWEST
OWN(cudaLibraryLoadData)
#endif
#ifdef TWELVE
OWN(cudaGetDeviceProperties_v2)
#endif
OWN(cudaGetDeviceProperties)

int main(void) {
  char properties[1100] = {0};
  void *memory = NULL;
  int version = 0;
  if (cudaMalloc(&memory, 100) || memory == NULL) return 1;
  if (cudaRuntimeGetVersion(&version, 0) || version != VERSION) return 2;
  return cudaGetDeviceProperties(properties, 0) || *(int *)(properties + PLACE) != 68 ? 3 : 0;
}
