/* Work in program order: done immediately, or captured in a graph and done when the graph is launched. */
#define _GNU_SOURCE
#include "core.h"

#include <stdlib.h>
#include <string.h>

static struct stream standard;
static unsigned streams;
static double now;
static uint64_t graphs;

struct stream *stream_of(void *handle) {
  /* The handles 0, 1 and 2 denote the default stream: legacy, or per thread. */
  return (uintptr_t)handle <= 2 ? &standard : handle;
}

struct stream *new_stream(unsigned flags, int priority) {
  struct stream *stream = checked_allocation(calloc(1, sizeof *stream));
  stream->number = ++streams;
  stream->flags = flags;
  stream->priority = priority;
  return stream;
}

double tick(void) { return now += 0.001; } /* milliseconds: consecutive events are a microsecond apart */

/* The message of a launch, as decoded by `protocol.launch`. */
struct head {
  uint64_t image;
  dim3 grid, block;
  struct manner manner;
  uint32_t shared, stream, known, count, name;
};

static int argument(const struct launch *launch, uint32_t index, const struct parameter *parameter, const char **at) {
  if (launch->packed != NULL) {
    *at = (const char *)launch->packed + parameter->offset;
    return (size_t)parameter->offset + parameter->size <= launch->packed_size;
  }
  *at = launch->arguments == NULL ? NULL : launch->arguments[index];
  return *at != NULL;
}

int make_launch(const struct launch *given, unsigned stream, struct operation *operation) {
  struct launch complete = *given, *launch = &complete;
  struct kernel *kernel = launch->kernel;
  int known = load_facts(kernel);
  if (launch->manner.cluster.x == 0) launch->manner.cluster = kernel->cluster;
  if (launch->manner.carveout == 0) launch->manner.carveout = (uint32_t)(kernel->carveout + 1);
  int why = refused(launch);
  if (why != OK) return why;
  size_t name = strlen(kernel->name), size = sizeof(struct head) + name;
  for (uint32_t i = 0; known && i < kernel->count; i++) size += 8 + kernel->parameters[i].size;
  char *frame = checked_allocation(malloc(size)), *at = frame + sizeof(struct head);
  struct head head = {
      kernel->image->id,
      launch->grid,
      launch->block,
      launch->manner,
      (uint32_t)launch->shared,
      stream,
      (uint32_t)known,
      known ? kernel->count : 0,
      (uint32_t)name,
  };
  memcpy(frame, &head, sizeof head);
  memcpy(at, kernel->name, name);
  at += name;
  for (uint32_t i = 0; known && i < kernel->count; i++) {
    const char *value;
    if (!argument(launch, i, &kernel->parameters[i], &value)) {
      free(frame);
      return INVALID_VALUE;
    }
    memcpy(at, &kernel->parameters[i], 8);
    memcpy(at + 8, value, kernel->parameters[i].size);
    at += 8 + kernel->parameters[i].size;
  }
  memset(operation, 0, sizeof *operation);
  operation->kind = LAUNCH;
  operation->frame = frame;
  operation->kernel = kernel;
  operation->size = size;
  return OK;
}

const struct manner *manner_of(const struct operation *operation) {
  /* How a launch is made; NULL for other work. */
  return operation->kind == LAUNCH ? &((const struct head *)operation->frame)->manner : NULL;
}

int set_manner(struct operation *operation, const struct manner *manner) {
  struct head *head = (struct head *)operation->frame;
  int why = refused_cluster(operation->kernel, head->grid, manner);
  if (why == OK) head->manner = *manner;
  return why;
}

void record_event(struct event *event, void *stream) {
  event->time = tick();
  event->recorded = 1;
  event->capture = stream_of(stream)->capture;
}

static void perform(const struct operation *operation) {
  const struct copy *copy = &operation->copy;
  const struct fill *fill = &operation->fill;
  switch (operation->kind) {
    case EMPTY:
      break;
    case LAUNCH:
      send_image(operation->kernel->image); /* a forked process has sent no images */
      send_message('L', operation->frame, operation->size, "", 0);
      break;
    case COPY:
      report_copy(copy);
      for (size_t z = 0; z < copy->depth; z++)
        for (size_t y = 0; y < copy->height; y++)
          memmove(copy->target + z * copy->target_slice + y * copy->target_pitch, copy->source + z * copy->source_slice + y * copy->source_pitch,
                  copy->width);
      break;
    case FILL:
      report_fill(fill);
      for (size_t y = 0; y < fill->height; y++) {
        char *row = fill->target + y * fill->pitch;
        if (fill->element == 1)
          memset(row, (int)fill->value, fill->width);
        else
          for (size_t x = 0; x < fill->width; x++) memcpy(row + x * fill->element, &fill->value, fill->element);
      }
      break;
    case HOST_CALL:
      operation->host.function(operation->host.data);
      break;
    case CHILD:
      run_graph(operation->child);
      break;
  }
}

