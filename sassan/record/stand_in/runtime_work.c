/* The CUDA runtime: streams, events and graphs. */
#include "runtime.h"

#include <stdlib.h>
#include <string.h>

API int cudaStreamCreateWithPriority(struct stream **out, unsigned flags, int priority) {
  enter();
  *out = new_stream(flags, priority);
  return done(OK);
}

API int cudaStreamCreateWithFlags(struct stream **out, unsigned flags) { return cudaStreamCreateWithPriority(out, flags, 0); }

API int cudaStreamCreate(struct stream **out) { return cudaStreamCreateWithPriority(out, 0, 0); }

API int cudaStreamDestroy(struct stream *stream) {
  (void)stream; /* not freed: an event or a graph may still refer to it */
  return OK;
}

API int cudaStreamSynchronize(void *stream) {
  (void)stream;
  return OK;
}

API int cudaStreamQuery(void *stream) {
  (void)stream;
  return OK;
}

API int cudaStreamGetFlags(void *stream, unsigned *flags) {
  *flags = stream_of(stream)->flags;
  return OK;
}

API int cudaStreamGetPriority(void *stream, int *priority) {
  *priority = stream_of(stream)->priority;
  return OK;
}

API int cudaStreamGetId(void *stream, unsigned long long *id) {
  *id = stream_of(stream)->number;
  return OK;
}

API int cudaStreamGetDevice(void *stream, int *number) {
  (void)stream;
  *number = 0;
  return OK;
}

API int cudaStreamSetAttribute(void *stream, int attribute, const void *value) {
  (void)stream, (void)attribute, (void)value;
  return OK;
}

API int cudaStreamAttachMemAsync(void *stream, void *start, size_t size, unsigned flags) {
  (void)stream, (void)start, (void)size, (void)flags;
  return OK;
}

API int cudaStreamWaitEvent(void *stream, struct event *event, unsigned flags) {
  (void)flags;
  enter();
  if (event != NULL && event->capture != NULL) begin_capture(stream, event->capture);
  return done(OK);
}

API int cudaLaunchHostFunc(void *stream, void (*function)(void *), void *data) {
  enter();
  struct operation operation = {.kind = HOST_CALL, .host = {function, data}};
  return done(run_or_capture(&operation, stream));
}

API int cudaStreamAddCallback(void *stream, void (*function)(void *, int, void *), void *data, unsigned flags) {
  (void)flags;
  function(stream, OK, data);
  return OK;
}

/* Events */

API int cudaEventCreateWithFlags(struct event **out, unsigned flags) {
  (void)flags;
  *out = checked_allocation(calloc(1, sizeof **out));
  return OK;
}

API int cudaEventCreate(struct event **out) { return cudaEventCreateWithFlags(out, 0); }

API int cudaEventDestroy(struct event *event) {
  free(event);
  return OK;
}

API int cudaEventRecord(struct event *event, void *stream) {
  enter();
  if (event == NULL) return done(INVALID_HANDLE);
  record_event(event, stream);
  return done(OK);
}

API int cudaEventRecordWithFlags(struct event *event, void *stream, unsigned flags) {
  (void)flags;
  return cudaEventRecord(event, stream);
}

API int cudaEventSynchronize(struct event *event) {
  (void)event;
  return OK;
}

API int cudaEventQuery(struct event *event) {
  (void)event;
  return OK;
}

API int cudaEventElapsedTime(float *milliseconds, const struct event *first, const struct event *second) {
  enter();
  if (first == NULL || second == NULL || !first->recorded || !second->recorded) return done(INVALID_HANDLE);
  *milliseconds = (float)(second->time - first->time);
  return done(OK);
}

API int cudaEventElapsedTime_v2(float *milliseconds, const struct event *first, const struct event *second) {
  return cudaEventElapsedTime(milliseconds, first, second);
}

/* Graphs */

API int cudaStreamBeginCapture(void *stream, int mode) {
  (void)mode;
  enter();
  if (stream_of(stream)->capture != NULL) return done(INVALID_VALUE);
  begin_capture(stream, new_graph());
  return done(OK);
}

API int cudaStreamBeginCaptureToGraph(void *stream, struct graph *graph, void *nodes, void *edges, size_t count, int mode) {
  (void)nodes, (void)edges, (void)count, (void)mode;
  enter();
  begin_capture(stream, graph);
  return done(OK);
}

API int cudaStreamEndCapture(void *stream, struct graph **graph) {
  enter();
  *graph = end_capture(stream);
  return done(*graph == NULL ? 901 : OK); /* the stream was not captured */
}

