/* Tensor maps: the descriptors of the copy engine (TMA), 128 bytes that the driver fills and the program passes to kernels.
 *
 * How a GPU lays them out is not documented. Here they have a layout of our own, which `sassan/launches/tensor_map.py` reads; no kernel runs, so
 * nothing else does. Limits and errors are those of the CUDA driver API (cuda.h of CUDA 13.0, "Tensor Map Object Management").
 */
#include "driver.h"

#include <string.h>

#define MOST_RANK 5
#define MOST_STRIDE ((uint64_t)1 << 40)
#define MOST_EXTENT ((uint64_t)1 << 32)
#define VERSION 1
#define MAGIC "sassanTM"

enum map_kind { TILED, IM2COL, IM2COL_WIDE, KINDS };
enum { FLOAT16 = 6, TFLOAT32_FTZ = 12, U4_ALIGN8, U4_ALIGN16, U6_ALIGN16, TYPES };
static const unsigned bits[TYPES] = {8, 16, 32, 32, 64, 64, 16, 32, 64, 16, 32, 32, 32, 4, 4, 6};

/* Bytes of a row of the box that each swizzle allows: none, 32, 64, 128, and three kinds of 128. */
enum { UNSWIZZLED, SWIZZLE_32, SWIZZLE_64, SWIZZLE_128, ATOM_32, ATOM_32_FLIP, ATOM_64, SWIZZLES };
static const unsigned spans[SWIZZLES] = {0, 32, 64, 128, 128, 128, 128};

struct tensor_map {
  char magic[8];
  uint8_t version, kind, type, rank, interleave, swizzle, promotion, fill;
  uint64_t address, strides[MOST_RANK - 1]; /* bytes from one element of dimensions 1 to 4 to the next */
  uint32_t last[MOST_RANK];                 /* extents less one: 2^32 is allowed */
  uint16_t box[MOST_RANK];                  /* tiled */
  uint8_t steps[MOST_RANK], wide;           /* strides in elements; the mode of a wide im2col */
  uint16_t channels, pixels;                /* im2col, as the corners are */
  int16_t lower[MOST_RANK - 2], upper[MOST_RANK - 2];
  uint32_t zero[3];
  uint64_t check; /* FNV-1a of the bytes before: other 128 bytes are no map */
};
_Static_assert(sizeof(struct tensor_map) == 128, "a tensor map has 128 bytes");

static uint64_t check_of(const struct tensor_map *map) {
  const unsigned char *bytes = (const unsigned char *)map;
  uint64_t hash = 0xcbf29ce484222325u;
  for (size_t i = 0; i < offsetof(struct tensor_map, check); i++) hash = (hash ^ bytes[i]) * 0x100000001b3u;
  return hash;
}

/* What the kinds of maps have in common. */
struct tensor {
  unsigned type, rank;
  uint64_t address;
  const uint64_t *extents, *strides;
  const uint32_t *steps;
  unsigned interleave, swizzle, promotion, fill;
};

static uint64_t alignment(unsigned type, unsigned interleave) { return interleave == 2 || type == U4_ALIGN16 || type == U6_ALIGN16 ? 32 : 16; }

static int valid_tensor(const void *map, const struct tensor *tensor, unsigned least_rank) {
  unsigned type = tensor->type, interleave = tensor->interleave, swizzle = tensor->swizzle;
  if (map == NULL || (uintptr_t)map % 64 || type >= TYPES || tensor->rank < least_rank || tensor->rank > MOST_RANK) return 0;
  if (interleave > 2 || swizzle >= SWIZZLES || tensor->promotion > 3 || tensor->fill > 1) return 0;
  if (tensor->extents == NULL || tensor->steps == NULL || (tensor->strides == NULL && tensor->rank > 1)) return 0;
  if (interleave != 0 && (tensor->rank < 3 || type == U6_ALIGN16)) return 0;
  if (interleave == 2 && swizzle != SWIZZLE_32) return 0;
  uint64_t aligned = alignment(type, interleave);
  if (tensor->address % aligned) return 0;
  for (unsigned i = 0; i < tensor->rank; i++) {
    if (tensor->extents[i] == 0 || tensor->extents[i] > MOST_EXTENT) return 0;
    if (i > 0 && (tensor->strides[i - 1] % aligned || tensor->strides[i - 1] >= MOST_STRIDE)) return 0;
    if ((i > 0 || interleave != 0) && (tensor->steps[i] == 0 || tensor->steps[i] > 8)) return 0;
  }
  int padded = type == U4_ALIGN16 || type == U6_ALIGN16;
  if (padded && tensor->extents[0] % 128) return 0;
  if (type == U4_ALIGN8 && tensor->extents[0] % 2) return 0;
  if (padded && swizzle != UNSWIZZLED && swizzle != SWIZZLE_128 && swizzle != ATOM_32 && !(type == U6_ALIGN16 && swizzle == ATOM_64)) return 0;
  return tensor->fill == 0 || (type >= FLOAT16 && type <= TFLOAT32_FTZ);
}

static int valid_row(const struct tensor *tensor, unsigned elements) {
  /* The innermost extent of a box. */
  if (elements == 0 || elements > 256) return 0;
  if ((tensor->type == U4_ALIGN16 || tensor->type == U6_ALIGN16) && elements != 128) return 0;
  return tensor->interleave != 0 || tensor->swizzle == UNSWIZZLED || (uint64_t)elements * bits[tensor->type] <= 8u * spans[tensor->swizzle];
}

