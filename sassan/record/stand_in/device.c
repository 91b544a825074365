/* The simulated device: attributes, numbered alike by the runtime and the driver, and the properties of the runtime. */
#include "runtime.h"

#include <stdio.h>
#include <string.h>

HIDDEN int attribute_of_device(int attribute) {
  const struct device *assumed = device();
  switch (attribute) {
    case 1: case 2: case 3: return 1024;                      /* threads of a block, x, y */
    case 4: return 64;                                        /* z */
    case 5: return 2147483647;                                /* blocks, x */
    case 6: case 7: return 65535;                             /* y, z */
    case 8: return (int)assumed->shared_block;
    case 9: return 65536;                                     /* constant memory */
    case 10: return 32;                                       /* warp */
    case 11: return 2147483647;                               /* pitch */
    case 12: case 82: return (int)assumed->registers_sm;      /* registers of a block, of an SM */
    case 13: return (int)assumed->clock;
    case 14: case 30: return 512;                             /* alignment of textures, surfaces */
    case 15: case 19: case 31: case 41: return 1;         /* overlap, mapped host memory, concurrent kernels, unified addresses */
    case 16: return (int)assumed->sms;
    case 21: case 22: case 55: return 131072;                 /* textures */
    case 23: return 65536;
    case 24: case 25: case 26: return 16384;
    case 27: case 28: case 42: case 45: case 46: return 32768;
    case 29: case 43: return 2048;
    case 33: return 1;                                        /* bus */
    case 36: return (int)assumed->memory_clock;
    case 37: return (int)assumed->bus;
    case 38: return (int)assumed->l2;
    case 39: return (int)assumed->threads_sm;
    case 40: return 2;                                        /* copy engines */
    case 51: return 32;
    case 56: case 57: return 131072;
    case 69: return 268435456;
    case 70: case 71: return 131072;
    case 72: return 2097120;
    case 75: return (int)assumed->major;
    case 76: return (int)assumed->minor;
    case 78: case 79: case 80: case 83: return 1;             /* priorities, L1 caches, managed memory */
    case 81: return (int)assumed->shared_sm;
    case 87: return 32;                                       /* single to double precision */
    case 89: case 90: case 91: case 92: case 93: return 1;    /* concurrent managed access, pre-emption, registered pointers, stream memory operations */
    case 95: case 96: return 1;                               /* cooperative launches */
    case 97: return (int)assumed->shared_optin;
    case 99: return 1;                                        /* registered host memory */
    case 102: return 1;                                       /* virtual memory management */
    case 106: return (int)assumed->blocks_sm;
    case 111: return (int)assumed->shared_reserved;
    case 115: return 1;                                       /* memory pools */
    case 120: case 127: return assumed->major >= 9;           /* clusters, tensor maps */
    default: return 0;
  }
}

/* Layout of cudaDeviceProp: up to CUDA 12, and since 13. */
struct place {
  unsigned short before, since;
  unsigned char wide;
  int attribute;
};

static const struct place places[] = {
    {296, 296, 1, 8},   {304, 304, 0, 12},  {308, 308, 0, 10},  {312, 312, 1, 11},  {320, 320, 0, 1},   {324, 324, 0, 2},   {328, 328, 0, 3},
    {332, 332, 0, 4},   {336, 336, 0, 5},   {340, 340, 0, 6},   {344, 344, 0, 7},   {348, 0, 0, 13},    {352, 352, 1, 9},   {360, 360, 0, 75},
    {364, 364, 0, 76},  {368, 368, 1, 14},  {376, 376, 1, 51},  {384, 0, 0, 15},    {388, 384, 0, 16},  {400, 392, 0, 19},  {408, 396, 0, 21},
    {512, 496, 0, 55},  {568, 552, 1, 30},  {576, 560, 0, 31},  {584, 568, 0, 33},  {600, 584, 0, 40},  {604, 588, 0, 41},  {608, 0, 0, 36},
    {612, 592, 0, 37},  {616, 596, 0, 38},  {624, 604, 0, 39},  {628, 608, 0, 78},  {632, 612, 0, 79},  {636, 616, 0, 80},  {640, 624, 1, 81},
    {648, 632, 0, 82},  {652, 636, 0, 83},  {676, 656, 0, 89},  {688, 668, 0, 95},  {696, 672, 1, 97},  {712, 688, 0, 106}, {720, 696, 1, 111},
};
#define SIZE_OLD 728
#define SIZE_12 1032
#define SIZE_13 1008