API int cudaStreamIsCapturing(void *stream, int *status) {
  enter();
  *status = stream_of(stream)->capture != NULL;
  return done(OK);
}

API int cudaThreadExchangeStreamCaptureMode(int *mode) {
  (void)mode;
  return OK;
}

/* The status and the id of the capture are the first outputs in every version; further outputs are not supported. */
API int cudaStreamGetCaptureInfo_v2(void *stream, int *status, unsigned long long *id, void *graph, void *nodes, void *count) {
  enter();
  struct graph *capture = stream_of(stream)->capture;
  *status = capture != NULL;
  if (id != NULL) *id = capture == NULL ? 0 : capture->id;
  if (nodes != NULL || count != NULL) {
    leave();
    return missing("cudaStreamGetCaptureInfo");
  }
  if (graph != NULL) *(struct graph **)graph = capture;
  return done(OK);
}

API int cudaGraphCreate(struct graph **graph, unsigned flags) {
  (void)flags;
  enter();
  *graph = new_graph();
  return done(OK);
}

API int cudaGraphDestroy(struct graph *graph) {
  (void)graph; /* a child of another graph may be the same */
  return OK;
}

API int cudaGraphClone(struct graph **copy, struct graph *graph) {
  enter();
  *copy = copy_graph(graph);
  return done(OK);
}

API int cudaGraphInstantiateWithFlags(struct graph **executable, struct graph *graph, unsigned long long flags) {
  (void)flags;
  return cudaGraphClone(executable, graph);
}

/* Up to CUDA 11 the last three arguments are error outputs; the graph is the second argument in every version. */
API int cudaGraphInstantiate(struct graph **executable, struct graph *graph) { return cudaGraphClone(executable, graph); }

API int cudaGraphInstantiateWithParams(struct graph **executable, struct graph *graph, void *parameters) {
  (void)parameters;
  return cudaGraphClone(executable, graph);
}

API int cudaGraphExecDestroy(struct graph *executable) {
  (void)executable;
  return OK;
}

API int cudaGraphUpload(struct graph *executable, void *stream) {
  (void)executable, (void)stream;
  return OK;
}

API int cudaGraphLaunch(struct graph *executable, void *stream) {
  enter();
  if (executable == NULL) return done(INVALID_VALUE);
  struct stream *on = stream_of(stream);
  if (on->capture != NULL) {
    struct operation operation = {.kind = CHILD, .child = executable};
    return done(run_or_capture(&operation, stream));
  }
  run_graph(executable);
  return done(OK);
}

API int cudaGraphGetNodes(struct graph *graph, struct node **nodes, size_t *count) {
  enter();
  if (nodes == NULL) {
    *count = graph->count;
  } else {
    if (*count > graph->count) *count = graph->count;
    memcpy(nodes, graph->nodes, *count * sizeof *nodes);
  }
  return done(OK);
}

API int cudaGraphNodeGetType(struct node *node, int *type) {
  static const int types[] = {5, 0, 1, 2, 3, 4};
  *type = types[node->operation.kind];
  return OK;
}

API int cudaGraphAddDependencies(struct graph *graph, struct node *const *from, struct node *const *to, const void *edges_or_count, size_t count) {
  /* Since CUDA 13 the edge data precede the count; earlier versions have none. */
  (void)graph;
  enter();
  size_t number = device()->runtime_version >= 13000 ? count : (size_t)(uintptr_t)edges_or_count;
  for (size_t i = 0; i < number; i++) add_dependency(to[i], from[i]);
  return done(OK);
}

struct kernel_node {
  void *function;
  dim3 grid, block;
  unsigned shared;
  void **arguments, **extra;
};

static int kernel_operation(const struct kernel_node *parameters, struct operation *operation, const struct manner *manner) {
  struct launch launch = {.kernel = kernel_named(parameters->function), .grid = parameters->grid, .block = parameters->block, .shared = parameters->shared,
                          .arguments = parameters->arguments};
  if (launch.kernel == NULL) return INVALID_DEVICE_FUNCTION;
  if (manner != NULL) launch.manner = *manner;
  return parameters->arguments == NULL && parameters->extra != NULL ? NOT_SUPPORTED : make_launch(&launch, 0, operation);
}

API int cudaGraphAddKernelNode(struct node **node, struct graph *graph, struct node *const *before, size_t count, const struct kernel_node *parameters) {
  struct operation operation;
  enter();
  int status = kernel_operation(parameters, &operation, NULL);
  if (status == OK) *node = add_node(graph, &operation, before, count);
  return done(status);
}

