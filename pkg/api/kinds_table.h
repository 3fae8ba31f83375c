/* The generated rows behind rco_kind_info; for pkg/api only. */
#ifndef RCO_API_KINDS_TABLE_H
#define RCO_API_KINDS_TABLE_H

#include "api/kinds.h"

extern const struct rco_kind_info rco_kind_table[RCO_KIND_COUNT];

#endif
