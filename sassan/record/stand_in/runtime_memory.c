/* The CUDA runtime: memory, copies, symbols, arrays, textures. */
#include "runtime.h"

#include <stdlib.h>
#include <string.h>

#define PITCH ((size_t)512)

static int allocated(void **out, size_t size, enum memory_kind kind) {
  if (out == NULL) return done(INVALID_VALUE);
  if (!connected()) return done(NO_DEVICE);
  *out = size ? allocate(size, kind) : NULL;
  return done(size && *out == NULL ? OUT_OF_MEMORY : OK);
}

API int cudaMalloc(void **out, size_t size) {
  enter();
  return allocated(out, size, DEVICE_MEMORY);
}

API int cudaMallocAsync(void **out, size_t size, void *stream) {
  (void)stream;
  return cudaMalloc(out, size);
}

API int cudaMallocFromPoolAsync(void **out, size_t size, void *pool, void *stream) {
  (void)pool, (void)stream;
  return cudaMalloc(out, size);
}

API int cudaMallocManaged(void **out, size_t size, unsigned flags) {
  (void)flags;
  enter();
  return allocated(out, size, MANAGED_MEMORY);
}

API int cudaHostAlloc(void **out, size_t size, unsigned flags) {
  (void)flags;
  enter();
  return allocated(out, size, HOST_MEMORY);
}

API int cudaMallocHost(void **out, size_t size) { return cudaHostAlloc(out, size, 0); }

API int cudaMallocPitch(void **out, size_t *pitch, size_t width, size_t height) {
  enter();
  *pitch = (width + PITCH - 1) / PITCH * PITCH;
  return allocated(out, *pitch * height, DEVICE_MEMORY);
}

API int cudaMalloc3D(struct pitched *out, struct extent extent) {
  enter();
  out->pitch = (extent.width + PITCH - 1) / PITCH * PITCH;
  out->width = extent.width;
  out->height = extent.height;
  return allocated(&out->start, out->pitch * extent.height * extent.depth, DEVICE_MEMORY);
}

API int cudaFree(void *start) {
  enter();
  if (!connected()) return done(NO_DEVICE);
  return done(start == NULL ? OK : release(start));
}

API int cudaFreeAsync(void *start, void *stream) {
  (void)stream;
  return cudaFree(start);
}

API int cudaFreeHost(void *start) { return cudaFree(start); }

API int cudaHostRegister(void *start, size_t size, unsigned flags) {
  (void)flags;
  enter();
  stop_reporting();
  leave();
  return start == NULL || !size ? INVALID_VALUE : OK;
}

API int cudaHostUnregister(void *start) { return start == NULL ? INVALID_VALUE : OK; }

API int cudaHostGetDevicePointer(void **out, void *host, unsigned flags) {
  (void)flags;
  *out = host;
  return OK;
}

API int cudaHostGetFlags(unsigned *flags, void *host) {
  (void)host;
  *flags = 0;
  return OK;
}

API int cudaMemGetInfo(size_t *available, size_t *total) {
  enter();
  *total = device()->memory;
  *available = *total - memory_in_use();
  return done(connected() ? OK : NO_DEVICE);
}

struct pointer_attributes {
  int kind, device;
  void *on_device, *on_host;
};

API int cudaPointerGetAttributes(struct pointer_attributes *out, const void *address) {
  static const int kinds[] = {2, 3, 1, 2};
  enter();
  const struct block *block = block_of(address);
  out->kind = block == NULL ? 0 : kinds[block->kind];
  out->device = 0;
  out->on_device = block == NULL ? NULL : (void *)(uintptr_t)address;
  out->on_host = block == NULL || out->kind == 2 ? NULL : (void *)(uintptr_t)address;
  return done(OK);
}

API int cudaMemAdvise(const void *start, size_t size, int advice, int where) {
  (void)start, (void)size, (void)advice, (void)where;
  return OK;
}

