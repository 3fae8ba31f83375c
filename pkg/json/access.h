/* Reaching the members that a field table describes. For pkg/json only. */
#ifndef RCO_JSON_ACCESS_H
#define RCO_JSON_ACCESS_H

#include "json/codec.h"

/* Pointers to the value and to its has_ or n_ member inside OBJ. */
#define RCO_AT(T, OBJ, F) ((T *)((char *)(uintptr_t)(OBJ) + (F)->offset))
#define RCO_HAS(OBJ, F) ((bool *)((char *)(uintptr_t)(OBJ) + (F)->aux_offset))
#define RCO_COUNT(OBJ, F) ((size_t *)((char *)(uintptr_t)(OBJ) + (F)->aux_offset))

/* Whether the field of OBJ is there, as encoding sees it (an enum's unknown word is not). */
bool rco_field_present(const struct rco_field *f, const void *obj);
/* Item I of a list of structs. */
void *rco_field_item(const struct rco_field *f, const void *obj, size_t i);

#endif
