/* Carries a plan out: in order, one action after the other was acknowledged, stopping at the first
 * failure. The only code of the product that writes to the API server. */
#ifndef RCO_RUNTIME_EXECUTOR_H
#define RCO_RUNTIME_EXECUTOR_H

#include "kube/client.h"
#include "plan/plan.h"
#include "runtime/gate.h"
#include "runtime/recorder.h"

/* A write must be over before a lease that was nearly over when it began could expire: lease -
 * renew of the defaults (A93). */
#define RCO_WRITE_DEADLINE_NS (10 * RCO_NS_PER_S)

enum rco_execution_result {
    RCO_EXECUTION_DONE,     /* every action was acknowledged */
    RCO_EXECUTION_CONFLICT, /* 409, 404 on patch or delete: the cache is behind, decide again soon
                             */
    RCO_EXECUTION_RETRY,    /* transient or ambiguous: again with backoff, after reading back */
    RCO_EXECUTION_REFUSED,  /* a create was refused, or its name is taken: an outcome for the next
                               observe */
    RCO_EXECUTION_TERMINAL, /* 4xx that repeating cannot help */
    RCO_EXECUTION_FENCED    /* not leader, or the lease is nearly over: nothing more was written */
};
const char *rco_execution_result_name(enum rco_execution_result r);

struct rco_execution; /* one plan under way */

struct rco_executor_options {
    struct rco_loop *loop;
    struct rco_kube_client *client;
    struct rco_recorder *recorder; /* NULL = events are dropped */
    /* Asked before each write and each reply; false = fenced. NULL = always true. */
    bool (*may_write)(void *ctx);
    /* A deferred reply whose writes were acknowledged. */
    void (*reply)(void *ctx, uint64_t mailbox, int http_status, const char *body, size_t n);
    /* Whether the caches will show the object META of KIND, so that the key waits for it (A78).
     * NULL = yes. */
    bool (*watched)(void *ctx, enum rco_kind kind, const struct rco_meta *meta);
    /* Each write's result, for metrics; CODE "" = success. */
    void (*wrote)(void *ctx, enum rco_action_type type, enum rco_kind kind, const char *code);
    void *ctx;
};

struct rco_executor;
/* Copies OPTIONS; what they point to is borrowed. */
struct rco_executor *rco_executor_new(const struct rco_executor_options *options);
/* All executions must be over or cancelled. */
void rco_executor_free(struct rco_executor *e);

/* Collected outcomes: strings owned by the list. */
struct rco_outcomes {
    struct rco_outcome *items;
    size_t n;
};
#define RCO_OUTCOMES_MAX 64 /* of one key; the oldest go first */
void rco_outcomes_release(struct rco_outcomes *o);
/* Replaces an earlier outcome of the same kind and name. Copies. */
void rco_outcomes_put(struct rco_outcomes *o, const struct rco_outcome *outcome);

struct rco_execution_report {
    enum rco_execution_result result;
    const struct rco_error *err;     /* NULL when done */
    const struct rco_action *failed; /* the action that stopped it, or NULL */
    struct rco_outcomes *outcomes;   /* of the creates; the callback may take the contents */
    struct rco_gate **gate;          /* expectations of the writes; the callback may take it */
    unsigned writes;
    bool ambiguous; /* a write's answer was lost: its target must be seen anew before the next write
                     */
};
typedef void (*rco_execution_done)(void *ctx, const struct rco_execution_report *report);

/* PLAN and its arena are borrowed until DONE, which is never called from inside. */
struct rco_execution *rco_executor_run(struct rco_executor *e, const struct rco_plan *plan,
                                       rco_execution_done done, void *ctx);
/* DONE is not called; the write under way may or may not happen. */
void rco_execution_cancel(struct rco_execution *x);

#endif
