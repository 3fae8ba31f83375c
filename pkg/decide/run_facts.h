/* What a ProvisioningRun's decision knows: facts derived from what was observed, the status that is
 * being decided, and the helpers that all parts of the table share. */
#ifndef RCO_DECIDE_RUN_FACTS_H
#define RCO_DECIDE_RUN_FACTS_H

#include "api/zz_generated_types.h"
#include "decide/conditions.h"
#include "decide/run.h"
#include "plan/plan.h"

#define RCO_RUN_LOOK_NS (20 * RCO_NS_PER_S)  /* a pod that has not started is looked at again */
#define RCO_RUN_RETRY_NS (60 * RCO_NS_PER_S) /* what was refused or waits is looked at again */

/* A receipt to decide about: one that waits at the gateway, or the one in the termination message
 * of a report container that could not deliver it. */
struct rco_run_receipt {
    bool present;
    uint64_t exchange; /* 0: from the termination message, nobody waits */
    enum rco_phase phase;
    const char *pod_uid;
    const struct rco_runner_receipt *body; /* NULL: cannot be read */
    const char *error;                     /* why it cannot be used; NULL: it can */
};

struct rco_run_ctx {
    const struct rco_run_observed *o;
    const struct rco_run *run;
    const struct rco_meta *meta;
    rco_wall now;
    struct rco_plan *plan;
    struct rco_arena *a;
    enum rco_run_state state;
    enum rco_phase phase;               /* plan while Planning, apply while Applying, else none */
    bool started;                       /* the engine of this phase was allowed to start */
    const struct rco_depspec *spec;     /* NULL: the specification with the recorded uid is gone */
    const struct rco_job *job;          /* the recorded one, or NULL */
    const struct rco_configmap *anchor; /* the recorded one, or NULL */
    const struct rco_pod *pod;          /* of the phase: the recorded one, else the newest */
    const char *stop;      /* why the run should not go on, one word; NULL: it should */
    const char *stop_text; /* the same for people */
    const struct rco_mailbox_start *start; /* the first that waits, or NULL */
    const struct rco_pod *start_pod;       /* its pod, or NULL: not seen yet */
    const struct rco_lease
        *claim; /* of the stack, by the name that project and stack give; or NULL */
    struct rco_run_receipt receipt;
    struct rco_run_status next;
    struct rco_conditions conditions;
};

#define RCO_RUN_CTX(p) ((struct rco_run_ctx *)(p))

/* Derives everything; OBSERVED->run is not NULL. */
void rco_run_ctx_init(struct rco_run_ctx *c, const struct rco_run_observed *observed, rco_wall now,
                      struct rco_plan *plan);

/* Whether the run has not come to PHASE yet, as far as the cache shows: of a new leader it may lag, so that
 * a pod of that phase is not refused for ever. */
bool rco_run_is_before(const struct rco_run_ctx *c, enum rco_phase phase);

/* Since when JOB counts as over; 0: it does not. */
rco_wall rco_job_over_since(const struct rco_job *job);

/* ---- pods (run_pods.c) ---- */
const struct rco_container_status *rco_pod_container(const struct rco_pod *pod, const char *name);
const struct rco_pod *rco_run_pod_by_uid(const struct rco_run_ctx *c, const char *uid);
/* Of the pod that a Job made: whether everything in it has ended, or never began and never will. */
bool rco_pod_is_over(const struct rco_pod *pod);
bool rco_run_engine_ended(const struct rco_run_ctx *c, const struct rco_pod *pod);
/* Whether POD is on a node that is fenced, or on one that is no longer there. */
bool rco_run_is_fenced(const struct rco_run_ctx *c, const struct rco_pod *pod);
bool rco_run_is_node_gone(const struct rco_run_ctx *c, const struct rco_pod *pod);
/* Whether POD carries our engine finalizer. */
bool rco_pod_is_held(const struct rco_pod *pod);
/* Digest of the image that runs, from the status of a container; NULL: not known yet. */
const char *rco_pod_image_digest(const struct rco_pod *pod, struct rco_arena *a);
/* The termination message of CONTAINER, decoded; NULL: none, or not one of ours. */
const struct rco_runner_summary *rco_pod_summary(const struct rco_pod *pod, const char *container,
                                                 struct rco_arena *a);

/* ---- stops and siblings (run_stop.c) ---- */
/* Word and text of why RUN should not go on, or NULL. */
const char *rco_run_stop(const struct rco_run *run, const struct rco_depspec *spec,
                         const struct rco_run *const *others, size_t n_others, struct rco_arena *a,
                         const char **ret_text);
/* A run that keeps this one from starting an engine, or NULL; *RET_REASON is StackBusy or
 * VolumeBusy. */
const struct rco_run *rco_run_blocker(const struct rco_run_ctx *c, const char **ret_reason);

/* ---- writing the status (run_status.c) ---- */
/* Adds the status patch when something differs. */
void rco_run_commit(struct rco_run_ctx *c);
/* Moves to an unfinished STATE: Ready=Unknown, Reconciling, with REASON (NULL: the state's name).
 */
void rco_run_enter(struct rco_run_ctx *c, enum rco_run_state state, const char *reason,
                   const char *message);
/* Ends the run as Failed; REASON NULL = the class. Commits, with domain and Kubernetes event. */
void rco_run_fail(struct rco_run_ctx *c, enum rco_failure_class class, const char *reason,
                  const char *message);
/* The same with the URN that failed. */
void rco_run_fail_at(struct rco_run_ctx *c, const struct rco_run_failure *failure,
                     const char *reason);
/* Ends the run as Cancelled or Rejected because of c->stop. Commits. */
void rco_run_end_stopped(struct rco_run_ctx *c, enum rco_run_state state);
/* Stalled without a change of state. Commits. */
void rco_run_stall(struct rco_run_ctx *c, const char *reason, const char *message);
/* Takes a stall back: Ready, Reconciling and Stalled say again what Succeeded says of the state the
 * run is in. Commits. */
void rco_run_stall_over(struct rco_run_ctx *c);
/* Adds a reply with {"message": MESSAGE}. */
void rco_run_refuse(struct rco_run_ctx *c, uint64_t exchange, int status, const char *message);
/* Whether the run counts as production now: by its snapshot, or because its Environment became it.
 */
bool rco_run_is_production(const struct rco_run_ctx *c);
/* The plan changes nothing and neither do the outputs. */
bool rco_run_has_no_changes(const struct rco_run_ctx *c);
/* "+2 ~1 -0 +-0" of the recorded plan. */
const char *rco_run_counts(const struct rco_run_ctx *c);

/* ---- claim (run_claim.c) ---- */
bool rco_claim_is_busy(const struct rco_lease *claim);

#endif
