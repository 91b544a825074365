/* A program that launches the kernel saxpy of the image that its argument names with attributes, in clusters among them, and in a graph. */
#include <stdio.h>
#include <string.h>

typedef void *handle;
typedef unsigned long long address;
typedef struct {
  int id, pad;
  union {
    char bytes[64];
    unsigned extents[3];
    int number;
    handle event;
  } value;
} attribute;
typedef struct {
  unsigned grid[3], block[3], shared;
  handle stream;
  attribute *attributes;
  unsigned count;
} configuration;
typedef struct {
  handle function;
  unsigned grid[3], block[3], shared;
  handle *arguments, *extra;
} node_parameters;
int cuInit(unsigned), cuMemAlloc_v2(address *, size_t), cudaLibraryGetKernel(handle *, handle, const char *);
int cudaLibraryLoadData(handle *, const void *, handle, handle, unsigned, handle, handle, unsigned);
int cuLaunchKernelEx(const configuration *, handle, handle *, handle *), cuEventCreate(handle *, unsigned), cuEventElapsedTime(float *, handle, handle);
int cuOccupancyMaxActiveClusters(int *, handle, const configuration *), cuOccupancyMaxPotentialClusterSize(int *, handle, const configuration *);
int cuFuncSetAttribute(handle, int, int), cuFuncGetAttribute(int *, int, handle);
int cudaGraphCreate(handle *, unsigned), cudaGraphAddKernelNode(handle *, handle, const handle *, size_t, const node_parameters *);
int cudaGraphKernelNodeSetAttribute(handle, int, const void *), cudaGraphKernelNodeGetAttribute(handle, int, void *);
int cudaGraphKernelNodeCopyAttributes(handle, handle), cudaGraphKernelNodeSetParams(handle, const node_parameters *);
int cudaGraphInstantiate(handle *, handle, unsigned long long), cudaGraphLaunch(handle, handle);
int cudaGetDriverEntryPointByVersion(const char *, handle *, unsigned, unsigned long long, int *);

static handle function, arguments[4];
static attribute attributes[6];
static configuration config = {{8, 2, 1}, {64, 1, 1}, 0, NULL, attributes, 0};

static int launch(unsigned x, unsigned y, unsigned count) {
  attributes[0].value.extents[0] = x;
  attributes[0].value.extents[1] = y;
  attributes[0].value.extents[2] = 1;
  config.count = count;
  return cuLaunchKernelEx(&config, function, arguments, NULL);
}

static int graph(void) {
  handle graph, first, second, executable;
  attribute got, cluster = {4, 0, {.extents = {4, 1, 1}}}, bad = {4, 0, {.extents = {3, 1, 1}}};
  node_parameters parameters = {function, {16, 1, 1}, {32, 1, 1}, 0, arguments, NULL};
  if (cudaGraphCreate(&graph, 0) || cudaGraphAddKernelNode(&first, graph, NULL, 0, &parameters)) return 1;
  parameters.grid[0] = 20;
  if (cudaGraphAddKernelNode(&second, graph, &first, 1, &parameters)) return 2;
  if (cudaGraphKernelNodeSetAttribute(first, 4, &bad.value) == 0 || cudaGraphKernelNodeSetAttribute(first, 4, &cluster.value)) return 3;
  if (cudaGraphKernelNodeCopyAttributes(second, first)) return 4;
  if (cudaGraphKernelNodeGetAttribute(second, 4, &got.value) || memcmp(&got.value, &cluster.value, sizeof got.value)) return 5;
  parameters.grid[0] = 24; /* other parameters, and the attributes stay */
  if (cudaGraphKernelNodeSetParams(second, &parameters)) return 6;
  parameters.grid[0] = 25;
  if (cudaGraphKernelNodeSetParams(second, &parameters) != 9) return 7;
  return cudaGraphInstantiate(&executable, graph, 0) || cudaGraphLaunch(executable, NULL) ? 8 : 0;
}

int main(int count, char **words) {
  static char image[1 << 20];
  FILE *file = count > 1 ? fopen(words[1], "rb") : NULL;
  handle library, event, other, entry;
  address x;
  int n = 3, active = 0, most = 0, more = 0, found = 7;
  float a = 1, milliseconds;
  if (file == NULL || fread(image, 1, sizeof image, file) < 64 || cuInit(0) || cuMemAlloc_v2(&x, 4000)) return 1;
  if (cudaLibraryLoadData(&library, image, NULL, NULL, 0, NULL, NULL, 0) || cudaLibraryGetKernel(&function, library, "saxpy")) return 1;
  arguments[0] = &n, arguments[1] = &a, arguments[2] = arguments[3] = &x;
  cuEventCreate(&event, 2);
  cuEventCreate(&other, 2);
  attributes[0].id = 4;                                                        /* cluster */
  attributes[1].id = 6, attributes[1].value.number = 1;                        /* programmatic stream serialization */
  attributes[2].id = 14, attributes[2].value.number = 25;                      /* carveout */
  attributes[3].id = 2, attributes[3].value.number = 1;                        /* cooperative */
  attributes[4].id = 11, memcpy(&attributes[4].value, (unsigned[]){4, 2, 1}, 12); /* preferred cluster */
  attributes[5].id = 7, attributes[5].value.event = event;                     /* programmatic event */
  if (cuOccupancyMaxActiveClusters(&active, function, &config) != 912) return 2; /* none is given */
  if (launch(2, 2, 1) || launch(2, 2, 3) || launch(2, 2, 4) || launch(2, 2, 6)) return 3;
  if (cuEventElapsedTime(&milliseconds, event, other) != 400) return 4; /* the other was not recorded */
  if (cuOccupancyMaxActiveClusters(&active, function, &config) || cuOccupancyMaxPotentialClusterSize(&most, function, &config)) return 5;
  if (launch(3, 1, 1) != 1) return 6;  /* does not divide the grid */
  if (launch(8, 2, 1) != 912) return 7; /* 16 blocks, without leave */
  if (cuFuncSetAttribute(function, 14, 1) || launch(8, 2, 1)) return 8;
  if (cuFuncGetAttribute(&more, 14, function) || more != 1 || cuOccupancyMaxPotentialClusterSize(&more, function, &config)) return 9;
  int why = graph();
  if (why) return 20 + why;
  config.grid[0] = 100000;
  if (launch(1, 1, 4) != 720) return 10; /* cooperative, and too many for the device */
  if (cuFuncSetAttribute(function, 11, 2) || cuFuncSetAttribute(function, 11, 4) != 1) return 11; /* a required width, once */
  if (cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000, 0, &found) || entry == NULL || found) return 12;
  if (cudaGetDriverEntryPointByVersion("cuNothing", &entry, 12000, 0, &found) || entry != NULL || found != 1) return 13;
  if (cudaGetDriverEntryPointByVersion("cuInit", &entry, 99000, 0, &found) != 1) return 14;
  printf("%d clusters, %d and %d blocks\n", active, most, more);
  return 0;
}
