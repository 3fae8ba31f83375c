/* Texts for people from the engine's events: the log, and the difference a plan makes. Both are cut
 * at caps and are valid UTF-8 without control characters, whatever a program printed. */
#ifndef RCO_RUNNER_RENDER_H
#define RCO_RUNNER_RENDER_H

#include "base/buf.h"
#include "pulumi/events.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RCO_LOG_HEAD (3 * 1024 * 1024)
#define RCO_LOG_TAIL (1024 * 1024)
#define RCO_LOG_PROGRESS_MAX 1000 /* lines of what providers say while they wait */
#define RCO_DIFF_MAX (1024 * 1024)

typedef void (*rco_render_on_text)(void *ctx, const char *text, size_t n);

/* Beginning and end of a text, at most RCO_LOG_HEAD + RCO_LOG_TAIL. */
struct rco_render_log {
    struct rco_buf head, tail;
    size_t left_out;
    uint64_t progress[16]; /* hashes of the newest such lines */
    size_t progress_count;
    rco_render_on_text on_text; /* called with what is added, made printable; may be NULL */
    void *ctx;
};

void rco_render_log_release(struct rco_render_log *l);
/* Adds N bytes, made printable. */
void rco_render_log_text(struct rco_render_log *l, const char *text, size_t n);
/* Adds what one event says; LINE is its own text when it is no event. */
void rco_render_log_event(struct rco_render_log *l, const struct rco_engine_event *e,
                          const char *line, size_t n);
/* Joins everything into OUT; true when something was left out. */
bool rco_render_log_finish(struct rco_render_log *l, struct rco_buf *out);

/* Appends what a planned step changes; false when OUT is full and it was left out. */
bool rco_render_diff(const struct rco_engine_event *e, struct rco_buf *out);

/* Appends N bytes of TEXT to OUT: invalid UTF-8 becomes U+FFFD, control characters but line ends
 * and tabs are dropped. */
void rco_render_printable(const char *text, size_t n, struct rco_buf *out);

#endif