int run_or_capture(const struct operation *operation, void *handle) {
  struct stream *stream = stream_of(handle);
  if (stream->capture != NULL) {
    struct graph *graph = stream->capture;
    /* Work is captured in program order: a chain, which is one of the orders that the streams allow. */
    struct node *before = graph->count ? graph->nodes[graph->count - 1] : NULL;
    add_node(graph, operation, &before, before != NULL);
    return OK;
  }
  perform(operation);
  if (operation->kind == LAUNCH) free(operation->frame);
  return OK;
}

int launch_on(const struct launch *launch, void *stream) {
  struct operation operation;
  int why = make_launch(launch, stream_of(stream)->number, &operation);
  return why == OK ? run_or_capture(&operation, stream) : why;
}

int copy_on(void *target, const void *source, size_t size, void *stream) {
  if (size && (target == NULL || source == NULL)) return INVALID_VALUE;
  struct operation operation = {.kind = COPY, .copy = {target, source, 0, 0, 0, 0, size, 1, 1}};
  return run_or_capture(&operation, stream);
}

int fill_on(void *target, int value, size_t size, void *stream) {
  if (size && target == NULL) return INVALID_VALUE;
  struct operation operation = {.kind = FILL, .fill = {target, 0, size, 1, (uint32_t)value & 0xff, 1}};
  return run_or_capture(&operation, stream);
}

struct graph *new_graph(void) {
  struct graph *graph = checked_allocation(calloc(1, sizeof *graph));
  graph->id = ++graphs;
  return graph;
}

void add_dependency(struct node *node, struct node *before) {
  node->dependencies = checked_allocation(realloc(node->dependencies, (node->count + 1) * sizeof(struct node *)));
  node->dependencies[node->count++] = before;
}

struct node *add_node(struct graph *graph, const struct operation *operation, struct node *const *dependencies, size_t count) {
  struct node *node = checked_allocation(calloc(1, sizeof *node));
  node->graph = graph;
  node->operation = *operation;
  node->enabled = 1;
  for (size_t i = 0; i < count; i++) add_dependency(node, dependencies[i]);
  graph->nodes = checked_allocation(realloc(graph->nodes, (graph->count + 1) * sizeof(struct node *)));
  graph->nodes[graph->count++] = node;
  return node;
}

struct graph *copy_graph(struct graph *graph) {
  struct graph *copy = new_graph();
  for (size_t i = 0; i < graph->count; i++) {
    struct node *node = graph->nodes[i];
    struct operation operation = node->operation;
    if (operation.kind == LAUNCH) {
      operation.frame = checked_allocation(malloc(operation.size));
      memcpy(operation.frame, node->operation.frame, operation.size);
    }
    if (operation.kind == CHILD) operation.child = copy_graph(operation.child);
    node->copied = add_node(copy, &operation, NULL, 0);
    node->copied->enabled = node->enabled;
  }
  for (size_t i = 0; i < graph->count; i++)
    for (size_t j = 0; j < graph->nodes[i]->count; j++) add_dependency(graph->nodes[i]->copied, graph->nodes[i]->dependencies[j]->copied);
  return copy;
}

static int ready(const struct node *node) {
  for (size_t i = 0; i < node->count; i++)
    if (!node->dependencies[i]->done) return 0;
  return 1;
}

void run_graph(struct graph *graph) {
  /* In the order of creation, as far as dependencies allow. */
  for (size_t i = 0; i < graph->count; i++) graph->nodes[i]->done = 0;
  for (int moved = 1; moved;) {
    moved = 0;
    for (size_t i = 0; i < graph->count; i++) {
      struct node *node = graph->nodes[i];
      if (node->done || !ready(node)) continue;
      if (node->enabled) perform(&node->operation);
      node->done = moved = 1;
    }
  }
}

void begin_capture(void *stream, struct graph *graph) { stream_of(stream)->capture = graph; }

struct graph *end_capture(void *handle) {
  struct stream *stream = stream_of(handle);
  struct graph *graph = stream->capture;
  stream->capture = NULL;
  return graph;
}
