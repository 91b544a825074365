/* Shared declarations of the stand-in library: the connection to the recorder, memory, kernels, and ordered work.
 *
 * Every entry point of the CUDA runtime and driver holds one lock; all functions here except `unsupported` need it.
 */
#ifndef SASSAN_CORE_H
#define SASSAN_CORE_H

#include <stddef.h>
#include <stdint.h>

#define HIDDEN __attribute__((visibility("hidden")))
#define API __attribute__((visibility("default")))

/* Values common to cudaError_t and CUresult. */
enum status {
  OK = 0,
  INVALID_VALUE = 1,
  OUT_OF_MEMORY = 2,
  INVALID_CONFIGURATION = 9, /* runtime only; the driver returns INVALID_VALUE */
  INVALID_SYMBOL = 13,       /* runtime only */
  INVALID_DEVICE_FUNCTION = 98,
  NO_DEVICE = 100,
  INVALID_DEVICE = 101,
  INVALID_IMAGE = 200,
  NO_BINARY = 209,
  INVALID_HANDLE = 400,
  NOT_FOUND = 500,
  OUT_OF_RESOURCES = 701,
  TOO_MANY_TOGETHER = 720, /* more blocks of a cooperative launch than the device holds */
  NOT_SUPPORTED = 801,
  INVALID_CLUSTER = 912,
};

typedef struct {
  unsigned x, y, z;
} dim3;

/* The simulated device: the answer to the first message. The order is that of `SimulatedDevice.numbers` in devices.py. */
struct device {
  uint64_t major, minor, sms, memory, clock, memory_clock, bus, l2;
  uint64_t shared_sm, shared_block, shared_optin, shared_reserved, threads_sm, blocks_sm, registers_sm, runtime_version, driver_version;
  char name[64];
};

/* core.c */
HIDDEN void enter(void);
HIDDEN void leave(void);
HIDDEN const struct device *device(void);
HIDDEN int connected(void);
HIDDEN unsigned generation(void);
HIDDEN void send_message(char kind, const void *head, size_t head_size, const void *body, size_t body_size);
HIDDEN void *ask(char kind, const void *head, size_t head_size, const void *body, size_t body_size, size_t *size);
HIDDEN int unsupported(const char *name, int status);
HIDDEN void note(const char *text);
HIDDEN void *checked_allocation(void *memory);

/* memory.c */
enum memory_kind { DEVICE_MEMORY, MANAGED_MEMORY, HOST_MEMORY, SYMBOL_MEMORY };
struct block {
  char *start;
  size_t size, capacity;
  enum memory_kind kind;
  int live;
};
HIDDEN void *allocate(size_t size, enum memory_kind kind);
HIDDEN int release(void *start);
HIDDEN const struct block *block_of(const void *address);
HIDDEN size_t memory_in_use(void);

