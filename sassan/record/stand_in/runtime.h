/* Shared declarations of the runtime. */
#ifndef SASSAN_RUNTIME_H
#define SASSAN_RUNTIME_H

#include "core.h"

/* End a call: store its status for cudaGetLastError, and release the lock. */
HIDDEN int done(int status);
/* The result of an unsupported function. */
HIDDEN int missing(const char *name);
/* The kernel of a host function or a handle. */
HIDDEN struct kernel *kernel_named(const void *handle);
/* Copies between memory that may be an array. */
struct array {
  size_t width, height, depth, element, pitch;
  char *data;
  int format[5];
  unsigned flags;
};

struct extent {
  size_t width, height, depth;
};
struct position {
  size_t x, y, z;
};
struct pitched {
  void *start;
  size_t pitch, width, height;
};
struct copy_parameters {
  struct array *source_array;
  struct position source_position;
  struct pitched source;
  struct array *target_array;
  struct position target_position;
  struct pitched target;
  struct extent extent;
  int kind;
};
HIDDEN struct operation copy_of(const struct copy_parameters *parameters);

#endif
