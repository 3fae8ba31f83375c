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

#define RCO_LOGS_QUIET_S 30  /* a followed log may be silent for so long before that is said */
#define RCO_LOGS_REMIND_S 60 /* and is said again after so long */

/* How long a log that is followed has been silent. Begins anew with each piece that comes. */
struct rco_logs_quiet {
    rco_mono heard;   /* when something came, or the following began; 0 = not yet */
    rco_mono told;    /* when silence was last said; 0 = never */
    const char *next; /* the command to name, or NULL */
};

/* Whether to say at NOW that nothing comes; if so, remembers it and gives the seconds. Pure. */
bool rco_logs_quiet_due(struct rco_logs_quiet *q, rco_mono now, int64_t *ret_s);

/* Says WHAT and for how long nothing has come when that is due: on standard error, so that standard
 * output has the log and nothing else. */
void rco_logs_quiet_say(struct rco_logs_quiet *q, const char *what);

/* Prints the log of one container; with QUIET follows it to its end, and says on standard error
 * when nothing comes. */
RCO_MUST_CHECK int rco_logs_pod(struct rco_cli *cli, const char *ns, const char *pod,
                                const char *container, struct rco_logs_quiet *quiet,
                                struct rco_error *err);

/* The newest line of TEXT, in A, that is neither empty nor of the runner itself, or NULL. Pure. */
const char *rco_logs_newest_line(struct rco_arena *a, const char *text, size_t n);
/* The newest line, in the invocation's arena, that the container's log has and that is not of the
 * runner itself; NULL when there is none or it may not be read. As it came: not cleaned. */
const char *rco_logs_last_line(struct rco_cli *cli, const char *ns, const char *pod,
                               const char *container);

#endif
