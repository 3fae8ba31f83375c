/* Struct to JSON through a writer, so that patches can use it for parts. For pkg/json only. */
#ifndef RCO_JSON_ENCODE_H
#define RCO_JSON_ENCODE_H

#include "json/codec.h"
#include "json/writer.h"

/* Writes the value (not the key) of field F of OBJ, which is present. */
void rco_encode_field(struct rco_json_writer *w, const struct rco_field *f, const void *obj);
void rco_encode_struct(struct rco_json_writer *w, const struct rco_schema *schema, const void *obj);

#endif
