/* Push parsers for the two shapes in which the API server streams objects. Bytes go in as they
 * come, complete JSON texts of single objects come out; nothing but the current object is buffered.
 */
#ifndef RCO_JSON_STREAM_H
#define RCO_JSON_STREAM_H

#include "base/buf.h"

#include <stddef.h>

/* Caps. etcd refuses objects above 1.5 MiB by default; JSON may be twice that. */
#define RCO_STREAM_MAX_OBJECT (4 * 1024 * 1024)
#define RCO_STREAM_MAX_ENVELOPE (64 * 1024)

/* A list body: {"kind":..., "metadata":{"resourceVersion":...,"continue":...}, "items":[...]}.
 * metadata may stand before or after items (custom resources put it after). */
struct rco_list_parser;

struct rco_list_handler {
    /* One item, complete JSON text; return -1 with ERR set to stop. */
    int (*item)(void *ctx, const char *json, size_t n, struct rco_error *err);
    void *ctx;
};

/* Copies HANDLER. */
struct rco_list_parser *rco_list_parser_new(const struct rco_list_handler *handler);
void rco_list_parser_free(struct rco_list_parser *p);
/* Feeds N bytes. */
RCO_MUST_CHECK int rco_list_parser_feed(struct rco_list_parser *p, const char *bytes, size_t n,
                                        struct rco_error *err);
/* The body is over: error unless it was one complete list. *RET_RV and *RET_CONTINUE ("" when
 * absent) are borrowed from P. */
RCO_MUST_CHECK int rco_list_parser_finish(struct rco_list_parser *p, const char **ret_rv,
                                          const char **ret_continue, struct rco_error *err);

/* A watch body: one {"type":"ADDED","object":{...}} per line. */
enum rco_watch_type {
    RCO_WATCH_UNKNOWN,
    RCO_WATCH_ADDED,
    RCO_WATCH_MODIFIED,
    RCO_WATCH_DELETED,
    RCO_WATCH_BOOKMARK,
    RCO_WATCH_ERROR
};

struct rco_watch_parser;

struct rco_watch_handler {
    /* One event; OBJECT is the complete JSON text of its object. Return -1 to stop the stream. */
    int (*event)(void *ctx, enum rco_watch_type type, const char *object, size_t n,
                 struct rco_error *err);
    void *ctx;
};

/* Copies HANDLER. */
struct rco_watch_parser *rco_watch_parser_new(const struct rco_watch_handler *handler);
void rco_watch_parser_free(struct rco_watch_parser *p);
/* Feeds N bytes. A partial last line at the end of a stream is simply dropped by _free (A16). */
RCO_MUST_CHECK int rco_watch_parser_feed(struct rco_watch_parser *p, const char *bytes, size_t n,
                                         struct rco_error *err);

#endif
