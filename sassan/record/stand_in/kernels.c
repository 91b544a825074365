/* Images, their kernels and their variables. The recorder reads the images: a kernel is queried at its first use. */
#define _GNU_SOURCE
#include "core.h"

#include <stdlib.h>
#include <string.h>

#define BUCKETS 8192
#define FATBIN 0xba55ed50u
#define FACTS 44
#define MOST_PARAMETERS 4096u
#define MOST_PARAMETER_BYTES 32768u

static struct kernel *by_host[BUCKETS];
static struct symbol *symbols[BUCKETS];
static uint64_t images;

static size_t bucket(const void *host) { return ((uintptr_t)host >> 4) % BUCKETS; }

static size_t elf_size(const unsigned char *data) {
  /* The end of the section headers, the program headers, and the section contents. */
  uint64_t sections, segments;
  uint16_t section_size, section_count, segment_size, segment_count;
  memcpy(&segments, data + 32, 8);
  memcpy(&sections, data + 40, 8);
  memcpy(&segment_size, data + 54, 2);
  memcpy(&segment_count, data + 56, 2);
  memcpy(&section_size, data + 58, 2);
  memcpy(&section_count, data + 60, 2);
  uint64_t size = sections + (uint64_t)section_size * section_count;
  if (size < segments + (uint64_t)segment_size * segment_count) size = segments + (uint64_t)segment_size * segment_count;
  for (unsigned i = 0; i < section_count; i++) {
    uint32_t type;
    uint64_t offset, length;
    const unsigned char *header = data + sections + (uint64_t)section_size * i;
    memcpy(&type, header + 4, 4);
    memcpy(&offset, header + 24, 8);
    memcpy(&length, header + 32, 8);
    if (type != 8 && size < offset + length) size = offset + length;
  }
  return size;
}

size_t image_size(const void *data) {
  /* The size of an image given by its address alone: a fatbin, a cubin, or zero-terminated PTX. */
  const unsigned char *bytes = data;
  uint32_t magic;
  memcpy(&magic, bytes, 4);
  if (magic == FATBIN) {
    uint16_t header;
    uint64_t size;
    memcpy(&header, bytes + 6, 2);
    memcpy(&size, bytes + 8, 8);
    return header + size;
  }
  return memcmp(bytes, "\177ELF", 4) == 0 ? elf_size(bytes) : strlen(data);
}

struct image *new_image(const void *data, size_t size) {
  struct image *image = checked_allocation(calloc(1, sizeof *image));
  image->id = ++images;
  image->data = data;
  image->size = size;
  return image;
}

void send_image(struct image *image) {
  if (!connected() || image->sent == generation()) return;
  image->sent = generation();
  send_message('I', &image->id, sizeof image->id, image->data, image->size);
}

struct kernel *new_kernel(struct image *image, const char *name, const void *host) {
  struct kernel *kernel = host == NULL ? NULL : kernel_of(host);
  if (kernel != NULL) return kernel; /* a template instantiated in several files: its first image */
  kernel = checked_allocation(calloc(1, sizeof *kernel));
  kernel->image = image;
  kernel->name = checked_allocation(strdup(name));
  kernel->host = host;
  kernel->carveout = -1;
  if (host != NULL) {
    kernel->next = by_host[bucket(host)];
    by_host[bucket(host)] = kernel;
  }
  return kernel;
}

struct kernel *kernel_of(const void *host) {
  for (struct kernel *kernel = by_host[bucket(host)]; kernel != NULL; kernel = kernel->next)
    if (kernel->host == host) return kernel;
  return NULL;
}

int is_kernel(const void *handle) {
  for (size_t i = 0; i < BUCKETS; i++)
    for (struct kernel *kernel = by_host[i]; kernel != NULL; kernel = kernel->next)
      if (kernel == handle) return 1;
  return 0;
}

static void *ask_about(char kind, struct image *image, const char *name, size_t *size) {
  send_image(image);
  return ask(kind, &image->id, sizeof image->id, name, strlen(name), size);
}

