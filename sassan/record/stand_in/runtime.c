/* The CUDA runtime: registration by nvcc's host code, and launches. */
#include "runtime.h"

#include <stdlib.h>
#include <string.h>

#define WRAPPER 0x466243b1
#define PENDING 16

static _Thread_local int last_error;

int done(int status) {
  if (status != OK) last_error = status;
  leave();
  return status;
}

API int cudaGetLastError(void) {
  int status = last_error;
  last_error = OK;
  return status;
}

API int cudaPeekAtLastError(void) { return last_error; }

int missing(const char *name) {
  last_error = NOT_SUPPORTED;
  return unsupported(name, NOT_SUPPORTED);
}

struct wrapper {
  int magic, version;
  const void *data;
  void *names;
};

API void **__cudaRegisterFatBinary(void *fatbin) {
  const struct wrapper *wrapper = fatbin;
  enter();
  const void *data = wrapper->magic == WRAPPER ? wrapper->data : fatbin;
  struct image **handle = checked_allocation(malloc(sizeof *handle));
  *handle = new_image(data, image_size(data));
  leave();
  return (void **)handle;
}

API void __cudaRegisterFatBinaryEnd(void **handle) { (void)handle; }

API void __cudaUnregisterFatBinary(void **handle) { (void)handle; }

API char __cudaInitModule(void **handle) {
  (void)handle;
  return 1;
}

API void __cudaRegisterFunction(void **handle, const char *host, char *device_function, const char *name, int limit, void *thread, void *block,
                                void *block_size, void *grid_size, int *warp) {
  (void)device_function, (void)limit, (void)thread, (void)block, (void)block_size, (void)grid_size, (void)warp;
  enter();
  new_kernel((struct image *)*handle, name, host);
  leave();
}

API void __cudaRegisterVar(void **handle, char *host, char *address, const char *name, int external, size_t size, int constant, int global) {
  (void)address, (void)external, (void)constant, (void)global;
  enter();
  new_symbol((struct image *)*handle, name, host, size);
  leave();
}

API void __cudaRegisterManagedVar(void **handle, void **pointer, char *address, const char *name, int external, size_t size, int constant,
                                  int global) {
  (void)address, (void)external, (void)constant, (void)global;
  enter();
  struct symbol *symbol = new_symbol((struct image *)*handle, name, pointer, size);
  *pointer = symbol_memory(symbol);
  leave();
}

API void __cudaRegisterHostVar(void **handle, const char *name, char *host, size_t size) { (void)handle, (void)name, (void)host, (void)size; }

API void __cudaRegisterTexture(void **handle, const void *host, const void **address, const char *name, int dimensions, int normal, int external) {
  (void)address, (void)dimensions, (void)normal, (void)external;
  enter();
  new_symbol((struct image *)*handle, name, host, 8);
  leave();
}

API void __cudaRegisterSurface(void **handle, const void *host, const void **address, const char *name, int dimensions, int external) {
  __cudaRegisterTexture(handle, host, address, name, dimensions, 0, external);
}

static _Thread_local struct {
  dim3 grid, block;
  size_t shared;
  void *stream;
} pending[PENDING];
static _Thread_local unsigned waiting;

API unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, void *stream) {
  if (waiting == PENDING) return 1;
  pending[waiting].grid = grid;
  pending[waiting].block = block;
  pending[waiting].shared = shared;
  pending[waiting++].stream = stream;
  return 0;
}

API int __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream) {
  if (waiting == 0) return INVALID_CONFIGURATION;
  waiting--;
  *grid = pending[waiting].grid;
  *block = pending[waiting].block;
  *shared = pending[waiting].shared;
  *(void **)stream = pending[waiting].stream;
  return OK;
}

API int __cudaGetKernel(void **kernel, const void *host) {
  enter();
  *kernel = kernel_of(host);
  return done(*kernel == NULL ? INVALID_DEVICE_FUNCTION : OK);
}