static int properties(char *out, int number, size_t size, int since) {
  enter();
  const struct device *assumed = device();
  if (!connected()) return done(NO_DEVICE);
  if (number != 0) return done(INVALID_DEVICE);
  memset(out, 0, size);
  snprintf(out, 256, "%s", assumed->name);
  memcpy(out + 288, &assumed->memory, 8);
  for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
    unsigned at = since ? places[i].since : places[i].before;
    int value = attribute_of_device(places[i].attribute);
    uint64_t wide = (uint64_t)value;
    if (at) memcpy(out + at, places[i].wide ? (void *)&wide : (void *)&value, places[i].wide ? 8 : 4);
  }
  int pools = 1, clusters = attribute_of_device(120);
  if (size > SIZE_OLD) {
    memcpy(out + (since ? 720 : 744), &pools, 4);
    memcpy(out + (since ? 748 : 772), &clusters, 4);
  }
  return done(OK);
}

/* One name, two layouts: selected by the version of the library that a program is linked with. */
API int properties_before_12(char *out, int number) { return properties(out, number, SIZE_OLD, 0); }
API int properties_since_13(char *out, int number) { return properties(out, number, SIZE_13, 1); }
API int cudaGetDeviceProperties_v2(char *out, int number) { return properties(out, number, SIZE_12, 0); }
__asm__(".symver properties_before_12, cudaGetDeviceProperties@libcudart.so.11.0");
__asm__(".symver properties_before_12, cudaGetDeviceProperties@libcudart.so.12");
__asm__(".symver properties_since_13, cudaGetDeviceProperties@@libcudart.so.13");

API int cudaDeviceGetAttribute(int *value, int attribute, int number) {
  enter();
  if (!connected()) return done(NO_DEVICE);
  if (number != 0) return done(INVALID_DEVICE);
  *value = attribute_of_device(attribute);
  return done(OK);
}

API int cudaGetDeviceCount(int *count) {
  enter();
  *count = connected();
  return done(*count ? OK : NO_DEVICE);
}

API int cudaGetDevice(int *number) {
  *number = 0;
  return OK;
}

API int cudaSetDevice(int number) {
  enter();
  return done(number == 0 ? OK : INVALID_DEVICE);
}

API int cudaInitDevice(int number, unsigned a, unsigned b) {
  (void)a, (void)b;
  return cudaSetDevice(number);
}

API int cudaChooseDevice(int *number, const void *properties) {
  (void)properties;
  return cudaGetDevice(number);
}

API int cudaRuntimeGetVersion(int *version) {
  enter();
  *version = (int)device()->runtime_version;
  return done(OK);
}

API int cudaDriverGetVersion(int *version) {
  enter();
  *version = (int)device()->driver_version;
  return done(OK);
}

#define NOTHING(name, ...) \
  API int name(__VA_ARGS__) { return OK; }
typedef const void *any;
/* Requests without effect on a recording. */
NOTHING(cudaDeviceSynchronize, void)
NOTHING(cudaThreadSynchronize, void)
NOTHING(cudaDeviceReset, void)
NOTHING(cudaThreadExit, void)
NOTHING(cudaProfilerStart, void)
NOTHING(cudaProfilerStop, void)
NOTHING(cudaCtxResetPersistingL2Cache, void)
NOTHING(cudaDeviceSetCacheConfig, int a __attribute__((unused)))
NOTHING(cudaDeviceSetSharedMemConfig, int a __attribute__((unused)))
NOTHING(cudaSetDeviceFlags, unsigned a __attribute__((unused)))
NOTHING(cudaFuncSetCacheConfig, any a __attribute__((unused)), int b __attribute__((unused)))
NOTHING(cudaFuncSetSharedMemConfig, any a __attribute__((unused)), int b __attribute__((unused)))
NOTHING(cudaSetValidDevices, any a __attribute__((unused)), int b __attribute__((unused)))
NOTHING(cudaMemPoolSetAttribute, any a __attribute__((unused)), int b __attribute__((unused)), any c __attribute__((unused)))
NOTHING(cudaMemPoolSetAccess, any a __attribute__((unused)), any b __attribute__((unused)), size_t c __attribute__((unused)))
NOTHING(cudaMemPoolTrimTo, any a __attribute__((unused)), size_t b __attribute__((unused)))
NOTHING(cudaMemPoolDestroy, any a __attribute__((unused)))
NOTHING(cudaDeviceSetMemPool, int a __attribute__((unused)), any b __attribute__((unused)))

