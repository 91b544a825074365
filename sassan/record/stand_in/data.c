/* What the host writes into device memory: each write is reported, with its bytes as long as few enough have been sent. */
#define _GNU_SOURCE
#include "core.h"

#include <stdlib.h>

#define LIMIT_VARIABLE "SASSAN_RECORD_DATA"
#define MOST_ROWS 4096
#define PART 4 /* of what may still be sent, one write gets at most this part */

static size_t limit; /* bytes that may still be sent */
static int asked, stopped;

static int wanted(void) {
  if (!asked) {
    const char *text = getenv(LIMIT_VARIABLE);
    limit = text == NULL ? 0 : (size_t)strtoull(text, NULL, 10);
    asked = limit ? 1 : -1;
  }
  return asked > 0 && connected();
}

static int is_device(const void *address) {
  const struct block *block = block_of(address);
  return block != NULL && (block->kind == DEVICE_MEMORY || block->kind == SYMBOL_MEMORY);
}

static int is_host(const void *address) {
  /* Managed memory is none: kernels may write it. */
  const struct block *block = block_of(address);
  return block == NULL || block->kind == HOST_MEMORY;
}

static void say(char kind, const void *target, size_t size, const void *source, uint64_t more) {
  uint64_t words[4] = {(uint64_t)(uintptr_t)target, size, (uint64_t)(uintptr_t)source, more};
  send_message(kind, words, sizeof words, "", 0);
}

static void copied(const void *target, const void *source, size_t size, int known) {
  int to_device = is_device(target), from_device = is_device(source);
  if (!size || !(to_device || from_device)) return;
  if (!to_device) {
    say('B', source, size, target, 0); /* read back */
  } else if (from_device) {
    say('M', target, size, source, (uint64_t)known);
  } else if (known && !stopped && is_host(source) && size <= limit / PART) {
    uint64_t words[4] = {(uint64_t)(uintptr_t)target, size, (uint64_t)(uintptr_t)source, 1};
    limit -= size;
    send_message('D', words, sizeof words, source, size);
  } else {
    say('D', target, size, source, 0);
  }
}

void stop_reporting(void) {
  /* Kernels may write registered memory of the host: what is copied from the host is unknown from now on. */
  stopped = 1;
}

void report_copy(const struct copy *copy) {
  if (!wanted()) return;
  size_t rows = copy->height * copy->depth;
  if (!rows || !copy->width) return;
  if (rows > MOST_ROWS) {
    size_t size = (copy->depth - 1) * copy->target_slice + (copy->height - 1) * copy->target_pitch + copy->width;
    copied(copy->target, copy->source, size, 0);
    return;
  }
  for (size_t z = 0; z < copy->depth; z++)
    for (size_t y = 0; y < copy->height; y++)
      copied(copy->target + z * copy->target_slice + y * copy->target_pitch, copy->source + z * copy->source_slice + y * copy->source_pitch,
             copy->width, 1);
}

void report_fill(const struct fill *fill) {
  if (!wanted() || !is_device(fill->target) || !fill->width || !fill->height) return;
  size_t row = fill->width * fill->element;
  uint64_t pattern = (uint64_t)fill->element << 32 | fill->value;
  if (fill->height > MOST_ROWS) {
    say('S', fill->target, (fill->height - 1) * fill->pitch + row, NULL, 0);
    return;
  }
  for (size_t y = 0; y < fill->height; y++) say('S', fill->target + y * fill->pitch, row, NULL, pattern);
}
