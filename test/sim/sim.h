/* One simulated world: API server, cluster, runners, users, and one or two replicas of the shipped
 * operator code, in virtual time. Everything that happens follows from the plan and its seed alone.
 *
 * Memory of a world lives in its arena and goes with it; only what the operator itself allocates is
 * freed when a replica ends, so that its leaks are leaks. */
#ifndef RCO_SIM_SIM_H
#define RCO_SIM_SIM_H

#include "api/kinds.h"
#include "faults.h"
#include "loop/loop_virtual.h"
#include "tree.h"

#include "base/map.h"
#include "base/str.h"

#define SIM_REPLICAS 2
#define SIM_OPERATOR_NS "runtime-cloud"
#define SIM_TENANT_NS "team-a"
#define SIM_CANARY "canary-4c1f0d" /* stands in every secret text of the world */
#define SIM_MS RCO_NS_PER_MS
#define SIM_S RCO_NS_PER_S

struct sim;

/* Who acts; an operator's replica is SIM_OPERATOR + its number. */
enum sim_actor { SIM_USER, SIM_CLUSTER, SIM_OPERATOR };

/* --- objects (store.c) --- */

/* One revision of one object. */
struct sim_version {
    int64_t rv;
    enum rco_kind kind;
    const char *ns, *name, *uid;
    const struct rco_value *tree;
    bool bare;  /* as created: the default of its status is read, and not stored */
    char *text; /* JSON, made when first asked for */
    size_t len;
    char *item; /* the same as an item of a list */
    size_t item_len;
};

/* One change: NOW is NULL for a removal, BEFORE for a creation. */
struct sim_change {
    int64_t rv;
    rco_mono at;
    int actor;
    const struct sim_version *before, *now;
};

struct sim_kind {
    const struct sim_version **live; /* sorted by (namespace, name) */
    size_t n_live, cap_live;
    struct sim_change *history;
    size_t n_history, cap_history;
    int64_t compacted; /* changes up to here cannot be watched any more */
};

struct sim_answer {
    int code; /* HTTP */
    const char *reason;
    const char *message;
    const struct sim_version *v; /* the object, also of a delete that waits */
    bool removed;                /* a delete that is done: answered by a Status */
    /* details of a refusal, each may be NULL */
    const char *of_name, *of_group, *of_kind;
    const struct sim_cause *causes;
    int retry_after_s;
    const char *token;   /* metadata.continue of a refusal */
    const char *warning; /* of an answer that is none */
};

struct sim_delete {
    const char *uid, *rv; /* preconditions, NULL = none */
    bool foreground;
    bool now; /* no grace */
};

/* How a write is meant. */
enum sim_write { SIM_WRITE_PATCH, SIM_WRITE_STATUS, SIM_WRITE_UPDATE };

/* The uid that the N-th object of this name has (from 1); in the arena. */
const char *sim_uid_of(struct sim *s, enum rco_kind kind, const char *ns, const char *name,
                       unsigned n);
const struct sim_version *sim_get(struct sim *s, enum rco_kind kind, const char *ns,
                                  const char *name);
struct sim_answer sim_create(struct sim *s, int actor, enum rco_kind kind, const char *ns,
                             const struct rco_value *body);
/* Merge patch of the object, or of its status subresource. */
struct sim_answer sim_patch(struct sim *s, int actor, enum rco_kind kind, const char *ns,
                            const char *name, bool status, const struct rco_value *patch);
/* The same, or BODY takes the place of the object (update). */
struct sim_answer sim_write(struct sim *s, int actor, enum rco_kind kind, const char *ns,
                            const char *name, enum sim_write how, const struct rco_value *body);
struct sim_answer sim_remove(struct sim *s, int actor, enum rco_kind kind, const char *ns,
                             const char *name, const struct sim_delete *options);
/* JSON of V, cached in it. */
const char *sim_text(struct sim *s, const struct sim_version *v, size_t *ret_len);
/* Objects of KIND as they stood at revision RV, sorted; the array lives in the arena. */
size_t sim_list_at(struct sim *s, enum rco_kind kind, int64_t rv, const struct sim_version ***ret);
/* Whether KIND has a status subresource. */
bool sim_has_status(enum rco_kind kind);
bool sim_matches(const struct sim_version *v, const char *ns, const char *labels,
                 const char *fields);
