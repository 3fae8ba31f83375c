/* Changing one member of a JSON text without knowing the rest of it. */
#ifndef RCO_JSON_EDIT_H
#define RCO_JSON_EDIT_H

#include "base/buf.h"

#include <stddef.h>

/* Appends the object JSON[0..N) to OUT with OUTER.INNER set to the string VALUE; OUTER is made when
 * it is not there, everything else is kept as it stands. RCO_EINVALID when JSON is not an object or
 * its OUTER is not one; OUT is unchanged then. */
RCO_MUST_CHECK int rco_json_set_nested(const char *json, size_t n, const char *outer,
                                       const char *inner, const char *value, struct rco_buf *out,
                                       struct rco_error *err);

#endif
