/* Tensor maps as the driver makes them, written to standard output as they are; and arguments that it refuses. */
#include <stdalign.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef uint64_t Long;
int cuTensorMapEncodeTiled(void *, unsigned, unsigned, void *, const Long *, const Long *, const unsigned *, const unsigned *, unsigned, unsigned,
                           unsigned, unsigned);
int cuTensorMapEncodeIm2col(void *, unsigned, unsigned, void *, const Long *, const Long *, const int *, const int *, unsigned, unsigned,
                            const unsigned *, unsigned, unsigned, unsigned, unsigned);
int cuTensorMapEncodeIm2colWide(void *, unsigned, unsigned, void *, const Long *, const Long *, int, int, unsigned, unsigned, const unsigned *,
                                unsigned, unsigned, unsigned, unsigned, unsigned);
int cuTensorMapReplaceAddress(void *, void *);

static alignas(64) unsigned char map[256];

/* A map of halves, of which one argument is another. */
struct tiled {
  unsigned type, rank;
  Long address, extents[5], strides[4];
  unsigned box[5], steps[5], interleave, swizzle, promotion, fill;
};
static const struct tiled usual = {6, 3, 0x200000000000, {4096, 1024, 7}, {8192, 8388608}, {64, 128, 2}, {1, 1, 1}, 0, 3, 2, 1};

static int made(const struct tiled *tiled, void *to) {
  return cuTensorMapEncodeTiled(to, tiled->type, tiled->rank, (void *)(uintptr_t)tiled->address, tiled->extents, tiled->strides, tiled->box, tiled->steps,
                                tiled->interleave, tiled->swizzle, tiled->promotion, tiled->fill);
}

#define EXPECT(status, change) \
  do { \
    struct tiled changed = usual; \
    struct tiled *t = &changed; \
    change; \
    if (made(t, map) != status) return __LINE__ % 200 + 10; \
  } while (0)
#define REFUSED(change) EXPECT(1, change)
#define ACCEPTED(change) EXPECT(0, change)

static int tiled(void) {
  REFUSED(t->type = 16);
  REFUSED(t->rank = 0);
  REFUSED(t->rank = 6);
  REFUSED(t->address += 8);
  REFUSED(t->extents[1] = 0);
  REFUSED(t->extents[1] = ((Long)1 << 32) + 1);
  ACCEPTED(t->extents[1] = (Long)1 << 32);
  REFUSED(t->strides[0] = 8200);
  REFUSED(t->strides[1] = (Long)1 << 40);
  ACCEPTED(t->strides[1] = ((Long)1 << 40) - 16);
  REFUSED(t->box[1] = 0);
  REFUSED(t->box[1] = 257);
  ACCEPTED(t->box[1] = 256);
  REFUSED(t->box[0] = 128); /* a row of 256 bytes, and a swizzle of 128 */
  ACCEPTED((t->box[0] = 128, t->swizzle = 0));
  REFUSED(t->box[0] = 60);                          /* no multiple of 16 bytes */
  REFUSED((t->swizzle = 1, t->box[0] = 32));        /* 64 bytes, and a swizzle of 32 */
  ACCEPTED((t->swizzle = 2, t->box[0] = 32));
  REFUSED(t->steps[1] = 0);
  REFUSED(t->steps[1] = 9);
  ACCEPTED(t->steps[1] = 8);
  ACCEPTED(t->steps[0] = 0); /* ignored without an interleave */
  REFUSED((t->interleave = 1, t->steps[0] = 0));
  REFUSED((t->interleave = 1, t->rank = 2));
  REFUSED(t->interleave = 2); /* needs a swizzle of 32 bytes */
  ACCEPTED((t->interleave = 2, t->swizzle = 1));
  REFUSED((t->interleave = 2, t->swizzle = 1, t->address += 16));
  REFUSED((t->interleave = 2, t->swizzle = 1, t->strides[0] = 8208));
  REFUSED(t->interleave = 3);
  REFUSED(t->swizzle = 7);
  REFUSED(t->promotion = 4);
  REFUSED(t->fill = 2);
  REFUSED(t->type = 1); /* integers are not filled with NaN */
  ACCEPTED((t->type = 1, t->fill = 0));
  REFUSED((t->type = 14, t->fill = 0)); /* boxes of 4 bits in bytes have rows of 128 */
  ACCEPTED((t->type = 14, t->fill = 0, t->box[0] = 128));
  REFUSED((t->type = 14, t->fill = 0, t->box[0] = 128, t->extents[0] = 4160));
  REFUSED((t->type = 14, t->fill = 0, t->box[0] = 128, t->swizzle = 6));
  ACCEPTED((t->type = 15, t->fill = 0, t->box[0] = 128, t->swizzle = 6));
  REFUSED((t->type = 15, t->fill = 0, t->box[0] = 128, t->address += 16));
  REFUSED((t->type = 13, t->fill = 0, t->extents[0] = 4095));
  if (made(&usual, map + 16) != 1 || made(&usual, NULL) != 1) return 2;
  return cuTensorMapEncodeTiled(map, 6, 3, NULL, NULL, usual.strides, usual.box, usual.steps, 0, 0, 0, 0) != 1;
}