struct sim_causes;
/* Schemas, defaults and rules (admission.c): what is stored in the place of BODY; adds to CAUSES
 * what is wrong with it. */
const struct rco_value *sim_admit_create(struct sim *s, enum rco_kind kind,
                                         const struct rco_value *body, struct sim_causes *causes);
/* What is filled in when the object has its uid. */
const struct rco_value *sim_admit_identity(struct sim *s, enum rco_kind kind,
                                           const struct rco_value *tree);
/* A changed object without what no schema knows, and with defaults. */
const struct rco_value *sim_admit_fill(struct sim *s, enum rco_kind kind,
                                       const struct rco_value *tree);
/* Adds to CAUSES why NOW (filled) may not take the place of BEFORE. */
void sim_admit_update(struct sim *s, enum rco_kind kind, const struct rco_value *before,
                      const struct rco_value *now, struct sim_causes *causes);

/* --- the operator (replica.c, transport.c, front.c) --- */

struct sim_replica;
/* Starts replica I as a new process; election when the plan has two replicas. */
void sim_replica_start(struct sim *s, int i);
/* The process dies at once, as by SIGKILL; REASON for the trace. Not from inside the operator. */
void sim_replica_kill(struct sim *s, int i, const char *reason);
/* The same as soon as the running callback of the operator has returned. */
void sim_replica_doom(struct sim *s, int i, const char *reason);
/* SIGSTOP, and SIGCONT after LENGTH. */
void sim_replica_pause(struct sim *s, int i, int64_t length);
/* SIGTERM: it stops as controller/program.c does, and is started anew. */
void sim_replica_term(struct sim *s, int i);
bool sim_replica_is_up(const struct sim *s, int i);
/* What replica I has seen of KIND: the revision of its cache; -1 when it does not run or has none.
 */
int64_t sim_replica_seen(const struct sim *s, int i, enum rco_kind kind);
/* Whether the caches of replica I select V. */
bool sim_replica_selects(const struct sim *s, int i, const struct sim_version *v);
/* Since when replica I runs without a stop; 0 = it does not run. */
rco_mono sim_replica_since(const struct sim *s, int i);
struct rco_loop *sim_replica_loop(const struct sim *s, int i);
const char *sim_replica_identity(const struct sim *s, int i);

struct sim_link; /* a replica's transport (transport.c) */
struct sim_link *sim_link_new(struct sim *s, int replica, struct rco_loop *loop);
struct rco_transport *sim_link_transport(struct sim_link *l);
/* The process is gone: nothing is delivered any more. Requests on their way still arrive. */
void sim_link_free(struct sim_link *l);
/* One change was committed: watches of all links get it. */
void sim_links_notify(struct sim *s, enum rco_kind kind);
/* Nothing that is sent from now on leaves this process. */
void sim_link_mute(struct sim_link *l);

/* A request of a runner to the gateway of some replica. DONE with status 0: connection fault. */
typedef void (*sim_front_done)(void *ctx, int status, const char *body, size_t n,
                               int retry_after_s);
struct sim_front_request {
    const char *method, *path, *query, *token, *body;
    size_t body_len;
};
void sim_front_send(struct sim *s, const struct sim_front_request *request, sim_front_done done,
                    void *ctx);
/* Exchanges of replica I that are open break. */
void sim_front_break(struct sim *s, int i);

/* --- the cluster (cluster.c, kubelet.c, runner.c, stack.c) --- */

void sim_cluster_changed(struct sim *s, const struct sim_change *change);
void sim_kubelet_changed(struct sim *s, const struct sim_change *change);
/* The pod of token, for TokenReview; NULL: not valid. */
const struct sim_version *sim_pod_of_token(struct sim *s, const char *token);

/* --- oracles (oracle.c) --- */

/* Something that must never happen did. */
void sim_violation(struct sim *s, const char *oracle, const char *fmt, ...) RCO_PRINTF(3, 4);
void sim_oracle_changed(struct sim *s, int actor, const struct sim_change *change);
/* A reply of the gateway to a runner's request leaves the operator. */
void sim_oracle_replied(struct sim *s, const struct sim_front_request *request, int status);
/* A write of the operator to an object has come to an answer with HTTP STATUS. */
void sim_oracle_wrote(struct sim *s, int replica, enum rco_kind kind, const char *ns,
                      const char *name, int status);
