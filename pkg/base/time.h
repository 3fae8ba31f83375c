/* Times and durations as numbers; parsing and printing of RFC 3339 and Go durations.
 * rco_mono (steady clock) and rco_wall (calendar) are different on purpose. Nothing here reads a
 * clock: that is base/clock.h. */
#ifndef RCO_BASE_TIME_H
#define RCO_BASE_TIME_H

#include "base/error.h"

#include <stdint.h>

typedef int64_t rco_mono; /* nanoseconds of CLOCK_BOOTTIME */
typedef int64_t rco_wall; /* microseconds since 1970-01-01T00:00:00Z; 0 = absent */

#define RCO_NS_PER_MS INT64_C(1000000)
#define RCO_NS_PER_S INT64_C(1000000000)
#define RCO_US_PER_S INT64_C(1000000)

#define RCO_TIME_STR_MAX 40

/* RFC 3339 with Z or numeric offset, optional fraction (digits beyond microseconds are dropped);
 * years 1970..9999. A leap second (:60) counts as :59.999999. */
RCO_MUST_CHECK int rco_wall_parse(const char *s, rco_wall *ret, struct rco_error *err);
/* "2026-11-30T06:40:24Z" (seconds, as metav1.Time) into OUT of RCO_TIME_STR_MAX. */
void rco_wall_format(rco_wall t, char *out);
/* "2026-11-30T06:40:24.123456Z" (as metav1.MicroTime). */
void rco_wall_format_micro(rco_wall t, char *out);

/* Go duration restricted to h, m, s, ms with integers or one decimal fraction ("1h30m", "2.5s");
 * not negative, at most 3660 days. Result in nanoseconds. "0" is accepted. */
RCO_MUST_CHECK int rco_duration_parse(const char *s, int64_t *ret_ns, struct rco_error *err);
/* Shortest form for people: "1h2m", "42s", "850ms". OUT has RCO_TIME_STR_MAX. */
void rco_duration_format(int64_t ns, char *out);

#endif