static char pool[8];

API int cudaDeviceGetDefaultMemPool(void **out, int number) {
  (void)number;
  *out = pool;
  return OK;
}

API int cudaDeviceGetMemPool(void **out, int number) { return cudaDeviceGetDefaultMemPool(out, number); }

API int cudaMemPoolCreate(void **out, const void *properties) {
  (void)properties;
  return cudaDeviceGetDefaultMemPool(out, 0);
}

API int cudaGetDeviceFlags(unsigned *flags) {
  *flags = 0;
  return OK;
}

API int cudaDeviceGetCacheConfig(int *configuration) {
  *configuration = 0;
  return OK;
}

API int cudaDeviceGetStreamPriorityRange(int *least, int *greatest) {
  if (least != NULL) *least = 0;
  if (greatest != NULL) *greatest = -5;
  return OK;
}

static size_t limits[8] = {1024, 1 << 20, 8 << 20, 2, 2048, 64, 0, 0};

API int cudaDeviceSetLimit(int which, size_t value) {
  if (which >= 0 && which < 8) limits[which] = value;
  return OK;
}

API int cudaDeviceGetLimit(size_t *value, int which) {
  if (which < 0 || which >= 8) return INVALID_VALUE;
  *value = limits[which];
  return OK;
}

API int cudaDeviceCanAccessPeer(int *can, int a, int b) {
  (void)a, (void)b;
  *can = 0;
  return OK;
}

API int cudaDeviceGetPCIBusId(char *text, int size, int number) {
  snprintf(text, size > 0 ? (size_t)size : 0, "0000:01:00.0");
  return number == 0 ? OK : INVALID_DEVICE;
}

static const struct {
  int status;
  const char *name, *text;
} statuses[] = {
    {OK, "cudaSuccess", "no error"},
    {INVALID_VALUE, "cudaErrorInvalidValue", "invalid argument"},
    {OUT_OF_MEMORY, "cudaErrorMemoryAllocation", "out of memory"},
    {INVALID_CONFIGURATION, "cudaErrorInvalidConfiguration", "invalid configuration argument"},
    {INVALID_SYMBOL, "cudaErrorInvalidSymbol", "invalid device symbol"},
    {INVALID_DEVICE_FUNCTION, "cudaErrorInvalidDeviceFunction", "invalid device function"},
    {NO_DEVICE, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    {INVALID_DEVICE, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {INVALID_IMAGE, "cudaErrorInvalidKernelImage", "device kernel image is invalid"},
    {NO_BINARY, "cudaErrorNoKernelImageForDevice", "no kernel image is available for execution on the device"},
    {INVALID_HANDLE, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {NOT_FOUND, "cudaErrorSymbolNotFound", "named symbol not found"},
    {OUT_OF_RESOURCES, "cudaErrorLaunchOutOfResources", "too many resources requested for launch"},
    {TOO_MANY_TOGETHER, "cudaErrorCooperativeLaunchTooLarge", "too many blocks in cooperative launch"},
    {INVALID_CLUSTER, "cudaErrorInvalidClusterSize", "invalid cluster size"},
    {NOT_SUPPORTED, "cudaErrorNotSupported", "operation not supported"},
};

HIDDEN const char *status_text(int status, int name) {
  for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++)
    if (statuses[i].status == status) return name ? statuses[i].name : statuses[i].text;
  return NULL;
}

API const char *cudaGetErrorString(int status) {
  const char *text = status_text(status, 0);
  return text == NULL ? "unrecognized error code" : text;
}

API const char *cudaGetErrorName(int status) {
  const char *text = status_text(status, 1);
  return text == NULL ? "unrecognized error code" : text;
}