API int cudaGetKernel(void **kernel, const void *host) { return __cudaGetKernel(kernel, host); }

API int cudaGetFuncBySymbol(void **function, const void *host) { return __cudaGetKernel(function, host); }

static struct kernel *kernels; /* kernels of libraries, which have handles but no host functions */

struct kernel *kernel_named(const void *handle) {
  /* A host function, or the handle of a kernel. */
  struct kernel *kernel = kernel_of(handle);
  if (kernel != NULL || handle == NULL) return kernel;
  for (kernel = kernels; kernel != NULL; kernel = kernel->next)
    if (kernel == handle) return kernel;
  return is_kernel(handle) ? (struct kernel *)(uintptr_t)handle : NULL;
}

static int launched(struct kernel *kernel, const struct launch *given, void *stream) {
  if (kernel == NULL) return INVALID_DEVICE_FUNCTION;
  if (!connected()) return NO_DEVICE;
  struct launch launch = *given;
  launch.kernel = kernel;
  return launch_on(&launch, stream);
}

API int __cudaLaunchKernel(void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared, void *stream) {
  struct launch launch = {.grid = grid, .block = block, .shared = shared, .arguments = arguments};
  enter();
  return done(launched(kernel, &launch, stream));
}

API int cudaLaunchKernel(const void *function, dim3 grid, dim3 block, void **arguments, size_t shared, void *stream) {
  struct launch launch = {.grid = grid, .block = block, .shared = shared, .arguments = arguments};
  enter();
  return done(launched(kernel_named(function), &launch, stream));
}

API int cudaLaunchCooperativeKernel(const void *function, dim3 grid, dim3 block, void **arguments, size_t shared, void *stream) {
  struct launch launch = {.grid = grid, .block = block, .shared = shared, .arguments = arguments, .manner = {.cooperative = 1}};
  enter();
  return done(launched(kernel_named(function), &launch, stream));
}

struct configuration {
  dim3 grid, block;
  size_t shared;
  void *stream;
  struct attribute *attributes;
  unsigned count;
};

static struct launch configured(const struct configuration *config) {
  struct launch launch = {.grid = config->grid, .block = config->block, .shared = config->shared};
  set_attributes(&launch, config->attributes, config->count, config->stream);
  return launch;
}

API int cudaLaunchKernelExC(const struct configuration *config, const void *function, void **arguments) {
  enter();
  struct launch launch = configured(config);
  launch.arguments = arguments;
  return done(launched(kernel_named(function), &launch, config->stream));
}

static int occupancy(const struct configuration *config, const void *function, int (*answer)(const struct launch *, int *), int *out) {
  enter();
  struct launch launch = configured(config);
  launch.kernel = kernel_named(function);
  if (launch.kernel == NULL || !load_facts(launch.kernel)) return done(INVALID_DEVICE_FUNCTION);
  return done(answer(&launch, out));
}

API int cudaOccupancyMaxActiveClusters(int *clusters, const void *function, const struct configuration *config) {
  return occupancy(config, function, active_clusters, clusters);
}

API int cudaOccupancyMaxPotentialClusterSize(int *blocks, const void *function, const struct configuration *config) {
  return occupancy(config, function, potential_cluster, blocks);
}

API int cudaFuncGetName(const char **name, const void *function) {
  enter();
  struct kernel *kernel = kernel_named(function);
  if (kernel != NULL) *name = kernel->name;
  return done(kernel == NULL ? INVALID_DEVICE_FUNCTION : OK);
}

API int cudaFuncGetParamInfo(const void *function, size_t index, size_t *offset, size_t *size) {
  enter();
  struct kernel *kernel = kernel_named(function);
  if (kernel == NULL || !load_facts(kernel)) return done(INVALID_DEVICE_FUNCTION);
  if (index >= kernel->count) return done(INVALID_VALUE);
  *offset = kernel->parameters[index].offset;
  if (size != NULL) *size = kernel->parameters[index].size;
  return done(OK);
}

