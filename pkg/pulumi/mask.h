/* Removes known secret values from a byte stream, also where a value lies across reads or lines,
 * and in the forms in which values travel: JSON escapes, Base64 at any alignment, URL encoding,
 * hex, single lines of a multi-line value, texts within a JSON value.
 *
 * A line that begins with '{' stays valid JSON: within a string a value becomes "[masked]", outside
 * (a number) it becomes 9. */
#ifndef RCO_PULUMI_MASK_H
#define RCO_PULUMI_MASK_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Shorter values cannot be told from ordinary text and are not masked. */
#define RCO_MASK_MIN 4
/* Lines of a value, texts in a JSON value: shorter ones are not masked by themselves. */
#define RCO_MASK_MIN_PART 8
/* Caps of one value and of all values together, for the memory of the search tree. */
#define RCO_MASK_MAX_VALUE (64 * 1024)
#define RCO_MASK_MAX_TOTAL (256 * 1024)

struct rco_mask;

/* Masks nothing yet. */
struct rco_mask *rco_mask_new(void);
void rco_mask_free(struct rco_mask *m);
/* Adds a value with all its forms. RCO_ETOOBIG above a cap; RCO_EINVALID when the value is a word
 * of the engine's own event format ("update", "urn"), whose masking would destroy the events.
 * Values below RCO_MASK_MIN are accepted and ignored. Not after the first _stream_feed. */
RCO_MUST_CHECK int rco_mask_add(struct rco_mask *m, const void *value, size_t n,
                                struct rco_error *err);
size_t rco_mask_count(const struct rco_mask *m); /* patterns */

/* One masked stream; several may share a mask. */
struct rco_mask_stream;

/* M is borrowed. */
struct rco_mask_stream *rco_mask_stream_new(struct rco_mask *m);
void rco_mask_stream_free(struct rco_mask_stream *s);
/* Feeds N bytes and appends to OUT what can no longer be part of a value. */
void rco_mask_stream_feed(struct rco_mask_stream *s, const void *bytes, size_t n,
                          struct rco_buf *out);
/* The stream is over: appends the rest. */
void rco_mask_stream_finish(struct rco_mask_stream *s, struct rco_buf *out);

/* A whole text at once, appended to OUT. */
void rco_mask_text(struct rco_mask *m, const void *text, size_t n, struct rco_buf *out);

#endif
