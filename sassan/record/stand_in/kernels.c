/* Images, their kernels and their variables. The recorder reads the images: a kernel is queried at its first use. */
#define _GNU_SOURCE
#include "core.h"

#include <stdlib.h>
#include <string.h>

#define BUCKETS 8192
#define FATBIN 0xba55ed50u
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
  /* The answer: 0 for an unreadable image, 2 and a status for a kernel without code for the device; else 1, then registers, shared, local, constant, threads, arch, the number of parameters, and each one's offset and size. */
  if (kernel->queried) return kernel->known;
  size_t size;
  uint32_t *reply = ask_about('K', kernel->image, kernel->name, &size);
  if (reply == NULL) return 0;
  kernel->queried = 1;
  if (size >= 32 && reply[0] == 2) kernel->absent = (int)reply[1];
  if (size >= 32 && reply[0] == 1 && reply[7] <= MOST_PARAMETERS && size == 32 + 8 * (size_t)reply[7]) {
    kernel->registers = reply[1];
    kernel->shared = reply[2];
    kernel->local = reply[3];
    kernel->constant = reply[4];
    kernel->threads = reply[5];
    kernel->arch = reply[6];
    kernel->count = reply[7];
    kernel->parameters = checked_allocation(calloc(kernel->count + 1, sizeof *kernel->parameters));
    memcpy(kernel->parameters, reply + 8, 8 * (size_t)kernel->count);
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
  return OK;
}

void set_attributes(struct launch *launch, const struct attribute *attributes, unsigned count) {
  for (unsigned i = 0; i < count; i++) {
    if (attributes[i].id == 2) launch->cooperative = attributes[i].value.flag;
    if (attributes[i].id == 4) launch->cluster = attributes[i].value.cluster;
  }
}