int load_facts(struct kernel *kernel) {
  /* The answer: 0 for an unreadable image, 2 and a status for a kernel without code for the device; else 1, then registers, shared, local,
   * constant, threads, arch, the extents of a required cluster, the number of parameters, and each one's offset and size. */
  if (kernel->queried) return kernel->known;
  size_t size;
  uint32_t *reply = ask_about('K', kernel->image, kernel->name, &size);
  if (reply == NULL) return 0;
  kernel->queried = 1;
  if (size >= FACTS && reply[0] == 2) kernel->absent = (int)reply[1];
  if (size >= FACTS && reply[0] == 1 && reply[10] <= MOST_PARAMETERS && size == FACTS + 8 * (size_t)reply[10]) {
    kernel->registers = reply[1];
    kernel->shared = reply[2];
    kernel->local = reply[3];
    kernel->constant = reply[4];
    kernel->threads = reply[5];
    kernel->arch = reply[6];
    memcpy(&kernel->cluster, reply + 7, sizeof kernel->cluster);
    kernel->count = reply[10];
    kernel->parameters = checked_allocation(calloc(kernel->count + 1, sizeof *kernel->parameters));
    memcpy(kernel->parameters, reply + FACTS / 4, 8 * (size_t)kernel->count);
    kernel->known = 1;
    for (uint32_t i = 0; i < kernel->count; i++) {
      uint64_t stop = (uint64_t)kernel->parameters[i].offset + kernel->parameters[i].size;
      if (stop > MOST_PARAMETER_BYTES) kernel->known = 0;
      if (stop > kernel->parameter_bytes) kernel->parameter_bytes = (uint32_t)stop;
    }
  }
  free(reply);
  return kernel->known;
}

struct symbol *new_symbol(struct image *image, const char *name, const void *host, size_t size) {
  struct symbol *symbol = host == NULL ? NULL : symbol_of(host);
  if (symbol != NULL) return symbol;
  symbol = checked_allocation(calloc(1, sizeof *symbol));
  symbol->image = image;
  symbol->name = checked_allocation(strdup(name));
  symbol->host = host;
  symbol->size = size;
  if (host != NULL) {
    symbol->next = symbols[bucket(host)];
    symbols[bucket(host)] = symbol;
  }
  return symbol;
}

struct symbol *symbol_of(const void *host) {
  for (struct symbol *symbol = symbols[bucket(host)]; symbol != NULL; symbol = symbol->next)
    if (symbol->host == host) return symbol;
  return NULL;
}

void *symbol_memory(struct symbol *symbol) {
  if (symbol->memory == NULL) symbol->memory = allocate(symbol->size, SYMBOL_MEMORY);
  return symbol->memory;
}

size_t global_size(struct image *image, const char *name) {
  size_t size;
  uint64_t *reply = ask_about('G', image, name, &size);
  size_t bytes = reply != NULL && size == 8 ? (size_t)*reply : 0;
  free(reply);
  return bytes;
}

int resident(struct kernel *kernel, unsigned threads, size_t shared) {
  struct {
    uint64_t image;
    uint32_t threads, shared;
  } question = {kernel->image->id, threads, (uint32_t)shared};
  size_t size;
  send_image(kernel->image);
  int32_t *reply = ask('O', &question, sizeof question, kernel->name, strlen(kernel->name), &size);
  int blocks = reply != NULL && size == 4 ? *reply : 0;
  free(reply);
  return blocks;
}

static uint64_t volume(dim3 extents) { return (uint64_t)extents.x * extents.y * extents.z; }

static int cluster_limit(const struct kernel *kernel) {
  /* Blocks of a cluster: 8 on every device with clusters, 16 on some if the program asks for it (CUDA C++ Programming Guide, "Thread Block Clusters"). */
  uint64_t major = device()->major;
  return major < 9 ? 1 : kernel->large_clusters && major <= 10 ? 16 : 8;
}