struct function_attributes {
  size_t shared, constant, local;
  int threads, registers, ptx, binary, cache, dynamic_shared, carveout;
  int cluster[6]; /* since CUDA 11.8: needed, width, height, depth, policy, more than 8 blocks allowed */
};

API int cudaFuncGetAttributes(struct function_attributes *out, const void *function) {
  enter();
  struct kernel *kernel = kernel_named(function);
  if (kernel == NULL || !load_facts(kernel)) return done(INVALID_DEVICE_FUNCTION);
  memset(out, 0, device()->runtime_version >= 12000 ? sizeof *out : offsetof(struct function_attributes, cluster));
  out->shared = kernel->shared;
  out->constant = kernel->constant;
  out->local = kernel->local;
  out->threads = (int)kernel->threads;
  out->registers = (int)kernel->registers;
  out->ptx = out->binary = (int)kernel->arch;
  out->dynamic_shared = function_attribute(kernel, 8);
  out->carveout = kernel->carveout;
  static const int attributes[] = {10, 11, 12, 13, 15, 14};
  for (int i = 0; device()->runtime_version >= 12000 && i < 6; i++) out->cluster[i] = function_attribute(kernel, attributes[i]);
  return done(OK);
}

API int cudaFuncSetAttribute(const void *function, int attribute, int value) {
  enter();
  struct kernel *kernel = kernel_named(function);
  return done(kernel == NULL ? INVALID_DEVICE_FUNCTION : set_function_attribute(kernel, attribute, value));
}

API int cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *function, int threads, size_t shared, unsigned flags) {
  (void)flags;
  enter();
  struct kernel *kernel = kernel_named(function);
  if (kernel == NULL || !load_facts(kernel)) return done(INVALID_DEVICE_FUNCTION);
  if (threads < 1) return done(INVALID_VALUE);
  *blocks = resident(kernel, (unsigned)threads, shared);
  return done(OK);
}

API int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *function, int threads, size_t shared) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads, shared, 0);
}

API int cudaLibraryLoadData(struct image **library, const void *code, void *a, void *b, unsigned c, void *d, void *e, unsigned f) {
  (void)a, (void)b, (void)c, (void)d, (void)e, (void)f;
  enter();
  const struct wrapper *wrapper = code;
  const void *data = wrapper->magic == WRAPPER ? wrapper->data : code;
  *library = new_image(data, image_size(data));
  return done(OK);
}

API int cudaLibraryUnload(struct image *library) {
  (void)library;
  return OK;
}

API int cudaLibraryGetKernel(struct kernel **kernel, struct image *library, const char *name) {
  enter();
  struct kernel *new = new_kernel(library, name, NULL);
  if (!load_facts(new)) return done(INVALID_SYMBOL);
  new->next = kernels;
  *kernel = kernels = new;
  return done(OK);
}

/* Functions of the driver by their names. */
API int cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags, int *status);

static int entry_point(const char *name, void **function, unsigned version, uint64_t flags, int *status) {
  enter();
  if (name == NULL || function == NULL || version > device()->driver_version) return done(INVALID_VALUE);
  int found;
  cuGetProcAddress_v2(name, function, (int)version, flags, &found);
  if (status != NULL) *status = found;
  return done(OK); /* what is not found is NULL */
}

API int cudaGetDriverEntryPointByVersion(const char *name, void **function, unsigned version, uint64_t flags, int *status) {
  return entry_point(name, function, version, flags, status);
}

/* Up to CUDA 11 there is no output for the status. */
API int cudaGetDriverEntryPoint(const char *name, void **function, uint64_t flags, int *status) {
  enter();
  unsigned version = (unsigned)device()->runtime_version;
  leave();
  return entry_point(name, function, version, flags, version >= 12000 ? status : NULL);
}
