/* The CUDA driver: devices, contexts, and versioned function names. */
#define _GNU_SOURCE
#include "driver.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

HIDDEN int attribute_of_device(int attribute);
HIDDEN const char *status_text(int status, int name);

#define DEEPEST 64

static char primary[8];
static _Thread_local void *stack[DEEPEST];
static _Thread_local int depth;

API int cuInit(unsigned flags) {
  enter();
  return ended(flags != 0 ? INVALID_VALUE : connected() ? OK : NO_DEVICE);
}

API int cuDriverGetVersion(int *version) {
  enter();
  *version = (int)device()->driver_version;
  return ended(OK);
}

API int cuDeviceGetCount(int *count) {
  enter();
  *count = connected();
  return ended(OK);
}

API int cuDeviceGet(int *number, int ordinal) {
  *number = 0;
  return ordinal == 0 ? OK : INVALID_DEVICE;
}

API int cuDeviceGetName(char *text, int size, int number) {
  enter();
  snprintf(text, size > 0 ? (size_t)size : 0, "%s", device()->name);
  return ended(number == 0 ? OK : INVALID_DEVICE);
}

API int cuDeviceGetUuid(char *uuid, int number) {
  memset(uuid, 0, 16);
  return number == 0 ? OK : INVALID_DEVICE;
}

API int cuDeviceGetUuid_v2(char *uuid, int number) { return cuDeviceGetUuid(uuid, number); }

API int cuDeviceTotalMem_v2(size_t *size, int number) {
  enter();
  *size = device()->memory;
  return ended(number == 0 ? OK : INVALID_DEVICE);
}

API int cuDeviceGetAttribute(int *value, int attribute, int number) {
  enter();
  *value = attribute_of_device(attribute);
  return ended(number == 0 ? OK : INVALID_DEVICE);
}

API int cuDeviceComputeCapability(int *major, int *minor, int number) {
  return cuDeviceGetAttribute(major, 75, number) || cuDeviceGetAttribute(minor, 76, number);
}

API int cuDeviceGetPCIBusId(char *text, int size, int number) {
  snprintf(text, size > 0 ? (size_t)size : 0, "0000:01:00.0");
  return number == 0 ? OK : INVALID_DEVICE;
}

API int cuDeviceCanAccessPeer(int *can, int a, int b) {
  (void)a, (void)b;
  *can = 0;
  return OK;
}

/* Contexts: all of them are the primary context. */

API int cuDevicePrimaryCtxRetain(void **context, int number) {
  *context = primary;
  return number == 0 ? OK : INVALID_DEVICE;
}

API int cuDevicePrimaryCtxGetState(int number, unsigned *flags, int *active) {
  *flags = 0;
  *active = 1;
  return number == 0 ? OK : INVALID_DEVICE;
}

API int cuDevicePrimaryCtxRelease_v2(int number) { return number == 0 ? OK : INVALID_DEVICE; }
API int cuDevicePrimaryCtxRelease(int number) { return cuDevicePrimaryCtxRelease_v2(number); }
API int cuDevicePrimaryCtxReset_v2(int number) { return cuDevicePrimaryCtxRelease_v2(number); }
API int cuDevicePrimaryCtxReset(int number) { return cuDevicePrimaryCtxRelease_v2(number); }
API int cuDevicePrimaryCtxSetFlags_v2(int number, unsigned flags) {
  (void)flags;
  return cuDevicePrimaryCtxRelease_v2(number);
}

API int cuCtxPushCurrent_v2(void *context) {
  if (depth == DEEPEST) return INVALID_VALUE;
  stack[depth++] = context;
  return OK;
}

API int cuCtxPopCurrent_v2(void **context) {
  if (depth == 0) return 201; /* no context */
  depth--;
  if (context != NULL) *context = stack[depth];
  return OK;
}

API int cuCtxSetCurrent(void *context) {
  if (depth > 0) depth--;
  return context == NULL ? OK : cuCtxPushCurrent_v2(context);
}

API int cuCtxGetCurrent(void **context) {
  *context = depth > 0 ? stack[depth - 1] : NULL;
  return OK;
}

static int create(void **context, int number) {
  *context = primary;
  return number == 0 ? cuCtxPushCurrent_v2(primary) : INVALID_DEVICE;
}

API int cuCtxCreate_v2(void **context, unsigned flags, int number) {
  (void)flags;
  return create(context, number);
}

API int cuCtxCreate(void **context, unsigned flags, int number) { return cuCtxCreate_v2(context, flags, number); }

API int cuCtxCreate_v3(void **context, void *affinity, int count, unsigned flags, int number) {
  (void)affinity, (void)count, (void)flags;
  return create(context, number);
}

API int cuCtxCreate_v4(void **context, void *parameters, unsigned flags, int number) {
  (void)parameters, (void)flags;
  return create(context, number);
}

API int cuCtxDestroy_v2(void *context) {
  if (depth > 0 && stack[depth - 1] == context) depth--;
  return OK;
}

API int cuCtxGetDevice(int *number) {
  *number = 0;
  return depth > 0 ? OK : 201;
}

