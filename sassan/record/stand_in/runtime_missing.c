/* Unsupported functions of the runtime: each reports its name and returns "not supported". A definition in another file overrides it. */
#include "runtime.h"

#define NAME(function) \
  API __attribute__((weak)) int function(void) { return missing(#function); }
#include "runtime_names.h"
