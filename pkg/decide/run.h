/* Decision for one ProvisioningRun: the whole way from Pending to a final state
 * (design 1.4, 3.5, 3.6). */
#ifndef RCO_DECIDE_RUN_H
#define RCO_DECIDE_RUN_H

#include "base/time.h"
#include "decide/common.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rco_buf;
struct rco_configmap;
struct rco_depspec;
struct rco_env;
struct rco_job;
struct rco_lease;
struct rco_node;
struct rco_outcome;
struct rco_plan;
struct rco_pod;
struct rco_runner_receipt;
struct rco_run;
struct rco_table;
struct rco_runner_start;

/* One request that waits at the gateway for a reply of the decision. EXCHANGE goes back in
 * rco_plan_reply. The gateway has checked the token: pod name and uid are TokenReview's. */
struct rco_mailbox_start {
    uint64_t exchange; /* never 0 */
    enum rco_phase phase;
    const char *pod_name, *pod_uid;
    const struct rco_runner_start
        *request;      /* decoded body; NULL: the body was not a start request */
    const char *error; /* why it could not be decoded, when NULL */
};

struct rco_mailbox_receipt {
    uint64_t exchange;
    enum rco_phase phase;
    const char *pod_name, *pod_uid;
    const struct rco_runner_receipt *receipt; /* decoded body; NULL: not a receipt */
    const char *error;                        /* why it could not be decoded, when NULL */
};

/* What the gateway received for this run and nobody has answered yet. */
struct rco_mailbox_facts {
    const struct rco_mailbox_start *starts;
    size_t n_starts;
    const struct rco_mailbox_receipt *receipts;
    size_t n_receipts;
};

/* Everything the decision looks at; all borrowed from observe's arena. */
struct rco_run_observed {
    /* NULL: it is gone. Then jobs, pods, anchor and engine_claims are what still carries its name:
     * label runtimecloud.io/run of the key's namespace, annotation engine-run "ns/name"; all else
     * is unset. */
    const struct rco_run *run;
    const struct rco_depspec
        *spec;                 /* named spec.specificationRef.name; may have another uid; or NULL */
    const struct rco_env *env; /* named spec.environmentId, or NULL */
    const struct rco_job *const *jobs; /* labelled run-uid = this run's uid */
    size_t n_jobs;
    const struct rco_pod *const *pods; /* labelled run-uid = this run's uid */
    size_t n_pods;
    const struct rco_configmap *anchor; /* by name (rco_name_anchor), or NULL */
    /* The stack claim by name (rco_run_claim_name), or NULL. */
    const struct rco_lease *claim;
    /* Whether any specification of the cluster has the uid claim->holderIdentity. */
    bool claim_holder_exists;
    /* Every claim that the specification with the uid spec.specificationId holds. */
    const struct rco_lease *const *held_claims;
    size_t n_held_claims;
    /* Every claim (rco-claim-*) whose engine-run-uid annotation is this run's uid. */
    const struct rco_lease *const *engine_claims;
    size_t n_engine_claims;
    /* Other runs of the same namespace that have not finished, or have an engine recorded whose pod
     * is not yet released: all with the same environmentId (serialised claims), which includes all
     * of the same specification. */
    const struct rco_run *const *others;
    size_t n_others;
    /* Pods with our engine finalizer of those other runs (label run-uid), so that "has an engine"
     * can be told: all pods of the namespace labelled environment = this one's, except those of
     * PODS. */
    const struct rco_pod *const *other_pods;
    size_t n_other_pods;
    /* Names of nodes of PODS that are fenced (rco_node_is_fenced), and of those that are no longer
     * there. May be empty. */
    const char *const *fenced_nodes;
    size_t n_fenced_nodes;
    const char *const *gone_nodes;
    size_t n_gone_nodes;
    struct rco_mailbox_facts mailbox;
    const struct rco_outcome *outcomes;
    size_t n_outcomes;
    const struct rco_decide_config *config;
};

/* SNAPSHOT is a struct rco_run_observed; fills PLAN. */
void rco_run_decide(const void *snapshot, rco_wall now, struct rco_plan *plan);

/* Name of the stack claim of RUN into OUT of RCO_NAME_SIZE bytes (api/names.h). PROJECT is the name
 * in Pulumi.yaml: of a waiting start request, else status.engine.project; NULL: not known yet,
 * returns false. So does a run without a snapshot. */
bool rco_run_claim_name(const struct rco_run *run, const char *project, char *out);

/* What a heartbeat is answered. Pure, so that the gateway can ask without a reconcile. */
enum rco_verdict { RCO_VERDICT_CONTINUE, RCO_VERDICT_CANCEL };
/* SPEC may be NULL. *RET_WHY (may be NULL) gets a constant word ("Timeout", "Cancelled", ...). */
enum rco_verdict rco_run_heartbeat(const struct rco_run *run, const struct rco_depspec *spec,
                                   enum rco_phase phase, rco_wall now, const char **ret_why);

/* Whether STATE of RUN is final (Applied, Failed, Rejected, Cancelled). */
bool rco_run_is_final(const struct rco_run *run);

/* Whether what runs on NODE can no longer have an effect: someone declared the machine off by the
 * taint node.kubernetes.io/out-of-service, and its kubelet does not say otherwise. A Node object
 * that is gone proves nothing. */
bool rco_node_is_fenced(const struct rco_node *node);

/* The table, for tests and documentation. */
const struct rco_table *rco_run_table(void);
/* Appends the rows of the table as Markdown, in order. */
void rco_run_print_rows(struct rco_buf *out);

#endif
