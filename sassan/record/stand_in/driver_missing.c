/* Functions of the driver that are there by name: each writes its name down and says that it is not supported. A definition elsewhere wins. */
#include "core.h"

#define NAME(function) \
  API __attribute__((weak)) int function(void) { return unsupported(#function, NOT_SUPPORTED); }
#include "driver_names.h"