API int cudaMemPrefetchAsync(const void *start, size_t size, int where, void *stream) {
  (void)start, (void)size, (void)where, (void)stream;
  return OK;
}

API int cudaMemcpyAsync(void *target, const void *source, size_t size, int kind, void *stream) {
  (void)kind;
  enter();
  return done(copy_on(target, source, size, stream));
}

API int cudaMemcpy(void *target, const void *source, size_t size, int kind) { return cudaMemcpyAsync(target, source, size, kind, NULL); }

API int cudaMemcpyPeerAsync(void *target, int to, const void *source, int from, size_t size, void *stream) {
  (void)to, (void)from;
  return cudaMemcpyAsync(target, source, size, 0, stream);
}

API int cudaMemcpyPeer(void *target, int to, const void *source, int from, size_t size) {
  return cudaMemcpyPeerAsync(target, to, source, from, size, NULL);
}

API int cudaMemcpy2DAsync(void *target, size_t target_pitch, const void *source, size_t source_pitch, size_t width, size_t height, int kind,
                          void *stream) {
  (void)kind;
  enter();
  if (width && height && (target == NULL || source == NULL || width > target_pitch || width > source_pitch)) return done(INVALID_VALUE);
  struct operation operation = {.kind = COPY, .copy = {target, source, target_pitch, 0, source_pitch, 0, width, height, 1}};
  return done(run_or_capture(&operation, stream));
}

API int cudaMemcpy2D(void *target, size_t target_pitch, const void *source, size_t source_pitch, size_t width, size_t height, int kind) {
  return cudaMemcpy2DAsync(target, target_pitch, source, source_pitch, width, height, kind, NULL);
}

API int cudaMemsetAsync(void *target, int value, size_t size, void *stream) {
  enter();
  return done(fill_on(target, value, size, stream));
}

API int cudaMemset(void *target, int value, size_t size) { return cudaMemsetAsync(target, value, size, NULL); }

API int cudaMemset2DAsync(void *target, size_t pitch, int value, size_t width, size_t height, void *stream) {
  enter();
  struct operation operation = {.kind = FILL, .fill = {target, pitch, width, height, (uint32_t)value & 0xff, 1}};
  return done(run_or_capture(&operation, stream));
}

API int cudaMemset2D(void *target, size_t pitch, int value, size_t width, size_t height) {
  return cudaMemset2DAsync(target, pitch, value, width, height, NULL);
}

API int cudaMemset3DAsync(struct pitched target, int value, struct extent extent, void *stream) {
  return cudaMemset2DAsync(target.start, target.pitch, value, extent.width, extent.height * extent.depth, stream);
}

API int cudaMemset3D(struct pitched target, int value, struct extent extent) { return cudaMemset3DAsync(target, value, extent, NULL); }

/* Symbols */

static char *symbol_at(const void *host) {
  struct symbol *symbol = symbol_of(host);
  return symbol == NULL ? NULL : symbol_memory(symbol);
}

API int cudaMemcpyToSymbolAsync(const void *host, const void *source, size_t size, size_t offset, int kind, void *stream) {
  (void)kind;
  enter();
  char *target = symbol_at(host);
  if (target == NULL) return done(INVALID_SYMBOL);
  if (offset > symbol_of(host)->size || size > symbol_of(host)->size - offset) return done(INVALID_VALUE);
  return done(copy_on(target + offset, source, size, stream));
}

API int cudaMemcpyToSymbol(const void *host, const void *source, size_t size, size_t offset, int kind) {
  return cudaMemcpyToSymbolAsync(host, source, size, offset, kind, NULL);
}

API int cudaMemcpyFromSymbolAsync(void *target, const void *host, size_t size, size_t offset, int kind, void *stream) {
  (void)kind;
  enter();
  char *source = symbol_at(host);
  if (source == NULL) return done(INVALID_SYMBOL);
  if (offset > symbol_of(host)->size || size > symbol_of(host)->size - offset) return done(INVALID_VALUE);
  return done(copy_on(target, source + offset, size, stream));
}