/* kernels.c */
struct image {
  uint64_t id;
  const void *data;
  size_t size;
  unsigned sent;
};
struct parameter {
  uint32_t offset, size;
};
struct kernel {
  struct image *image;
  const char *name;
  const void *host;
  struct kernel *next;
  unsigned queried;
  int known, absent; /* absent: the status of a launch without code for the device */
  uint32_t count, parameter_bytes, registers, shared, local, constant, threads, arch;
  dim3 cluster; /* that the code requires; 0 where it requires none */
  struct parameter *parameters;
  int dynamic_shared, carveout, large_clusters, cluster_policy;
};
struct symbol {
  struct image *image;
  const char *name;
  const void *host;
  size_t size;
  void *memory;
  struct symbol *next;
};
/* How a launch is made beside its shape. */
struct manner {
  dim3 cluster, preferred_cluster; /* 0 where not given */
  uint32_t cooperative;
  uint32_t programmatic; /* it may begin before the launch ahead of it in its stream has ended */
  uint32_t carveout;     /* percent of on-chip memory for shared memory plus one; 0 where not given */
};
struct launch {
  struct kernel *kernel;
  dim3 grid, block;
  size_t shared;
  void **arguments;
  const void *packed;
  size_t packed_size;
  struct manner manner;
};
/* The attributes of a launch that are recorded; others have no effect on a recording. */
enum attribute_id {
  COOPERATIVE = 2,
  CLUSTER = 4,
  PROGRAMMATIC = 6,
  PROGRAMMATIC_EVENT = 7,
  PREFERRED_CLUSTER = 11,
  COMPLETION_EVENT = 12,
  CARVEOUT = 14,
};
union attribute_value {
  char bytes[64];
  dim3 extents;
  int number;
  struct event *event;
};
struct attribute {
  int id, pad;
  union attribute_value value;
};
HIDDEN void set_attribute(struct manner *manner, int id, const union attribute_value *value);
HIDDEN void get_attribute(const struct manner *manner, int id, union attribute_value *value);
HIDDEN void set_attributes(struct launch *launch, const struct attribute *attributes, unsigned count, void *stream);
HIDDEN struct image *new_image(const void *data, size_t size);
HIDDEN void send_image(struct image *image);
HIDDEN struct kernel *new_kernel(struct image *image, const char *name, const void *host);
HIDDEN struct kernel *kernel_of(const void *host);
HIDDEN int is_kernel(const void *handle);
HIDDEN int load_facts(struct kernel *kernel);
HIDDEN struct symbol *new_symbol(struct image *image, const char *name, const void *host, size_t size);
HIDDEN struct symbol *symbol_of(const void *host);
HIDDEN void *symbol_memory(struct symbol *symbol);
HIDDEN size_t global_size(struct image *image, const char *name);
HIDDEN size_t image_size(const void *data);
HIDDEN int resident(struct kernel *kernel, unsigned threads, size_t shared);
HIDDEN int refused(const struct launch *launch);
HIDDEN int refused_cluster(const struct kernel *kernel, dim3 grid, const struct manner *manner);
HIDDEN int active_clusters(const struct launch *launch, int *clusters);
HIDDEN int potential_cluster(const struct launch *launch, int *blocks);
HIDDEN int function_attribute(struct kernel *kernel, int attribute);
HIDDEN int set_function_attribute(struct kernel *kernel, int attribute, int value);

/* work.c: operations, run in program order or captured in a graph */
struct graph;
struct stream {
  unsigned number, flags;
  int priority;
  struct graph *capture;
};
struct event {
  double time;
  int recorded;
  struct graph *capture;
};
struct copy {
  char *target;
  const char *source;
  size_t target_pitch, target_slice, source_pitch, source_slice, width, height, depth;
};
struct fill {
  char *target;
  size_t pitch, width, height;
  uint32_t value, element;
};
struct host_call {
  void (*function)(void *);
  void *data;
};
enum operation_kind { EMPTY, LAUNCH, COPY, FILL, HOST_CALL, CHILD };
struct operation {
  enum operation_kind kind;
  size_t size;
  char *frame;
  struct kernel *kernel;
  struct copy copy;
  struct fill fill;
  struct host_call host;
  struct graph *child;
};
struct node {
  struct graph *graph;
  struct operation operation;
  struct node **dependencies;
  size_t count;
  int enabled, done;
  struct node *copied;
};
struct graph {
  struct node **nodes;
  size_t count;
  uint64_t id;
};
/* data.c */
HIDDEN void before_message(char kind);
HIDDEN void forget_reports(void);
HIDDEN void stop_reporting(void);
HIDDEN void report_copy(const struct copy *copy);
HIDDEN void report_fill(const struct fill *fill);
/* work.c */
HIDDEN struct stream *stream_of(void *handle);
HIDDEN struct stream *new_stream(unsigned flags, int priority);
HIDDEN double tick(void);
HIDDEN int launch_on(const struct launch *launch, void *stream);
HIDDEN int make_launch(const struct launch *launch, unsigned stream, struct operation *operation);
HIDDEN const struct manner *manner_of(const struct operation *operation);
HIDDEN int set_manner(struct operation *operation, const struct manner *manner);
HIDDEN void record_event(struct event *event, void *stream);
HIDDEN int run_or_capture(const struct operation *operation, void *stream);
HIDDEN int copy_on(void *target, const void *source, size_t size, void *stream);
HIDDEN int fill_on(void *target, int value, size_t size, void *stream);
HIDDEN struct graph *new_graph(void);
HIDDEN struct node *add_node(struct graph *graph, const struct operation *operation, struct node *const *dependencies, size_t count);
HIDDEN void add_dependency(struct node *node, struct node *before);
HIDDEN struct graph *copy_graph(struct graph *graph);
HIDDEN void run_graph(struct graph *graph);
HIDDEN void begin_capture(void *stream, struct graph *graph);
HIDDEN struct graph *end_capture(void *stream);

#endif