static int change(struct operation *operation, const struct kernel_node *parameters) {
  /* Another kernel, shape or arguments; how it is launched stays as it is. */
  struct operation changed;
  if (manner_of(operation) == NULL) return INVALID_VALUE;
  struct manner manner = *manner_of(operation);
  if (memcmp(&manner.cluster, &operation->kernel->cluster, sizeof manner.cluster) == 0) manner.cluster.x = 0; /* required, not asked for */
  int status = kernel_operation(parameters, &changed, &manner);
  if (status != OK) return status;
  free(operation->frame);
  *operation = changed;
  return OK;
}

API int cudaGraphKernelNodeSetParams(struct node *node, const struct kernel_node *parameters) {
  enter();
  return done(change(&node->operation, parameters));
}

API int cudaGraphExecKernelNodeSetParams(struct graph *executable, struct node *node, const struct kernel_node *parameters) {
  /* The node belongs to the graph; its copy is in the executable instantiated last. */
  enter();
  struct node *copy = node->copied;
  if (copy == NULL || copy->graph != executable) {
    leave();
    return missing("cudaGraphExecKernelNodeSetParams");
  }
  return done(change(&copy->operation, parameters));
}

API int cudaGraphKernelNodeSetAttribute(struct node *node, int id, const union attribute_value *value) {
  enter();
  if (manner_of(&node->operation) == NULL || value == NULL) return done(INVALID_VALUE);
  struct manner manner = *manner_of(&node->operation);
  set_attribute(&manner, id, value);
  return done(set_manner(&node->operation, &manner));
}

API int cudaGraphKernelNodeGetAttribute(struct node *node, int id, union attribute_value *value) {
  enter();
  const struct manner *manner = manner_of(&node->operation);
  if (manner == NULL || value == NULL) return done(INVALID_VALUE);
  get_attribute(manner, id, value);
  return done(OK);
}

API int cudaGraphKernelNodeCopyAttributes(struct node *target, struct node *source) {
  enter();
  if (manner_of(&target->operation) == NULL || manner_of(&source->operation) == NULL) return done(INVALID_VALUE);
  return done(set_manner(&target->operation, manner_of(&source->operation)));
}

API int cudaGraphExecUpdate(struct graph *executable, struct graph *graph, void *a, void *b) {
  (void)a, (void)b; /* error outputs in every version, unused because it succeeds */
  enter();
  struct graph *copy = copy_graph(graph);
  executable->nodes = copy->nodes;
  executable->count = copy->count;
  if (b == NULL && a != NULL && device()->runtime_version >= 12000) memset(a, 0, 4);
  return done(OK);
}

API int cudaGraphAddMemcpyNode(struct node **node, struct graph *graph, struct node *const *before, size_t count,
                               const struct copy_parameters *parameters) {
  enter();
  struct operation operation = copy_of(parameters);
  *node = add_node(graph, &operation, before, count);
  return done(OK);
}

API int cudaGraphAddMemcpyNode1D(struct node **node, struct graph *graph, struct node *const *before, size_t count, void *target,
                                 const void *source, size_t size, int kind) {
  (void)kind;
  enter();
  struct operation operation = {.kind = COPY, .copy = {target, source, 0, 0, 0, 0, size, 1, 1}};
  *node = add_node(graph, &operation, before, count);
  return done(OK);
}

struct fill_node {
  void *target;
  size_t pitch;
  unsigned value, element;
  size_t width, height;
};

API int cudaGraphAddMemsetNode(struct node **node, struct graph *graph, struct node *const *before, size_t count, const struct fill_node *parameters) {
  enter();
  struct operation operation = {.kind = FILL, .fill = {parameters->target, parameters->pitch, parameters->width, parameters->height, parameters->value, parameters->element}};
  *node = add_node(graph, &operation, before, count);
  return done(parameters->element == 1 || parameters->element == 2 || parameters->element == 4 ? OK : INVALID_VALUE);
}

API int cudaGraphAddHostNode(struct node **node, struct graph *graph, struct node *const *before, size_t count, const struct host_call *parameters) {
  enter();
  struct operation operation = {.kind = HOST_CALL, .host = *parameters};
  *node = add_node(graph, &operation, before, count);
  return done(OK);
}

API int cudaGraphAddEmptyNode(struct node **node, struct graph *graph, struct node *const *before, size_t count) {
  enter();
  struct operation operation = {.kind = EMPTY};
  *node = add_node(graph, &operation, before, count);
  return done(OK);
}

API int cudaGraphAddChildGraphNode(struct node **node, struct graph *graph, struct node *const *before, size_t count, struct graph *child) {
  enter();
  struct operation operation = {.kind = CHILD, .child = copy_graph(child)};
  *node = add_node(graph, &operation, before, count);
  return done(OK);
}