API int cuCtxGetDevice_v2(int *number, void *context) {
  (void)context;
  *number = 0;
  return OK;
}

API int cuCtxSynchronize(void) { return OK; }

API int cuCtxSynchronize_v2(void *context) {
  (void)context;
  return OK;
}

API int cuCtxGetApiVersion(void *context, unsigned *version) {
  (void)context;
  *version = 3020;
  return OK;
}

API int cuCtxGetFlags(unsigned *flags) {
  *flags = 0;
  return OK;
}

API int cuCtxGetStreamPriorityRange(int *least, int *greatest) {
  if (least != NULL) *least = 0;
  if (greatest != NULL) *greatest = -5;
  return OK;
}

API int cuCtxSetCacheConfig(int configuration) {
  (void)configuration;
  return OK;
}

API int cuCtxGetCacheConfig(int *configuration) {
  *configuration = 0;
  return OK;
}

API int cudaDeviceGetLimit(size_t *value, int which);
API int cudaDeviceSetLimit(int which, size_t value);
API int cuCtxGetLimit(size_t *value, int which) { return cudaDeviceGetLimit(value, which); }
API int cuCtxSetLimit(int which, size_t value) { return cudaDeviceSetLimit(which, value); }
API int cuProfilerStart(void) { return OK; }
API int cuProfilerStop(void) { return OK; }

API int cuGetErrorString(int status, const char **text) {
  *text = status_text(status, 0);
  return *text == NULL ? INVALID_VALUE : OK;
}

static const struct {
  int status;
  const char *name;
} names[] = {
    {OK, "CUDA_SUCCESS"},
    {INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE"},
    {OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY"},
    {NO_DEVICE, "CUDA_ERROR_NO_DEVICE"},
    {INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE"},
    {INVALID_IMAGE, "CUDA_ERROR_INVALID_IMAGE"},
    {201, "CUDA_ERROR_INVALID_CONTEXT"},
    {NO_BINARY, "CUDA_ERROR_NO_BINARY_FOR_GPU"},
    {INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE"},
    {NOT_FOUND, "CUDA_ERROR_NOT_FOUND"},
    {OUT_OF_RESOURCES, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"},
    {TOO_MANY_TOGETHER, "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE"},
    {NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED"},
    {INVALID_CLUSTER, "CUDA_ERROR_INVALID_CLUSTER_SIZE"},
};

API int cuGetErrorName(int status, const char **text) {
  *text = NULL;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (names[i].status == status) *text = names[i].name;
  return *text == NULL ? INVALID_VALUE : OK;
}

/* Unnamed function tables: only a static runtime requests them that static_runtime.c did not redirect, and its launches cannot be recorded. */
API int cuGetExportTable(const void **table, const void *id) {
  (void)id;
  *table = NULL;
  enter();
  note("a library of the program holds a static CUDA runtime: its launches are missing; link it with nvcc --cudart shared");
  return ended(NOT_FOUND);
}

/* The function that an unsuffixed name denotes from a version of CUDA on; all others denote _v2 if it exists. */
static const struct {
  const char *name, *suffix;
  int since;
} meanings[] = {
    {"cuCtxCreate", "_v4", 13000},
    {"cuCtxCreate", "_v3", 11040},
    {"cuCtxCreate", "_v2", 0},
    {"cuGetProcAddress", "_v2", 12000},
    {"cuGetProcAddress", "", 0},
    {"cuCtxGetDevice", "_v2", 13000},
    {"cuCtxGetDevice", "", 0},
    {"cuStreamGetCaptureInfo", "_v3", 12030},
    {"cuStreamGetCaptureInfo", "_v2", 0},
    {"cuMemAdvise", "_v2", 12020},
    {"cuMemAdvise", "", 0},
    {"cuMemPrefetchAsync", "_v2", 12020},
    {"cuMemPrefetchAsync", "", 0},
};

static void *named(const char *name, const char *suffix) {
  char text[256];
  Dl_info own;
  if (snprintf(text, sizeof text, "%s%s", name, suffix) >= (int)sizeof text) return NULL;
  if (!dladdr((void *)(uintptr_t)&named, &own)) return NULL;
  static void *library;
  if (library == NULL) library = dlopen(own.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  return library == NULL ? NULL : dlsym(library, text);
}

static void *meant(const char *name, int version) {
  for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++)
    if (strcmp(meanings[i].name, name) == 0 && version >= meanings[i].since) return named(name, meanings[i].suffix);
  void *second = named(name, "_v2");
  return second != NULL ? second : named(name, "");
}

API int cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags, int *status) {
  (void)flags;
  enter();
  *function = strncmp(name, "cu", 2) == 0 ? meant(name, version) : NULL;
  if (status != NULL) *status = *function == NULL;
  return ended(*function == NULL ? NOT_FOUND : OK);
}

API int cuGetProcAddress(const char *name, void **function, int version, uint64_t flags) {
  return cuGetProcAddress_v2(name, function, version, flags, NULL);
}
