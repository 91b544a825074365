/* The CUDA driver: modules, libraries, functions, launches. */
#include "driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WRAPPER 0x466243b1
#define MOST ((long)1 << 30)

static struct kernel *kernels;

static int load(struct image **module, const void *data) {
  const struct {
    int magic, version;
    const void *data;
  } *wrapper = data;
  if (data == NULL) return INVALID_VALUE;
  if (!connected()) return NO_DEVICE;
  const void *bytes = wrapper->magic == WRAPPER ? wrapper->data : data;
  size_t size = image_size(bytes);
  void *copy = checked_allocation(malloc(size + 1)); /* the program may free its copy */
  memcpy(copy, bytes, size);
  ((char *)copy)[size] = 0;
  *module = new_image(copy, size);
  return OK;
}

API int cuModuleLoadDataEx(struct image **module, const void *data, unsigned count, void *options, void *values) {
  (void)count, (void)options, (void)values;
  enter();
  return ended(load(module, data));
}

API int cuModuleLoadData(struct image **module, const void *data) { return cuModuleLoadDataEx(module, data, 0, NULL, NULL); }
API int cuModuleLoadFatBinary(struct image **module, const void *data) { return cuModuleLoadData(module, data); }

API int cuModuleLoad(struct image **module, const char *path) {
  FILE *file = fopen(path, "rb");
  if (file == NULL) return 301; /* no such file */
  int status = INVALID_IMAGE;
  if (fseek(file, 0, SEEK_END) == 0) {
    long size = ftell(file);
    if (size > 4 && size < MOST && fseek(file, 0, SEEK_SET) == 0) {
      char *data = checked_allocation(calloc(1, (size_t)size + 64));
      if (fread(data, 1, (size_t)size, file) == (size_t)size) status = cuModuleLoadData(module, data);
      free(data);
    }
  }
  fclose(file);
  return status;
}

API int cuModuleUnload(struct image *module) {
  (void)module; /* its kernels may be in a graph */
  return OK;
}

API int cuLibraryLoadData(struct image **library, const void *data, void *a, void *b, unsigned c, void *d, void *e, unsigned f) {
  (void)a, (void)b, (void)c, (void)d, (void)e, (void)f;
  return cuModuleLoadData(library, data);
}

API int cuLibraryLoadFromFile(struct image **library, const char *path, void *a, void *b, unsigned c, void *d, void *e, unsigned f) {
  (void)a, (void)b, (void)c, (void)d, (void)e, (void)f;
  return cuModuleLoad(library, path);
}

API int cuLibraryUnload(struct image *library) { return cuModuleUnload(library); }

API int cuLibraryGetModule(struct image **module, struct image *library) {
  *module = library;
  return OK;
}

API int cuModuleGetLoadingMode(int *mode) {
  *mode = 2; /* lazy */
  return OK;
}

API int cuModuleGetFunction(struct kernel **function, struct image *module, const char *name) {
  enter();
  for (struct kernel *known = kernels; known != NULL; known = known->next)
    if (known->image == module && strcmp(known->name, name) == 0) {
      *function = known;
      return ended(OK);
    }
  struct kernel *kernel = new_kernel(module, name, NULL);
  if (!load_facts(kernel)) return ended(NOT_FOUND);
  kernel->next = kernels;
  *function = kernels = kernel;
  return ended(OK);
}

API int cuLibraryGetKernel(struct kernel **kernel, struct image *library, const char *name) { return cuModuleGetFunction(kernel, library, name); }

API int cuKernelGetFunction(struct kernel **function, struct kernel *kernel) {
  *function = kernel;
  return OK;
}

API int cuModuleGetGlobal_v2(void **address, size_t *size, struct image *module, const char *name) {
  static struct symbol *symbols;
  enter();
  struct symbol *symbol = symbols;
  while (symbol != NULL && !(symbol->image == module && strcmp(symbol->name, name) == 0)) symbol = symbol->next;
  if (symbol == NULL) {
    size_t known = global_size(module, name);
    if (known == 0) return ended(NOT_FOUND);
    symbol = new_symbol(module, name, NULL, known);
    symbol->next = symbols;
    symbols = symbol;
  }
  if (size != NULL) *size = symbol->size;
  if (address != NULL) *address = symbol_memory(symbol);
  return ended(OK);
}

API int cuLibraryGetGlobal(void **address, size_t *size, struct image *library, const char *name) {
  return cuModuleGetGlobal_v2(address, size, library, name);
}

/* Functions */

API int cuFuncGetAttribute(int *value, int attribute, struct kernel *kernel) {
  enter();
  *value = function_attribute(kernel, attribute);
  return ended(OK);
}

API int cuFuncSetAttribute(struct kernel *kernel, int attribute, int value) {
  enter();
  return ended(set_function_attribute(kernel, attribute, value));
}

API int cuKernelGetAttribute(int *value, int attribute, struct kernel *kernel, int number) {
  (void)number;
  return cuFuncGetAttribute(value, attribute, kernel);
}

API int cuKernelSetAttribute(int attribute, int value, struct kernel *kernel, int number) {
  (void)number;
  return cuFuncSetAttribute(kernel, attribute, value);
}

API int cuFuncSetCacheConfig(struct kernel *kernel, int configuration) {
  (void)kernel, (void)configuration;
  return OK;
}

