/* Streaming JSON writer. Every body we send is made with it, so escaping is never forgotten. */
#ifndef RCO_JSON_WRITER_H
#define RCO_JSON_WRITER_H

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>

#define RCO_JSON_WRITER_DEPTH 64 /* deeper nesting is a broken invariant (assert) */

struct rco_json_writer {
    struct rco_buf *out; /* borrowed */
    unsigned depth;
    bool need_comma;
    bool after_key;
    unsigned char kind[RCO_JSON_WRITER_DEPTH]; /* '{' or '[' per level */
};

/* Starts writing at the end of OUT, which must outlive the writer. */
void rco_json_writer_init(struct rco_json_writer *w, struct rco_buf *out);

/* Structure; commas come by themselves. A key stands before each value of an object. */
void rco_json_begin_object(struct rco_json_writer *w);
void rco_json_end_object(struct rco_json_writer *w);
void rco_json_begin_array(struct rco_json_writer *w);
void rco_json_end_array(struct rco_json_writer *w);
void rco_json_key(struct rco_json_writer *w, const char *key);

/* Values. Text is UTF-8; invalid bytes become U+FFFD so that a body is always valid JSON. */
void rco_json_string(struct rco_json_writer *w, const char *s); /* NULL writes null */
void rco_json_string_n(struct rco_json_writer *w, const char *s, size_t n);
void rco_json_int(struct rco_json_writer *w, int64_t v);
void rco_json_bool(struct rco_json_writer *w, bool v);
void rco_json_null(struct rco_json_writer *w);
/* JSON is complete valid JSON text made by a writer or an encoder. */
void rco_json_raw(struct rco_json_writer *w, const char *json, size_t n);

/* Key and value in one call; the _opt forms write nothing for NULL or "". */
void rco_json_kv_string(struct rco_json_writer *w, const char *key, const char *s);
void rco_json_kv_string_opt(struct rco_json_writer *w, const char *key, const char *s);
void rco_json_kv_int(struct rco_json_writer *w, const char *key, int64_t v);
void rco_json_kv_bool(struct rco_json_writer *w, const char *key, bool v);
void rco_json_kv_object(struct rco_json_writer *w, const char *key); /* key and '{' */
void rco_json_kv_array(struct rco_json_writer *w, const char *key);  /* key and '[' */

#endif
