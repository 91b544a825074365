/* Device memory: one range of addresses, the same in every run, allocated in order and initially zero. */
#define _GNU_SOURCE
#include "core.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define BASE ((char *)0x200000000000)
#define RANGE ((size_t)1 << 40)
#define LEAST_RANGE ((size_t)1 << 32)
#define UNIT ((size_t)512)
#define PAGE ((size_t)4096)
#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0
#endif

static char *first, *next, *end;
static struct block *blocks; /* by address: memory is allocated in order, and blocks are never moved */
static size_t count, table_size;
static size_t in_use;

static int reserve(void) {
  if (first != NULL) return 1;
  for (size_t size = RANGE; size >= LEAST_RANGE; size /= 2) {
    void *got = mmap(BASE, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (got == MAP_FAILED) got = mmap(BASE, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (got != MAP_FAILED) {
      if (got != BASE) note("device memory is not at its usual addresses: pointers differ from run to run");
      first = next = got;
      end = first + size;
      madvise(first, size, MADV_NOHUGEPAGE);
      return 1;
    }
  }
  return 0;
}

static void clear(const struct block *block) {
  /* Whole pages are returned to the system, which zeroes them. */
  char *whole = (char *)(((uintptr_t)block->start + PAGE - 1) / PAGE * PAGE);
  char *stop = (char *)((uintptr_t)(block->start + block->capacity) / PAGE * PAGE);
  if (whole < stop && madvise(whole, (size_t)(stop - whole), MADV_DONTNEED) == 0) {
    memset(block->start, 0, (size_t)(whole - block->start));
    memset(stop, 0, (size_t)(block->start + block->capacity - stop));
  } else {
    memset(block->start, 0, block->capacity);
  }
}

static void say(char kind, const struct block *block) {
  uint64_t words[3] = {(uint64_t)(uintptr_t)block->start, block->size, block->kind};
  send_message(kind, words, sizeof words, "", 0);
}

static struct block *reusable(size_t capacity) {
  for (size_t i = 0; i < count; i++)
    if (!blocks[i].live && blocks[i].capacity == capacity) return &blocks[i];
  return NULL;
}

void *allocate(size_t size, enum memory_kind kind) {
  size_t limit = device()->memory;
  if (!reserve() || size > (size_t)(end - next) - UNIT) return NULL;
  if (kind == DEVICE_MEMORY && (size > limit || in_use > limit - size)) return NULL;
  size_t capacity = (size + UNIT - 1) / UNIT * UNIT;
  if (capacity == 0) capacity = UNIT;
  struct block *block = reusable(capacity);
  if (block == NULL) {
    if (capacity + UNIT > (size_t)(end - next)) return NULL;
    if (count == table_size) {
      table_size = table_size ? 2 * table_size : 256;
      blocks = checked_allocation(realloc(blocks, table_size * sizeof *blocks));
    }
    block = &blocks[count++];
    block->start = next;
    block->capacity = capacity;
    next += capacity + UNIT; /* a pointer just behind a block points into none */
  }
  block->size = size;
  block->kind = kind;
  block->live = 1;
  if (kind == DEVICE_MEMORY) in_use += size;
  say('A', block);
  return block->start;
}

static struct block *around(const void *address) {
  const char *target = address;
  size_t low = 0, high = count;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (blocks[middle].start + blocks[middle].capacity <= target)
      low = middle + 1;
    else
      high = middle;
  }
  return low < count && blocks[low].start <= target && blocks[low].live ? &blocks[low] : NULL;
}

const struct block *block_of(const void *address) { return around(address); }

int release(void *start) {
  struct block *block = around(start);
  if (block == NULL || block->start != start) return INVALID_VALUE;
  if (block->kind == DEVICE_MEMORY) in_use -= block->size;
  block->live = 0;
  clear(block);
  say('F', block);
  return OK;
}

size_t memory_in_use(void) { return in_use; }
