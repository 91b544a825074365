/* The CUDA driver: memory, streams and events. */
#include "driver.h"

#include <stdlib.h>
#include <string.h>

#define PITCH ((size_t)512)
typedef unsigned long long address;

static int allocated(void **out, size_t size, enum memory_kind kind) {
  if (size == 0) return ended(INVALID_VALUE);
  *out = allocate(size, kind);
  return ended(*out == NULL ? OUT_OF_MEMORY : OK);
}

API int cuMemAlloc_v2(void **out, size_t size) {
  enter();
  return allocated(out, size, DEVICE_MEMORY);
}

API int cuMemAllocAsync(void **out, size_t size, void *stream) {
  (void)stream;
  return cuMemAlloc_v2(out, size);
}

API int cuMemAllocFromPoolAsync(void **out, size_t size, void *pool, void *stream) {
  (void)pool, (void)stream;
  return cuMemAlloc_v2(out, size);
}

API int cuMemAllocManaged(void **out, size_t size, unsigned flags) {
  (void)flags;
  enter();
  return allocated(out, size, MANAGED_MEMORY);
}

API int cuMemHostAlloc(void **out, size_t size, unsigned flags) {
  (void)flags;
  enter();
  return allocated(out, size, HOST_MEMORY);
}

API int cuMemAllocHost_v2(void **out, size_t size) { return cuMemHostAlloc(out, size, 0); }

API int cuMemAllocPitch_v2(void **out, size_t *pitch, size_t width, size_t height, unsigned element) {
  (void)element;
  enter();
  *pitch = (width + PITCH - 1) / PITCH * PITCH;
  return allocated(out, *pitch * height, DEVICE_MEMORY);
}

API int cuMemFree_v2(void *start) {
  enter();
  return ended(start == NULL ? OK : release(start));
}

API int cuMemFreeAsync(void *start, void *stream) {
  (void)stream;
  return cuMemFree_v2(start);
}

API int cuMemFreeHost(void *start) { return cuMemFree_v2(start); }

API int cuMemGetInfo_v2(size_t *available, size_t *total) {
  enter();
  *total = device()->memory;
  *available = *total - memory_in_use();
  return ended(OK);
}

API int cuMemGetAddressRange_v2(const char **start, size_t *size, const void *at) {
  enter();
  const struct block *block = block_of(at);
  if (block == NULL) return ended(NOT_FOUND);
  if (start != NULL) *start = block->start;
  if (size != NULL) *size = block->size;
  return ended(OK);
}

API int cuMemHostGetDevicePointer_v2(void **out, void *host, unsigned flags) {
  (void)flags;
  *out = host;
  return OK;
}

API int cuMemHostRegister_v2(void *start, size_t size, unsigned flags) {
  (void)flags;
  enter();
  stop_reporting();
  leave();
  return start == NULL || !size ? INVALID_VALUE : OK;
}

API int cuMemHostUnregister(void *start) { return start == NULL ? INVALID_VALUE : OK; }

API int cuPointerGetAttribute(void *out, int attribute, address at) {
  static const int kinds[] = {2, 2, 1, 2};
  enter();
  const struct block *block = block_of((void *)(uintptr_t)at);
  if (block == NULL) return ended(INVALID_VALUE);
  switch (attribute) {
    case 2: *(int *)out = kinds[block->kind]; break;
    case 3: case 4: *(address *)out = at; break;
    case 8: *(int *)out = block->kind == MANAGED_MEMORY; break;
    case 9: *(int *)out = 0; break;
    case 11: *(char **)out = block->start; break;
    case 12: *(size_t *)out = block->size; break;
    default: return ended(NOT_SUPPORTED);
  }
  return ended(OK);
}

API int cuMemcpyAsync(void *target, const void *source, size_t size, void *stream) {
  enter();
  return ended(copy_on(target, source, size, stream));
}

API int cuMemcpy(void *target, const void *source, size_t size) { return cuMemcpyAsync(target, source, size, NULL); }

#define COPY_AS(name) \
  API int name##_v2(void *target, const void *source, size_t size) { return cuMemcpyAsync(target, source, size, NULL); } \
  API int name##Async_v2(void *target, const void *source, size_t size, void *stream) { return cuMemcpyAsync(target, source, size, stream); }
COPY_AS(cuMemcpyHtoD)
COPY_AS(cuMemcpyDtoH)
COPY_AS(cuMemcpyDtoD)

static int filled(void *target, size_t pitch, uint32_t value, uint32_t element, size_t width, size_t height, void *stream) {
  enter();
  if (width && height && target == NULL) return ended(INVALID_VALUE);
  struct operation operation = {.kind = FILL, .fill = {target, pitch, width, height, value, element}};
  return ended(run_or_capture(&operation, stream));
}

