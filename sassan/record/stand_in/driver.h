/* Shared declarations of the driver. */
#ifndef SASSAN_DRIVER_H
#define SASSAN_DRIVER_H

#include "core.h"

/* End a call: the driver has no last error. */
static inline int ended(int status) {
  leave();
  return status == INVALID_CONFIGURATION ? INVALID_VALUE : status;
}

#endif