/* Replica I has asked for a list (not for another page of one). */
void sim_oracle_listed(struct sim *s, int replica, enum rco_kind kind);
/* Replica I has died (GONE) or starts. */
void sim_oracle_life(struct sim *s, int replica, bool gone);
/* An outage of LENGTH is over. */
void sim_oracle_outage_over(struct sim *s, int64_t length);
/* Any text that the operator wrote somewhere. */
void sim_oracle_text(struct sim *s, const char *where, const char *text, size_t n);

/* --- the world --- */

struct sim_pod;
struct sim_stack;
struct sim_exchange_list;
struct sim_rates;
struct sim_times;

/* The largest of what has a limit, seen in a run. */
struct sim_peaks {
    int writes;        /* to one object within a minute */
    int conflicts;     /* of one object within a minute */
    int events;        /* about one object within a minute */
    int extra;         /* writes to one object more than in the reference */
    int64_t gap, deaf; /* ns without a leader; ns until a change was seen */
};

struct sim {
    const struct sim_plan *plan;
    struct rco_arena arena;
    uint64_t rng;
    struct rco_loop *loop; /* the world's; replicas have their own */
    rco_mono now;
    int64_t revision;
    struct sim_kind kinds[RCO_KIND_COUNT];
    struct rco_map incarnations; /* "kind/ns/name" -> how often it was made */
    struct sim_replica *replicas[SIM_REPLICAS];
    struct sim_link *links;
    struct rco_exchange *exchanges;
    struct sim_pod *pods;
    struct sim_stack *stacks;
    struct sim_after *afters; /* calls to come */
    /* counts, for oracles and for numbering of faults */
    int writes;           /* counted writes that the operator has sent */
    int operator_changes; /* changes that it made, without Events and its election Lease */
    rco_mono last_change; /* of any object but Events and the election Lease */
    int gets;
    int contended;   /* writes to pods that met a change by the cluster */
    int64_t engines; /* engine starts */
    int violations;
    char first_violation[512];
    struct sim_rates *rates; /* oracle_rates.c */
    struct sim_times *times; /* oracle_times.c */
    struct sim_peaks peaks;
    /* faults that are on */
    struct sim_fault_state fault;
    /* the user */
    const struct sim_workload *workload;
    size_t step;
    rco_mono step_at;  /* when the last one was taken */
    bool step_pending; /* its condition held, the user is about to act */
    bool poked;        /* something changed: conditions may hold now */
    const struct sim_version *backup_run, *backup_spec;
    /* trace */
    uint64_t hash;
    bool verbose;
    unsigned lines;
    struct rco_buf *write_log; /* NULL, or one line a counted write */
};

struct sim *sim_new(const struct sim_plan *plan, const struct sim_workload *w, bool verbose);
void sim_free(struct sim *s);
/* Runs until nothing but renewals happens for QUIET, at most MAX of virtual time; false = it did
 * not come to rest. */
bool sim_run(struct sim *s, int64_t quiet, int64_t max);

/* A call of FN after DELAY of the world's time. */
void sim_after(struct sim *s, int64_t delay, rco_loop_fn fn, void *ctx);
/* Lets LENGTH of virtual time pass. */
void sim_idle(struct sim *s, int64_t length);
uint64_t sim_random(struct sim *s);
/* Uniform in [LO, HI]. */
int64_t sim_between(struct sim *s, int64_t lo, int64_t hi);
/* Time of one way of one message. */
int64_t sim_latency(struct sim *s);
bool sim_chance(struct sim *s, int percent);
rco_wall sim_wall(struct sim *s);
/* RFC 3339 now, in the arena. */
const char *sim_time(struct sim *s);

/* One line of the trace. */
void sim_trace(struct sim *s, const char *fmt, ...) RCO_PRINTF(2, 3);

static inline struct rco_arena *sim_arena(struct sim *s)
{
    return &s->arena;
}

#endif