static int im2col(void) {
  const Long extents[] = {64, 56, 55, 54, 8}, strides[] = {128, 7168, 394240, 21288960};
  const unsigned steps[] = {1, 1, 2, 1, 1};
  const int lower[] = {-1, -2, -16}, upper[] = {1, 2, 15}, far[] = {-129, 0, 0};
  void *tensor = (void *)0x200000000000;
  if (cuTensorMapEncodeIm2col(map, 9, 2, tensor, extents, strides, lower, upper, 64, 128, steps, 0, 3, 0, 0) != 1) return 3;
  if (cuTensorMapEncodeIm2col(map, 9, 4, tensor, extents, strides, far, upper, 64, 128, steps, 0, 3, 0, 0) != 1) return 4;
  if (cuTensorMapEncodeIm2col(map, 9, 4, tensor, extents, strides, lower, upper, 64, 1025, steps, 0, 3, 0, 0) != 1) return 5;
  if (cuTensorMapEncodeIm2col(map, 9, 4, tensor, extents, strides, lower, upper, 128, 128, steps, 0, 3, 0, 0) != 1) return 6;
  if (cuTensorMapEncodeIm2colWide(map, 9, 4, tensor, extents, strides, -1, 1, 64, 128, steps, 0, 0, 0, 0, 0) != 1) return 7;
  if (cuTensorMapEncodeIm2colWide(map, 9, 4, tensor, extents, strides, -1, 1, 64, 128, steps, 0, 2, 3, 0, 0) != 1) return 8;
  if (cuTensorMapEncodeIm2col(map, 9, 5, tensor, extents, strides, lower, upper, 64, 96, steps, 0, 3, 1, 0)) return 9;
  fwrite(map, 1, 128, stdout);
  if (cuTensorMapEncodeIm2colWide(map, 9, 4, tensor, extents, strides, -3, 4, 32, 0, steps, 0, 1, 2, 0, 0)) return 10;
  fwrite(map, 1, 128, stdout);
  return 0;
}

int main(void) {
  if (made(&usual, map)) return 1;
  fwrite(map, 1, 128, stdout);
  if (cuTensorMapReplaceAddress(map, (void *)0x200000000008) != 1 || cuTensorMapReplaceAddress(map + 1, NULL) != 1) return 2;
  if (cuTensorMapReplaceAddress(map, (void *)0x300000000010)) return 3;
  fwrite(map, 1, 128, stdout);
  map[40] ^= 1;
  if (cuTensorMapReplaceAddress(map, (void *)0x300000000010) != 1) return 4; /* no map any more */
  int why = im2col();
  fflush(stdout);
  return why ? why : tiled();
}