static struct tensor_map begin(const struct tensor *tensor, enum map_kind kind) {
  struct tensor_map map = {
      .version = VERSION,
      .kind = (uint8_t)kind,
      .type = (uint8_t)tensor->type,
      .rank = (uint8_t)tensor->rank,
      .interleave = (uint8_t)tensor->interleave,
      .swizzle = (uint8_t)tensor->swizzle,
      .promotion = (uint8_t)tensor->promotion,
      .fill = (uint8_t)tensor->fill,
      .address = tensor->address,
  };
  memcpy(map.magic, MAGIC, sizeof map.magic);
  for (unsigned i = 0; i < tensor->rank; i++) {
    map.last[i] = (uint32_t)(tensor->extents[i] - 1);
    if (i > 0) map.strides[i - 1] = tensor->strides[i - 1];
    map.steps[i] = i == 0 && tensor->interleave == 0 ? 1 : (uint8_t)tensor->steps[i]; /* the copy engine knows no step within a row */
  }
  return map;
}

static int finish(void *to, struct tensor_map *map) {
  map->check = check_of(map);
  memcpy(to, map, sizeof *map);
  return OK;
}

API int cuTensorMapEncodeTiled(void *map, unsigned type, unsigned rank, void *address, const uint64_t *extents, const uint64_t *strides,
                               const uint32_t *box, const uint32_t *steps, unsigned interleave, unsigned swizzle, unsigned promotion, unsigned fill) {
  struct tensor tensor = {type, rank, (uintptr_t)address, extents, strides, steps, interleave, swizzle, promotion, fill};
  if (!valid_tensor(map, &tensor, 1) || box == NULL || !valid_row(&tensor, box[0])) return INVALID_VALUE;
  if (interleave == 0 && (uint64_t)box[0] * bits[type] % 128) return INVALID_VALUE; /* 16 bytes */
  struct tensor_map made = begin(&tensor, TILED);
  for (unsigned i = 0; i < rank; i++) {
    if (box[i] == 0 || box[i] > 256) return INVALID_VALUE;
    made.box[i] = (uint16_t)box[i];
  }
  return finish(map, &made);
}

static int im2col(struct tensor_map *made, const struct tensor *tensor, const int *lower, const int *upper, unsigned spatial, unsigned channels,
                  unsigned pixels) {
  /* Corners of a box are as wide as the rank leaves room for: 16, 8 or 5 bits. That a box is not empty is not checked: cuda.h lists corners as
   * D, H, W, and programs pass them as W, H, D. */
  static const int most[] = {0, 32767, 127, 15};
  if (lower == NULL || upper == NULL || !valid_row(tensor, channels) || pixels > 1024) return 0;
  for (unsigned i = 0; i < spatial; i++) {
    if (lower[i] < -most[spatial] - 1 || lower[i] > most[spatial] || upper[i] < -most[spatial] - 1 || upper[i] > most[spatial]) return 0;
    made->lower[i] = (int16_t)lower[i];
    made->upper[i] = (int16_t)upper[i];
  }
  made->channels = (uint16_t)channels;
  made->pixels = (uint16_t)pixels;
  return 1;
}

API int cuTensorMapEncodeIm2col(void *map, unsigned type, unsigned rank, void *address, const uint64_t *extents, const uint64_t *strides,
                                const int *lower, const int *upper, unsigned channels, unsigned pixels, const uint32_t *steps, unsigned interleave,
                                unsigned swizzle, unsigned promotion, unsigned fill) {
  struct tensor tensor = {type, rank, (uintptr_t)address, extents, strides, steps, interleave, swizzle, promotion, fill};
  if (!valid_tensor(map, &tensor, 3) || pixels == 0) return INVALID_VALUE;
  struct tensor_map made = begin(&tensor, IM2COL);
  return im2col(&made, &tensor, lower, upper, rank - 2, channels, pixels) ? finish(map, &made) : INVALID_VALUE;
}

API int cuTensorMapEncodeIm2colWide(void *map, unsigned type, unsigned rank, void *address, const uint64_t *extents, const uint64_t *strides,
                                    int lower, int upper, unsigned channels, unsigned pixels, const uint32_t *steps, unsigned interleave,
                                    unsigned mode, unsigned swizzle, unsigned promotion, unsigned fill) {
  struct tensor tensor = {type, rank, (uintptr_t)address, extents, strides, steps, interleave, swizzle, promotion, fill};
  if (!valid_tensor(map, &tensor, 3) || mode > 1) return INVALID_VALUE;
  if (swizzle != SWIZZLE_64 && swizzle != SWIZZLE_128 && swizzle != ATOM_32) return INVALID_VALUE;
  if (mode == 0 && pixels == 0) return INVALID_VALUE;
  struct tensor_map made = begin(&tensor, IM2COL_WIDE);
  made.wide = (uint8_t)mode;
  return im2col(&made, &tensor, &lower, &upper, 1, channels, mode == 0 ? pixels : 128) ? finish(map, &made) : INVALID_VALUE;
}

API int cuTensorMapReplaceAddress(void *map, void *address) {
  struct tensor_map made;
  if (map == NULL || (uintptr_t)map % 64) return INVALID_VALUE;
  memcpy(&made, map, sizeof made);
  if (memcmp(made.magic, MAGIC, sizeof made.magic) || made.check != check_of(&made)) return INVALID_VALUE;
  if ((uintptr_t)address % alignment(made.type, made.interleave)) return INVALID_VALUE;
  made.address = (uintptr_t)address;
  return finish(map, &made);
}
