/* Reading of a file that another container is still writing, line by line. */
#ifndef RCO_RUNNER_TAIL_H
#define RCO_RUNNER_TAIL_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>

struct rco_tail {
    const char *path; /* borrowed */
    int fd;           /* -1 until the file is there */
    struct rco_buf line;
    bool too_long; /* the current line is longer than the cap and is skipped */
};

typedef void (*rco_tail_fn)(void *ctx, const char *line, size_t n);

/* PATH need not be there yet. */
void rco_tail_init(struct rco_tail *t, const char *path);
void rco_tail_release(struct rco_tail *t);
/* Calls FN for each complete line that is there now, without its line end; lines beyond the cap of
 * an event are given as their first bytes. Reads at most BUDGET bytes; true when there may be more.
 */
bool rco_tail_read(struct rco_tail *t, size_t budget, rco_tail_fn fn, void *ctx);

#endif
