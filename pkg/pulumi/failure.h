/* Failure classes of a run: their words, whether and when a new run may be tried, and how an exit
 * code and texts of the engine, of Git and of the installers map to them. */
#ifndef RCO_PULUMI_FAILURE_H
#define RCO_PULUMI_FAILURE_H

#include "api/zz_generated_types.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What may follow a failure without anybody changing anything. */
enum rco_retry {
    RCO_RETRY_NEVER,  /* new input or run-now starts again */
    RCO_RETRY_ONCE,   /* one new run (a fresh plan), at once; never a loop */
    RCO_RETRY_BACKOFF /* a new run after the delays of the row, the last one repeating */
};

#define RCO_RETRY_STEPS 4

struct rco_fail_row {
    enum rco_failure_class fail;
    enum rco_retry retry;
    int64_t delay_s[RCO_RETRY_STEPS]; /* after the 1st, 2nd, 3rd and each further failure */
    const char *remedy;               /* one sentence: what a person can do */
};

/* Row of F; never NULL. */
const struct rco_fail_row *rco_fail_row(enum rco_failure_class f);
/* Seconds to wait before the new run after the ATTEMPT-th failure in a row (from 1), -1 = no new
 * run. */
int64_t rco_fail_delay(enum rco_failure_class f, int64_t attempt);

/* What is known of an ended engine. */
struct rco_engine_end {
    int exit_code;         /* -1 when ended by a signal */
    bool timed_out;        /* we stopped it because spec.runner.timeout was over */
    bool cancelled;        /* we stopped it on request, or because the pod was asked to end */
    bool plan_violation;   /* an error said that the plan is violated */
    bool policy_violation; /* a mandatory policy event was seen */
    bool resource_failed;  /* a resOpFailedEvent was seen */
    bool program_failed;   /* the error is one of the program's own */
    const char *error;     /* first error diagnostic, or first error line of stderr; may be NULL */
};

/* Class of an engine that did not succeed: by what we did to it, then exit code, then events, then
 * text (iac.md C2). Never RCO_FAILURE_CLASS_UNSET. */
enum rco_failure_class rco_fail_of_engine(const struct rco_engine_end *end);
/* Class of a failed git command by its stderr. */
enum rco_failure_class rco_fail_of_git(const char *text);
/* Class of a failed installer by its output. */
enum rco_failure_class rco_fail_of_install(const char *text);

/* The first line of TEXT (N bytes) that says what went wrong, for git, pulumi, npm and pip output,
 * without prefix noise; else the last line that is not blank. Returns its start and *RET_LEN, or
 * NULL when there is none. Borrowed from TEXT. */
const char *rco_fail_first_line(const char *text, size_t n, size_t *ret_len);

#endif
