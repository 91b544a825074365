/* Functions of the runtime that are there by name: each writes its name down and says that it is not supported. A definition elsewhere wins. */
#include "runtime.h"

#define NAME(function) \
  API __attribute__((weak)) int function(void) { return missing(#function); }
#include "runtime_names.h"