int refused_cluster(const struct kernel *kernel, dim3 grid, const struct manner *manner) {
  const dim3 cluster = manner->cluster, preferred = manner->preferred_cluster, required = kernel->cluster;
  if (cluster.x == 0) return OK;
  if (!cluster.y || !cluster.z || grid.x % cluster.x || grid.y % cluster.y || grid.z % cluster.z) return INVALID_CONFIGURATION;
  if (volume(cluster) > (uint64_t)cluster_limit(kernel)) return INVALID_CLUSTER;
  if (required.x && memcmp(&required, &cluster, sizeof cluster) != 0) return INVALID_CLUSTER;
  if (preferred.x == 0) return OK;
  if (!preferred.y || !preferred.z || grid.x % preferred.x || grid.y % preferred.y || grid.z % preferred.z) return INVALID_CONFIGURATION;
  return preferred.x % cluster.x || preferred.y % cluster.y || preferred.z != cluster.z ? INVALID_CLUSTER : OK;
}

int refused(const struct launch *launch) {
  /* The status of a launch that a GPU would refuse; it must not be recorded even if the program ignores the error. */
  const dim3 grid = launch->grid, block = launch->block;
  const struct kernel *kernel = launch->kernel;
  uint64_t threads = (uint64_t)block.x * block.y * block.z;
  if (!grid.x || !grid.y || !grid.z || !threads || grid.x > 2147483647u || grid.y > 65535 || grid.z > 65535) return INVALID_CONFIGURATION;
  if (block.x > 1024 || block.y > 1024 || block.z > 64 || threads > 1024) return INVALID_CONFIGURATION;
  if (!kernel->known) return kernel->absent;
  if (kernel->threads && threads > kernel->threads) return INVALID_VALUE;
  if (kernel->registers && (threads + 31) / 32 * ((kernel->registers * 32 + 255) / 256 * 256) > 65536) return OUT_OF_RESOURCES;
  uint64_t limit = device()->shared_block;
  if (kernel->dynamic_shared > 0 && (uint64_t)kernel->dynamic_shared + kernel->shared > limit) limit = (uint64_t)kernel->dynamic_shared + kernel->shared;
  if (launch->shared + kernel->shared > limit) return INVALID_VALUE;
  if (launch->manner.cooperative) {
    uint64_t blocks = (uint64_t)grid.x * grid.y * grid.z;
    if (blocks > (uint64_t)resident(launch->kernel, (unsigned)threads, launch->shared) * device()->sms) return TOO_MANY_TOGETHER;
  }
  return refused_cluster(kernel, grid, &launch->manner);
}

void set_attribute(struct manner *manner, int id, const union attribute_value *value) {
  switch (id) {
    case COOPERATIVE: manner->cooperative = value->number != 0; break;
    case CLUSTER: manner->cluster = value->extents; break;
    case PROGRAMMATIC: manner->programmatic = value->number != 0; break;
    case PREFERRED_CLUSTER: manner->preferred_cluster = value->extents; break;
    case CARVEOUT: manner->carveout = value->number >= 0 && value->number <= 100 ? (uint32_t)value->number + 1 : 0; break;
  }
}

void get_attribute(const struct manner *manner, int id, union attribute_value *value) {
  memset(value, 0, sizeof *value);
  switch (id) {
    case COOPERATIVE: value->number = (int)manner->cooperative; break;
    case CLUSTER: value->extents = manner->cluster; break;
    case PROGRAMMATIC: value->number = (int)manner->programmatic; break;
    case PREFERRED_CLUSTER: value->extents = manner->preferred_cluster; break;
    case CARVEOUT: value->number = (int)manner->carveout - 1; break;
  }
}

void set_attributes(struct launch *launch, const struct attribute *attributes, unsigned count, void *stream) {
  for (unsigned i = 0; attributes != NULL && i < count; i++) {
    const union attribute_value *value = &attributes[i].value;
    set_attribute(&launch->manner, attributes[i].id, value);
    int records = attributes[i].id == PROGRAMMATIC_EVENT || attributes[i].id == COMPLETION_EVENT;
    if (records && value->event != NULL) record_event(value->event, stream);
  }
}

