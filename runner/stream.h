/* One output stream of the engine on its way into the shared directory: masked, split into lines,
 * capped. Text of programs is kept at its beginning and its end; events are all kept, up to a cap
 * of their own. */
#ifndef RCO_RUNNER_STREAM_H
#define RCO_RUNNER_STREAM_H

#include "pulumi/mask.h"

#include <stdbool.h>
#include <stddef.h>

/* Text: first and last part of what is kept. A run's log is at most a few chunks of 512 KiB. */
#define RCO_STREAM_HEAD (3 * 1024 * 1024)
#define RCO_STREAM_TAIL (1024 * 1024)
/* A line of text is cut behind this. */
#define RCO_STREAM_MAX_TEXT (64 * 1024)
/* Events of one run. What is beyond cannot be counted, so the run fails. */
#define RCO_STREAM_MAX_EVENTS (256LL * 1024 * 1024)

struct rco_stream;

/* Appends to the file PATH, which is made anew. */
struct rco_stream *rco_stream_new(const char *path, struct rco_mask *mask, struct rco_error *err);
void rco_stream_free(struct rco_stream *s);
/* Takes N bytes as they come from the pipe. */
RCO_MUST_CHECK int rco_stream_feed(struct rco_stream *s, const void *bytes, size_t n,
                                   struct rco_error *err);
/* The pipe is at its end: writes what is held back, with a line that says how much was left out. */
RCO_MUST_CHECK int rco_stream_finish(struct rco_stream *s, struct rco_error *err);
/* Whether text, or events, were left out. */
bool rco_stream_text_cut(const struct rco_stream *s);
bool rco_stream_events_cut(const struct rco_stream *s);
/* The first text of the stream, masked; borrowed, for error messages. */
const struct rco_buf *rco_stream_beginning(const struct rco_stream *s);

#endif
