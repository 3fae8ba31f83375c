/* The only place that reads clocks and the random source. Pure code takes them as parameters. */
#ifndef RCO_BASE_CLOCK_H
#define RCO_BASE_CLOCK_H

#include "base/time.h"

#include <stddef.h>

/* CLOCK_BOOTTIME: goes on during suspend, so that a tenure never looks young after a wake-up. */
rco_mono rco_clock_mono(void);
rco_wall rco_clock_wall(void);
/* N bytes from getrandom(2); aborts if the kernel refuses. */
void rco_clock_random(void *out, size_t n);

#endif