API int cudaMemcpyFromSymbol(void *target, const void *host, size_t size, size_t offset, int kind) {
  return cudaMemcpyFromSymbolAsync(target, host, size, offset, kind, NULL);
}

API int cudaGetSymbolAddress(void **out, const void *host) {
  enter();
  *out = symbol_at(host);
  return done(*out == NULL ? INVALID_SYMBOL : OK);
}

API int cudaGetSymbolSize(size_t *size, const void *host) {
  enter();
  struct symbol *symbol = symbol_of(host);
  if (symbol != NULL) *size = symbol->size;
  return done(symbol == NULL ? INVALID_SYMBOL : OK);
}

/* Arrays: contiguous rows. Only kernels read them as textures, and no kernel runs. */

static int array(struct array **out, const int *format, size_t width, size_t height, size_t depth, unsigned flags) {
  struct array *made = checked_allocation(calloc(1, sizeof *made));
  memcpy(made->format, format, sizeof made->format);
  made->element = (size_t)(format[0] + format[1] + format[2] + format[3] + 7) / 8;
  made->width = width;
  made->height = height;
  made->depth = depth;
  made->flags = flags;
  made->pitch = width * made->element;
  made->data = allocate(made->pitch * (height ? height : 1) * (depth ? depth : 1), DEVICE_MEMORY);
  if (made->data == NULL) {
    free(made);
    return done(OUT_OF_MEMORY);
  }
  *out = made;
  return done(OK);
}

API int cudaMallocArray(struct array **out, const int *format, size_t width, size_t height, unsigned flags) {
  enter();
  return array(out, format, width, height, 0, flags);
}

API int cudaMalloc3DArray(struct array **out, const int *format, struct extent extent, unsigned flags) {
  enter();
  return array(out, format, extent.width, extent.height, extent.depth, flags);
}

API int cudaFreeArray(struct array *array) {
  enter();
  if (array != NULL) {
    release(array->data);
    free(array);
  }
  return done(OK);
}

API int cudaArrayGetInfo(int *format, struct extent *extent, unsigned *flags, struct array *array) {
  if (format != NULL) memcpy(format, array->format, sizeof array->format);
  if (extent != NULL) *extent = (struct extent){array->width, array->height, array->depth};
  if (flags != NULL) *flags = array->flags;
  return OK;
}

API int cudaGetChannelDesc(int *format, struct array *array) {
  memcpy(format, array->format, sizeof array->format);
  return OK;
}

struct channel {
  int x, y, z, w, kind;
};

API struct channel cudaCreateChannelDesc(int x, int y, int z, int w, int kind) { return (struct channel){x, y, z, w, kind}; }

struct operation copy_of(const struct copy_parameters *parameters) {
  size_t element = parameters->source_array ? parameters->source_array->element : parameters->target_array ? parameters->target_array->element : 1;
  struct copy copy = {.width = parameters->extent.width * element, .height = parameters->extent.height, .depth = parameters->extent.depth};
  const struct position *to = &parameters->target_position, *from = &parameters->source_position;
  if (parameters->target_array != NULL) {
    copy.target_pitch = parameters->target_array->pitch;
    copy.target_slice = copy.target_pitch * (parameters->target_array->height ? parameters->target_array->height : 1);
    copy.target = parameters->target_array->data + to->z * copy.target_slice + to->y * copy.target_pitch + to->x * element;
  } else {
    copy.target_pitch = parameters->target.pitch;
    copy.target_slice = copy.target_pitch * parameters->target.height;
    copy.target = (char *)parameters->target.start + to->z * copy.target_slice + to->y * copy.target_pitch + to->x;
  }
  if (parameters->source_array != NULL) {
    copy.source_pitch = parameters->source_array->pitch;
    copy.source_slice = copy.source_pitch * (parameters->source_array->height ? parameters->source_array->height : 1);
    copy.source = parameters->source_array->data + from->z * copy.source_slice + from->y * copy.source_pitch + from->x * element;
  } else {
    copy.source_pitch = parameters->source.pitch;
    copy.source_slice = copy.source_pitch * parameters->source.height;
    copy.source = (const char *)parameters->source.start + from->z * copy.source_slice + from->y * copy.source_pitch + from->x;
  }
  return (struct operation){.kind = COPY, .copy = copy};
}

