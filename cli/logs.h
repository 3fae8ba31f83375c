/* Logs of runs: stored ones from chunks, running ones from pods. */
#ifndef RCO_CLI_LOGS_H
#define RCO_CLI_LOGS_H

#include "api/zz_generated_types.h"
#include "cli.h"

#define RCO_LOGS_MAX_SIZE (64 * 1024 * 1024) /* of one stored log */

/* The stored log of PHASE (UNSET: the newest phase that has one), or NULL. Pure. */
const struct rco_artifact *rco_logs_find(const struct rco_run *run, enum rco_engine_phase phase);

/* Appends the whole artifact to OUT, put together from its ConfigMaps. A missing chunk is
 * RCO_ENOTFOUND and names it. When size or digest are not the recorded ones OUT still has what was
 * found, and the error is RCO_EINTERNAL. */
RCO_MUST_CHECK int rco_logs_read(struct rco_cli *cli, const struct rco_run *run,
                                 const struct rco_artifact *artifact, struct rco_buf *out,
                                 struct rco_error *err);

/* Prints text of a log: as it is to a file, harmless to a terminal. Keeps an unfinished last line
 * in PENDING until it is complete; N = 0 prints what is left. */
void rco_logs_print(struct rco_cli *cli, struct rco_buf *pending, const char *bytes, size_t n);

/* Prints the log of one container, following it to its end when FOLLOW says so. */
enum rco_follow { RCO_FOLLOW_NO, RCO_FOLLOW_YES };
RCO_MUST_CHECK int rco_logs_pod(struct rco_cli *cli, const char *ns, const char *pod,
                                const char *container, enum rco_follow follow,
                                struct rco_error *err);

#endif
