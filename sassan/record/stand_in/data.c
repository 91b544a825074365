/* What the host writes into device memory: each write is reported, with its bytes as long as few enough have been sent.
 *
 * What costs time is the number of messages and the bytes in them: small writes that follow each other are joined, and the bytes of an
 * equal earlier write are named, not sent. Nothing needs a write before the next launch.
 */
#define _GNU_SOURCE
#include "core.h"

#include <stdlib.h>

#include <string.h>

#define LIMIT_VARIABLE "SASSAN_RECORD_DATA"
#define MOST_ROWS 4096
#define PART 2            /* of what may still be sent, one write gets at most this part */
#define JOINED (1u << 16) /* bytes of small writes, one behind the other, that are reported as one */
#define MOST_WRITES 10000 /* reported between two launches; later ones make the memory from the first to the last of them unknown */
#define SENT_ENTRIES (1u << 16)

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

/* Bytes that were sent are not sent again: they are recognised by their size and a hash of 128 bits. */

struct digest {
  uint64_t first, second;
};
struct sent {
  struct digest digest;
  uint32_t size, number; /* the number counts from 1 in the order of the messages with bytes */
};
static struct sent *sent;
static unsigned sent_count, sent_number;
static size_t largest_sent;

static uint64_t mixed(uint64_t a, uint64_t b) {
  unsigned __int128 product = (unsigned __int128)a * b;
  return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static struct digest digest_of(const char *data, size_t size) {
  struct digest digest = {0x9e3779b97f4a7c15u ^ size, 0xc2b2ae3d27d4eb4fu + size};
  uint64_t words[2];
  for (; size >= sizeof words; data += sizeof words, size -= sizeof words) {
    memcpy(words, data, sizeof words);
    digest.first = mixed(words[0] ^ 0xa0761d6478bd642fu, words[1] ^ digest.first);
    digest.second = mixed(words[1] ^ 0xe7037ed1a0b428dbu, words[0] ^ digest.second);
  }
  words[0] = words[1] = 0;
  memcpy(words, data, size);
  digest.first = mixed(words[0] ^ 0x8ebc6af09c88c6e3u, words[1] ^ digest.first);
  digest.second = mixed(words[1] ^ 0x589965cc75374cc3u, words[0] ^ digest.second);
  return digest;
}

static struct sent *sent_entry(struct digest digest, size_t size) {
  /* The entry of these bytes, an empty one where they were not sent, NULL where there is no room to remember them. */
  if (sent == NULL) sent = checked_allocation(calloc(SENT_ENTRIES, sizeof *sent));
  size_t at = digest.first % SENT_ENTRIES;
  while (sent[at].number && (sent[at].digest.first != digest.first || sent[at].digest.second != digest.second || sent[at].size != size))
    at = (at + 1) % SENT_ENTRIES;
  return sent[at].number || sent_count < SENT_ENTRIES / 2 ? &sent[at] : NULL;
}

static void say(char kind, const void *target, size_t size, const void *source, uint64_t more) {
  uint64_t words[4] = {(uint64_t)(uintptr_t)target, size, (uint64_t)(uintptr_t)source, more};
  send_message(kind, words, sizeof words, "", 0);
}

static void send_written(const void *target, size_t size, const char *bytes) {
  /* The last word: 0 for unknown bytes, 1 where they follow, 1 + N for those of the N-th message with bytes. */
  if (size > limit / PART && size > largest_sent) {
    say('D', target, size, NULL, 0);
    return;
  }
  struct digest digest = digest_of(bytes, size);
  struct sent *entry = sent_entry(digest, size);
  if (entry != NULL && entry->number) {
    say('D', target, size, NULL, 1 + (uint64_t)entry->number);
  } else if (size > limit / PART) {
    say('D', target, size, NULL, 0);
  } else {
    uint64_t words[4] = {(uint64_t)(uintptr_t)target, size, 0, 1};
    limit -= size;
    sent_number++;
    if (size > largest_sent) largest_sent = size;
    if (entry != NULL) {
      *entry = (struct sent){digest, (uint32_t)size, sent_number};
      sent_count++;
    }
    send_message('D', words, sizeof words, bytes, size);
  }
}

/* The writes since the last launch. */
static struct {
  char *target;
  size_t size;
  char bytes[JOINED];
} joined; /* not yet sent */
static unsigned writes;
static char *first, *last; /* the memory that uncounted writes lie in */
static int read_back;

static void send_joined(void) {
  size_t size = joined.size;
  joined.size = 0; /* sending calls this function again */
  if (size) send_written(joined.target, size, joined.bytes);
}

static int is_counted(char *target, size_t size) {
  if (writes < MOST_WRITES) return ++writes;
  if (first == NULL || target < first) first = target;
  if (target + size > last) last = target + size;
  return 0;
}

void before_message(char kind) {
  send_joined();
  if (kind != 'L') return;
  char *start = first;
  first = NULL;
  if (start != NULL) say('D', start, (size_t)(last - start), NULL, 0);
  last = NULL;
  writes = 0;
  read_back = 0;
}

void forget_reports(void) {
  joined.size = 0;
  writes = 0;
  first = last = NULL;
  read_back = 0;
  sent_count = sent_number = 0;
  largest_sent = 0;
  if (sent != NULL) memset(sent, 0, SENT_ENTRIES * sizeof *sent);
}

static void written(char *target, const char *source, size_t size) {
  if (joined.size && joined.target + joined.size == target && joined.size + size <= sizeof joined.bytes && joined.size + size <= limit / PART) {
    memcpy(joined.bytes + joined.size, source, size);
    joined.size += size;
    return;
  }
  send_joined();
  if (!is_counted(target, size)) return;
  if (size > sizeof joined.bytes / 2) {
    send_written(target, size, source);
    return;
  }
  joined.target = target;
  joined.size = size;
  memcpy(joined.bytes, source, size);
}

static void copied(char *target, const char *source, size_t size, int known) {
  int to_device = is_device(target), from_device = is_device(source);
  if (!size || !(to_device || from_device)) return;
  if (!to_device) {
    if (!read_back++) say('B', source, size, target, 0);
  } else if (!from_device && known && !stopped && is_host(source)) {
    written(target, source, size);
  } else if (is_counted(target, size)) {
    say(from_device ? 'M' : 'D', target, size, source, from_device && known);
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
    size_t size = (fill->height - 1) * fill->pitch + row;
    if (is_counted(fill->target, size)) say('S', fill->target, size, NULL, 0);
    return;
  }
  for (size_t y = 0; y < fill->height; y++)
    if (is_counted(fill->target + y * fill->pitch, row)) say('S', fill->target + y * fill->pitch, row, NULL, pattern);
}
