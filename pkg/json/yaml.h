/* YAML for files that people write: one document becomes JSON text, and that goes through the
 * codec, so that both have the same rules. Anchors, aliases, tags of its own, merge keys and keys
 * that are not text are refused; plain scalars are typed as YAML 1.2's core schema does (yes, no,
 * on, off stay text). */
#ifndef RCO_JSON_YAML_H
#define RCO_JSON_YAML_H

#include "json/codec.h"

#define RCO_YAML_MAX_TEXT (4 * 1024 * 1024)
#define RCO_YAML_MAX_DEPTH RCO_JSON_MAX_DEPTH

/* Appends the only document of YAML[0..N) to OUT as JSON; no document at all becomes null. Errors
 * name the line. */
RCO_MUST_CHECK int rco_yaml_to_json(const char *yaml, size_t n, struct rco_buf *out,
                                    struct rco_error *err);

/* Calls EACH with the JSON text of every document in turn, leaving out empty ones; INDEX counts
 * from 0, LINE is where the document begins. EACH stops the walk with -1 and ERR. */
typedef int (*rco_yaml_each_fn)(void *ctx, size_t index, size_t line, const char *json, size_t n,
                                struct rco_error *err);
RCO_MUST_CHECK int rco_yaml_each(const char *yaml, size_t n, rco_yaml_each_fn each, void *ctx,
                                 struct rco_error *err);

/* Decodes the only document into OBJ, as rco_codec_decode does. An empty text leaves OBJ zeroed. */
RCO_MUST_CHECK int rco_yaml_decode(const struct rco_schema *schema, const char *yaml, size_t n,
                                   struct rco_arena *a, void *obj, struct rco_error *err);
/* The same, but a field that SCHEMA does not know is an error: a typing mistake in a configuration
 * must not pass in silence. */
RCO_MUST_CHECK int rco_yaml_decode_strict(const struct rco_schema *schema, const char *yaml,
                                          size_t n, struct rco_arena *a, void *obj,
                                          struct rco_error *err);

#endif
