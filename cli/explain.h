/* From objects to plain words: is it fine, what is waited for, who must act, which command comes
 * next. Pure: facts in, explanation out. The screens of status, run show and why print the same
 * explanation. */
#ifndef RCO_CLI_EXPLAIN_H
#define RCO_CLI_EXPLAIN_H

#include "api/zz_generated_types.h"
#include "base/arena.h"
#include "base/time.h"

#include <stdbool.h>
#include <stddef.h>

#define RCO_EXPLAIN_MAX_WHY 8
#define RCO_EXPLAIN_MAX_NEXT 6
#define RCO_EXPLAIN_LONG_US (60 * RCO_US_PER_S) /* an engine at work for longer may be stuck */
#define RCO_EXPLAIN_MAX_SAYS 200                /* columns of what an engine says */

#define RCO_EXPLAIN_ACCOUNTS 2               /* of plans and of applies */
#define RCO_EXPLAIN_POD_REFUSED "PodRefused" /* a run's reason: the namespace took no pod of it */

enum rco_health {
    RCO_HEALTH_FINE,    /* what is declared is applied */
    RCO_HEALTH_BUSY,    /* goes on by itself */
    RCO_HEALTH_WAITING, /* waits for something or somebody */
    RCO_HEALTH_BAD      /* failed; only a change helps */
};

/* What was read about one object. All borrowed; NULL = not there, not read or not allowed. */
struct rco_facts {
    rco_wall now;
    const char *flags;   /* appended to commands, like " -n team-a"; never NULL */
    const char *cluster; /* the same without a namespace, like " --context x"; NULL = none */
    const struct rco_depspec *spec;
    const struct rco_env *env;
    bool env_missing;                  /* looked for and not there, as against not read */
    const struct rco_run *run;         /* the run in question, or the specification's current one */
    const struct rco_run *last;        /* the newest run that ended */
    const struct rco_run *applied;     /* the run that applied the applied version */
    const struct rco_run *outputs_of;  /* the one before that had outputs, when APPLIED had nothing
                                          to change; else NULL */
    const struct rco_pod *const *pods; /* of RUN's present phase */
    size_t n_pods;
    bool pods_unread;        /* nobody looked for them */
    const char *job_trouble; /* why the Job of that phase could make no pod, as an Event says */
    const char *no_account[RCO_EXPLAIN_ACCOUNTS]; /* service accounts that do not exist, of ENV or
                                                     of a run without a pod */
    size_t n_no_account;
    const char *engine_says;     /* the newest line of the engine that works; not cleaned */
    const char *user;            /* who asks, for commands that name him */
    const struct rco_pvc *claim; /* the state claim of ENV */
};

struct rco_explanation {
    enum rco_health health;
    const char *word; /* one word or two: "Applied", "Waiting", "Failed" */
    const char *what; /* the sentence: what the situation is */
    const char *why[RCO_EXPLAIN_MAX_WHY];
    size_t n_why;
    const char *who;                        /* who must act; NULL where nobody must */
    const char *next[RCO_EXPLAIN_MAX_NEXT]; /* commands, most useful first */
    size_t n_next;
};

/* Fills OUT with text in A. F->spec, F->run or F->env must be there. */
void rco_explain_spec(const struct rco_facts *f, struct rco_arena *a, struct rco_explanation *out);
void rco_explain_run(const struct rco_facts *f, struct rco_arena *a, struct rco_explanation *out);
void rco_explain_env(const struct rco_facts *f, struct rco_arena *a, struct rco_explanation *out);

/* Condition TYPE of N conditions C, or NULL. */
const struct rco_condition *rco_explain_condition(const struct rco_condition *c, size_t n,
                                                  const char *type);
/* Whether it is there and "True". */
bool rco_explain_is_true(const struct rco_condition *c, size_t n, const char *type);
/* Whether the engine of the run's present phase has begun and not ended. */
bool rco_explain_engine_works(const struct rco_run *run);
/* The command, in A, with which USER (NULL: a placeholder) cancels run NAME. */
const char *rco_explain_cancel(struct rco_arena *a, const char *name, const char *user,
                               const char *flags);
/* Number of the exit code for a health: 0 fine, 1 anything else. */
int rco_explain_exit(enum rco_health health);
/* "fine", "busy", "waiting", "bad": for JSON. */
const char *rco_health_name(enum rco_health health);

#endif
