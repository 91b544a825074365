/* Unsupported functions of the driver: each reports its name and returns "not supported". A definition in another file overrides it. */
#include "core.h"

#define NAME(function) \
  API __attribute__((weak)) int function(void) { return unsupported(#function, NOT_SUPPORTED); }
#include "driver_names.h"
