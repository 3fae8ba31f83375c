/* What all verbs of the runner share: the job, where things are mounted, how a container says what
 * became of it. The contract with Job bodies and gateway is docs/runner.md. */
#ifndef RCO_RUNNER_RUNNER_H
#define RCO_RUNNER_RUNNER_H

#include "api/zz_generated_types.h"
#include "base/arena.h"
#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>

#define RCO_RUNNER_PROTOCOL 1
#define RCO_RUNNER_ROOT "/rco"
#define RCO_RUNNER_TERMINATION_LOG "/dev/termination-log"
/* The kubelet keeps no more of a termination message. */
#define RCO_RUNNER_MAX_SUMMARY 4096
#define RCO_RUNNER_MAX_JOB (64 * 1024)

enum rco_runner_exit {
    RCO_EXIT_OK = 0,
    RCO_EXIT_FAILED = 1, /* with a summary */
    RCO_EXIT_USAGE = 2   /* usage error, or RCO_JOB cannot be read */
};

struct rco_runner {
    const char *root; /* where everything is mounted */
    const char *termination_log;
    const char *path;   /* PATH of this container: where programs are looked for */
    const char *tmpdir; /* writable, of this container alone */
    char *const *environ;
    enum rco_runner_summary_container container;
    struct rco_runner_job job; /* decoded RCO_JOB; lives in arena */
    struct rco_arena arena;
    int stop_fd; /* signalfd of SIGTERM and SIGINT, which are blocked */
};

/* Why a verb failed, as it will stand in status.failure. */
struct rco_failure {
    enum rco_failure_class class;
    char message[1024];
    char urn[1024];
};

#define RCO_FAILURE_INIT ((struct rco_failure){.class = RCO_FAILURE_CLASS_UNSET})

/* Sets F and returns -1. */
int rco_failure_set(struct rco_failure *f, enum rco_failure_class class, const char *fmt, ...)
    RCO_PRINTF(3, 4);
/* Sets F from ERR, prefixed with what was being done; class Internal unless CLASS says otherwise.
 */
int rco_failure_error(struct rco_failure *f, enum rco_failure_class class,
                      const struct rco_error *err, const char *doing);
/* Copies at most SIZE - 1 bytes of TEXT to OUT without cutting a UTF-8 character. */
void rco_text_cut(char *out, size_t size, const char *text);

/* ROOT/NAME in the runner's arena. */
const char *rco_runner_path(struct rco_runner *r, const char *name);
const char *rco_runner_pathf(struct rco_runner *r, const char *fmt, ...) RCO_PRINTF(2, 3);

/* Decodes TEXT (RCO_JOB) into R->job and checks what must be there. */
RCO_MUST_CHECK int rco_runner_load_job(struct rco_runner *r, const char *text,
                                       struct rco_error *err);

/* Writes the termination message: SUMMARY with container and phase filled in; the log and then
 * parts of the receipt are cut until it fits. A message that cannot be written is only logged. */
void rco_runner_write_summary(struct rco_runner *r, struct rco_runner_summary *summary);
/* Logs F, writes the summary with F and the end of LOG (may be NULL); returns RCO_EXIT_FAILED. */
int rco_runner_fail(struct rco_runner *r, const struct rco_failure *f, const struct rco_buf *log);

/* The verbs. Each returns an exit code. */
int rco_verb_fetch(struct rco_runner *r);
int rco_verb_install(struct rco_runner *r);
int rco_verb_engine(struct rco_runner *r);
int rco_verb_report(struct rco_runner *r);

/* "0.1.0" */
const char *rco_runner_version(void);

#endif