/* Clusters that the device holds at once: how its SMs are grouped is not known, so that all of them count. */
int active_clusters(const struct launch *launch, int *clusters) {
  const dim3 cluster = launch->manner.cluster.x ? launch->manner.cluster : launch->kernel->cluster;
  uint64_t blocks = volume(cluster), threads = volume(launch->block);
  if (blocks == 0 || threads == 0 || threads > 1024) return blocks == 0 ? INVALID_CLUSTER : INVALID_VALUE;
  int fits = blocks <= (uint64_t)cluster_limit(launch->kernel);
  *clusters = fits ? (int)((uint64_t)resident(launch->kernel, (unsigned)threads, launch->shared) * device()->sms / blocks) : 0;
  return OK;
}

int potential_cluster(const struct launch *launch, int *blocks) {
  uint64_t threads = volume(launch->block), required = volume(launch->kernel->cluster);
  if (threads == 0 || threads > 1024) return INVALID_VALUE;
  *blocks = resident(launch->kernel, (unsigned)threads, launch->shared) ? required ? (int)required : cluster_limit(launch->kernel) : 0;
  return OK;
}

/* Attributes of a function, numbered alike by the runtime and the driver. */
enum {
  THREADS,
  SHARED,
  CONSTANT,
  LOCAL,
  REGISTERS,
  PTX,
  BINARY,
  DYNAMIC_SHARED = 8,
  FUNCTION_CARVEOUT,
  CLUSTER_NEEDED,
  CLUSTER_WIDTH,
  CLUSTER_HEIGHT,
  CLUSTER_DEPTH,
  LARGE_CLUSTERS,
  CLUSTER_POLICY
};

int function_attribute(struct kernel *kernel, int attribute) {
  load_facts(kernel);
  switch (attribute) {
    case THREADS: return (int)kernel->threads;
    case SHARED: return (int)kernel->shared;
    case CONSTANT: return (int)kernel->constant;
    case LOCAL: return (int)kernel->local;
    case REGISTERS: return (int)kernel->registers;
    case PTX: case BINARY: return (int)kernel->arch;
    case DYNAMIC_SHARED: return kernel->dynamic_shared ? kernel->dynamic_shared : (int)(device()->shared_block - kernel->shared);
    case FUNCTION_CARVEOUT: return kernel->carveout;
    case CLUSTER_NEEDED: return kernel->cluster.x != 0;
    case CLUSTER_WIDTH: return (int)kernel->cluster.x;
    case CLUSTER_HEIGHT: return (int)kernel->cluster.y;
    case CLUSTER_DEPTH: return (int)kernel->cluster.z;
    case LARGE_CLUSTERS: return kernel->large_clusters;
    case CLUSTER_POLICY: return kernel->cluster_policy;
    default: return 0;
  }
}

int set_function_attribute(struct kernel *kernel, int attribute, int value) {
  load_facts(kernel);
  unsigned *extent = attribute == CLUSTER_WIDTH ? &kernel->cluster.x : attribute == CLUSTER_HEIGHT ? &kernel->cluster.y : &kernel->cluster.z;
  switch (attribute) {
    case DYNAMIC_SHARED:
      if (value < 0 || (uint64_t)value + kernel->shared > device()->shared_optin) return INVALID_VALUE;
      kernel->dynamic_shared = value;
      return OK;
    case FUNCTION_CARVEOUT:
      if (value < -1 || value > 100) return INVALID_VALUE;
      kernel->carveout = value;
      return OK;
    case CLUSTER_WIDTH: case CLUSTER_HEIGHT: case CLUSTER_DEPTH:
      if (value < 1 || (*extent && *extent != (unsigned)value)) return INVALID_VALUE; /* what the code requires is not changed */
      *extent = (unsigned)value;
      return OK;
    case LARGE_CLUSTERS:
      kernel->large_clusters = value != 0;
      return OK;
    case CLUSTER_POLICY:
      kernel->cluster_policy = value;
      return OK;
    default:
      return OK;
  }
}