#define FILL_AS(bits, type) \
  API int cuMemsetD##bits##Async(void *target, type value, size_t count, void *stream) { \
    return filled(target, 0, value, bits / 8, count, 1, stream); \
  } \
  API int cuMemsetD##bits##_v2(void *target, type value, size_t count) { return cuMemsetD##bits##Async(target, value, count, NULL); } \
  API int cuMemsetD2D##bits##Async(void *target, size_t pitch, type value, size_t width, size_t height, void *stream) { \
    return filled(target, pitch, value, bits / 8, width, height, stream); \
  } \
  API int cuMemsetD2D##bits##_v2(void *target, size_t pitch, type value, size_t width, size_t height) { \
    return cuMemsetD2D##bits##Async(target, pitch, value, width, height, NULL); \
  }
FILL_AS(8, unsigned char)
FILL_AS(16, unsigned short)
FILL_AS(32, unsigned)

/* Streams and events */

API int cuStreamCreateWithPriority(struct stream **out, unsigned flags, int priority) {
  enter();
  *out = new_stream(flags, priority);
  return ended(OK);
}

API int cuStreamCreate(struct stream **out, unsigned flags) { return cuStreamCreateWithPriority(out, flags, 0); }

#define NOTHING_ON(name) \
  API int name(void *handle) { \
    (void)handle; \
    return OK; \
  }
NOTHING_ON(cuStreamDestroy_v2)
NOTHING_ON(cuStreamSynchronize)
NOTHING_ON(cuStreamQuery)
NOTHING_ON(cuEventSynchronize)
NOTHING_ON(cuEventQuery)
NOTHING_ON(cuGraphDestroy)
NOTHING_ON(cuGraphExecDestroy)

API int cuStreamGetCtx(void *stream, void **context) {
  (void)stream;
  int cuCtxGetCurrent(void **);
  return cuCtxGetCurrent(context);
}

API int cuStreamGetCtx_v2(void *stream, void **context, void **green) {
  if (green != NULL) *green = NULL;
  return cuStreamGetCtx(stream, context);
}

API int cuStreamGetFlags(void *stream, unsigned *flags) {
  *flags = stream_of(stream)->flags;
  return OK;
}

API int cuStreamGetPriority(void *stream, int *priority) {
  *priority = stream_of(stream)->priority;
  return OK;
}

API int cuStreamGetId(void *stream, address *id) {
  *id = stream_of(stream)->number;
  return OK;
}

API int cuStreamWaitEvent(void *stream, struct event *event, unsigned flags) {
  (void)flags;
  enter();
  if (event != NULL && event->capture != NULL) begin_capture(stream, event->capture);
  return ended(OK);
}

API int cuLaunchHostFunc(void *stream, void (*function)(void *), void *data) {
  enter();
  struct operation operation = {.kind = HOST_CALL, .host = {function, data}};
  return ended(run_or_capture(&operation, stream));
}

API int cuStreamAddCallback(void *stream, void (*function)(void *, int, void *), void *data, unsigned flags) {
  (void)flags;
  function(stream, OK, data);
  return OK;
}

API int cuEventCreate(struct event **out, unsigned flags) {
  (void)flags;
  *out = checked_allocation(calloc(1, sizeof **out));
  return OK;
}

API int cuEventDestroy_v2(struct event *event) {
  free(event);
  return OK;
}

API int cuEventRecord(struct event *event, void *stream) {
  enter();
  if (event == NULL) return ended(INVALID_HANDLE);
  record_event(event, stream);
  return ended(OK);
}

API int cuEventRecordWithFlags(struct event *event, void *stream, unsigned flags) {
  (void)flags;
  return cuEventRecord(event, stream);
}

API int cuEventElapsedTime(float *milliseconds, const struct event *first, const struct event *second) {
  enter();
  if (first == NULL || second == NULL || !first->recorded || !second->recorded) return ended(INVALID_HANDLE);
  *milliseconds = (float)(second->time - first->time);
  return ended(OK);
}

API int cuEventElapsedTime_v2(float *milliseconds, const struct event *first, const struct event *second) {
  return cuEventElapsedTime(milliseconds, first, second);
}

API int cuStreamBeginCapture_v2(void *stream, int mode) {
  (void)mode;
  enter();
  if (stream_of(stream)->capture != NULL) return ended(INVALID_VALUE);
  begin_capture(stream, new_graph());
  return ended(OK);
}

API int cuStreamEndCapture(void *stream, struct graph **graph) {
  enter();
  *graph = end_capture(stream);
  return ended(*graph == NULL ? 901 : OK);
}

API int cuStreamIsCapturing(void *stream, int *status) {
  enter();
  *status = stream_of(stream)->capture != NULL;
  return ended(OK);
}

API int cuGraphInstantiateWithFlags(struct graph **executable, struct graph *graph, address flags) {
  (void)flags;
  enter();
  *executable = copy_graph(graph);
  return ended(OK);
}

API int cuGraphLaunch(struct graph *executable, void *stream) {
  enter();
  if (executable == NULL) return ended(INVALID_VALUE);
  struct operation operation = {.kind = CHILD, .child = executable};
  return ended(run_or_capture(&operation, stream));
}