API int cudaMemcpy3DAsync(const struct copy_parameters *parameters, void *stream) {
  enter();
  struct operation operation = copy_of(parameters);
  return done(run_or_capture(&operation, stream));
}

API int cudaMemcpy3D(const struct copy_parameters *parameters) { return cudaMemcpy3DAsync(parameters, NULL); }

API int cudaMemcpy2DToArrayAsync(struct array *array, size_t x, size_t y, const void *source, size_t pitch, size_t width, size_t height, int kind,
                                 void *stream) {
  return cudaMemcpy2DAsync(array->data + y * array->pitch + x, array->pitch, source, pitch, width, height, kind, stream);
}

API int cudaMemcpy2DToArray(struct array *array, size_t x, size_t y, const void *source, size_t pitch, size_t width, size_t height, int kind) {
  return cudaMemcpy2DToArrayAsync(array, x, y, source, pitch, width, height, kind, NULL);
}

API int cudaMemcpy2DFromArrayAsync(void *target, size_t pitch, struct array *array, size_t x, size_t y, size_t width, size_t height, int kind,
                                   void *stream) {
  return cudaMemcpy2DAsync(target, pitch, array->data + y * array->pitch + x, array->pitch, width, height, kind, stream);
}

API int cudaMemcpy2DFromArray(void *target, size_t pitch, struct array *array, size_t x, size_t y, size_t width, size_t height, int kind) {
  return cudaMemcpy2DFromArrayAsync(target, pitch, array, x, y, width, height, kind, NULL);
}

API int cudaMemcpyToArray(struct array *array, size_t x, size_t y, const void *source, size_t size, int kind) {
  return cudaMemcpy(array->data + y * array->pitch + x, source, size, kind);
}

API int cudaMemcpyFromArray(void *target, struct array *array, size_t x, size_t y, size_t size, int kind) {
  return cudaMemcpy(target, array->data + y * array->pitch + x, size, kind);
}

/* Textures and surfaces: handles for kernels. */

static int object(unsigned long long *out) {
  static unsigned long long objects;
  enter();
  *out = ++objects;
  return done(OK);
}

API int cudaCreateTextureObject(unsigned long long *out, const void *a, const void *b, const void *c) {
  (void)a, (void)b, (void)c;
  return object(out);
}

API int cudaCreateTextureObject_v2(unsigned long long *out, const void *a, const void *b, const void *c) {
  return cudaCreateTextureObject(out, a, b, c);
}

API int cudaCreateSurfaceObject(unsigned long long *out, const void *a) {
  (void)a;
  return object(out);
}

API int cudaDestroyTextureObject(unsigned long long object) {
  (void)object;
  return OK;
}

API int cudaDestroySurfaceObject(unsigned long long object) {
  (void)object;
  return OK;
}

API int cudaBindTexture(size_t *offset, const void *texture, const void *start, const void *format, size_t size) {
  (void)texture, (void)start, (void)format, (void)size;
  if (offset != NULL) *offset = 0;
  return OK;
}

API int cudaBindTexture2D(size_t *offset, const void *texture, const void *start, const void *format, size_t width, size_t height, size_t pitch) {
  (void)height, (void)pitch;
  return cudaBindTexture(offset, texture, start, format, width);
}

API int cudaBindTextureToArray(const void *texture, const void *array, const void *format) {
  (void)texture, (void)array, (void)format;
  return OK;
}

API int cudaUnbindTexture(const void *texture) {
  (void)texture;
  return OK;
}
