/* Regular expressions as RE2 reads them, as far as our CRDs use them: the API server's, not
 * POSIX's. Matched in linear time; bytes stand for characters. */
#ifndef RCO_SIM_SCHEMA_REGEX_H
#define RCO_SIM_SCHEMA_REGEX_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

struct sim_regex;

/* NULL when PATTERN uses something that is not known here. Lives in A. */
const struct sim_regex *sim_regex_new(struct rco_arena *a, const char *pattern);
/* Whether some part of TEXT matches. */
bool sim_regex_matches(const struct sim_regex *r, const char *text, size_t n);

#endif
