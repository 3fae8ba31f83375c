/* Label selectors as the API server reads them (pure). */
#ifndef RCO_RUNTIME_SELECTOR_H
#define RCO_RUNTIME_SELECTOR_H

#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>

/* Whether the N labels match SELECTOR ("a=b,c!=d,e,!f,g in (x,y),h notin (z)"). NULL or "" matches
 * all. A selector that cannot be read matches nothing. */
bool rco_selector_matches(const char *selector, const struct rco_kv *labels, size_t n);

#endif