API int cuFuncSetSharedMemConfig(struct kernel *kernel, int configuration) { return cuFuncSetCacheConfig(kernel, configuration); }

API int cuFuncGetName(const char **name, struct kernel *kernel) {
  *name = kernel->name;
  return OK;
}

API int cuKernelGetName(const char **name, struct kernel *kernel) { return cuFuncGetName(name, kernel); }

API int cuFuncGetModule(struct image **module, struct kernel *kernel) {
  *module = kernel->image;
  return OK;
}

API int cuKernelGetLibrary(struct image **library, struct kernel *kernel) { return cuFuncGetModule(library, kernel); }

API int cuFuncIsLoaded(int *state, struct kernel *kernel) {
  (void)kernel;
  *state = 1;
  return OK;
}

API int cuFuncLoad(struct kernel *kernel) {
  (void)kernel;
  return OK;
}

API int cuFuncGetParamInfo(struct kernel *kernel, size_t index, size_t *offset, size_t *size) {
  if (index >= kernel->count) return INVALID_VALUE;
  *offset = kernel->parameters[index].offset;
  if (size != NULL) *size = kernel->parameters[index].size;
  return OK;
}

API int cuKernelGetParamInfo(struct kernel *kernel, size_t index, size_t *offset, size_t *size) {
  return cuFuncGetParamInfo(kernel, index, offset, size);
}

API int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, struct kernel *kernel, int threads, size_t shared) {
  enter();
  if (threads < 1) return ended(INVALID_VALUE);
  *blocks = resident(kernel, (unsigned)threads, shared);
  return ended(OK);
}

API int cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, struct kernel *kernel, int threads, size_t shared, unsigned flags) {
  (void)flags;
  return cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, kernel, threads, shared);
}

API int cuOccupancyMaxPotentialBlockSizeWithFlags(int *grid, int *block, struct kernel *kernel, size_t (*shared_of)(int), size_t shared, int limit,
                                                  unsigned flags) {
  /* The block size with the most resident threads, the largest one on ties. */
  (void)flags;
  enter();
  int most = limit > 0 && limit < (int)kernel->threads ? limit : (int)kernel->threads, best = 0;
  for (int threads = most / 32 * 32; threads > 0; threads -= 32) {
    int blocks = resident(kernel, (unsigned)threads, shared_of != NULL ? shared_of(threads) : shared);
    if (blocks * threads > best) {
      best = blocks * threads;
      *block = threads;
      *grid = blocks * (int)device()->sms;
    }
  }
  return ended(best ? OK : OUT_OF_RESOURCES);
}

API int cuOccupancyMaxPotentialBlockSize(int *grid, int *block, struct kernel *kernel, size_t (*shared_of)(int), size_t shared, int limit) {
  return cuOccupancyMaxPotentialBlockSizeWithFlags(grid, block, kernel, shared_of, shared, limit, 0);
}

/* Launches */

static int packed(struct launch *launch, void **extra) {
  /* Pairs of key and value: 1 the packed arguments, 2 their size, 0 the end. */
  for (; extra != NULL && (uintptr_t)*extra != 0; extra += 2) {
    if ((uintptr_t)*extra == 1) launch->packed = extra[1];
    if ((uintptr_t)*extra == 2) launch->packed_size = *(size_t *)extra[1];
  }
  return OK;
}

static int launched(struct launch *launch, void *stream, void **extra) {
  if (launch->kernel == NULL) return ended(INVALID_HANDLE);
  if (launch->arguments == NULL) packed(launch, extra);
  return ended(launch_on(launch, stream));
}

API int cuLaunchKernel(struct kernel *kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,
                       void *stream, void **arguments, void **extra) {
  struct launch launch = {.kernel = kernel, .grid = {gx, gy, gz}, .block = {bx, by, bz}, .shared = shared, .arguments = arguments};
  enter();
  return launched(&launch, stream, extra);
}

API int cuLaunchCooperativeKernel(struct kernel *kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                                  unsigned shared, void *stream, void **arguments) {
  struct launch launch = {
      .kernel = kernel, .grid = {gx, gy, gz}, .block = {bx, by, bz}, .shared = shared, .arguments = arguments, .manner = {.cooperative = 1}};
  enter();
  return launched(&launch, stream, NULL);
}

struct configuration {
  dim3 grid, block;
  unsigned shared;
  void *stream;
  struct attribute *attributes;
  unsigned count;
};

static struct launch configured(const struct configuration *config, struct kernel *kernel) {
  struct launch launch = {.kernel = kernel, .grid = config->grid, .block = config->block, .shared = config->shared};
  set_attributes(&launch, config->attributes, config->count, config->stream);
  return launch;
}

API int cuLaunchKernelEx(const struct configuration *config, struct kernel *kernel, void **arguments, void **extra) {
  enter();
  struct launch launch = configured(config, kernel);
  launch.arguments = arguments;
  return launched(&launch, config->stream, extra);
}

API int cuOccupancyMaxActiveClusters(int *clusters, struct kernel *kernel, const struct configuration *config) {
  enter();
  struct launch launch = configured(config, kernel);
  return ended(active_clusters(&launch, clusters));
}

API int cuOccupancyMaxPotentialClusterSize(int *blocks, struct kernel *kernel, const struct configuration *config) {
  enter();
  struct launch launch = configured(config, kernel);
  return ended(potential_cluster(&launch, blocks));
}
