/* What the files of the manager share. */
#ifndef RCO_RUNTIME_MANAGER_INTERNAL_H
#define RCO_RUNTIME_MANAGER_INTERNAL_H

#include "base/map.h"
#include "runtime/manager.h"

struct rco_manager;

/* What is remembered of a key between its runs. Absent most of the time. */
struct key_state {
    struct key_state *parked_prev,
        *parked_next; /* in manager->parked while waiting for the caches */
    struct controller *controller;
    char *ns, *name;
    struct rco_outcomes outcomes;
    struct rco_gate *gate;
    bool parked;
    bool running;
    enum rco_priority priority; /* of the parked run */
};

struct controller {
    struct rco_manager *manager;
    const struct rco_reconciler *reconciler;
    struct rco_workqueue *queue;
    struct rco_map states; /* "ns/name" -> struct key_state */
    /* series of the reconciler's name */
    struct rco_series *success, *error, *requeue, *requeue_after;
    struct rco_series *errors, *terminal, *timeouts, *active, *time;
    struct rco_series *adds, *retries, *queue_duration, *work_duration;
    struct rco_series *unfinished, *longest, *depth[RCO_PRIORITY_COUNT];
    struct rco_series *quarantined;
    uint64_t seen_adds, seen_retries; /* of the queue's totals, already in the counters */
};

/* One reconcile under way. */
struct run {
    struct run *prev, *next;
    struct controller *controller;
    struct key_state *state;
    struct rco_key key; /* the queue's own strings */
    enum rco_priority priority;
    struct rco_arena arena;
    struct rco_plan plan;
    struct rco_execution *execution;
    rco_mono started;
};

/* A plan that is no reconciler's, under way. */
struct rco_errand {
    struct rco_errand *next, **prev; /* prev NULL: given up */
    struct rco_manager *manager;
    struct rco_execution *execution;
    rco_execution_done done;
    void *ctx;
};

/* One informer and what it needs to say whose event it was. */
struct watched {
    struct rco_manager *manager;
    const struct rco_informer_spec *spec;
    struct rco_informer *informer;
    bool moved;            /* its store's RV moved since parked keys were looked at */
    bool stale;            /* an own write did not show up: relist asked for */
    uint64_t lists;        /* of the reflector, when memory was last given back */
    rco_mono refreshed_at; /* when its cache was found old before leading; 0 = never */
};

enum walk_kind { WALK_NONE, WALK_ALL, WALK_UNSETTLED };

struct walk {
    enum walk_kind kind;
    size_t controller, trigger, cursor;
};

struct manager_metrics {
    struct rco_metric *writes, *leader, *objects, *bytes, *lists, *watches, *undecodable, *progress;
    struct rco_series *gate_waits, *gate_timeouts;
    struct rco_metric *events;
};

struct rco_manager {
    struct rco_manager_options options;
    struct rco_loop *loop;
    struct rco_intern *intern;
    struct rco_list_gate *list_gate;
    struct watched *watched;
    size_t n_watched;
    const struct rco_store *stores[RCO_KIND_COUNT];
    struct watched *by_kind[RCO_KIND_COUNT];
    struct controller *controllers;
    size_t n_controllers, turn; /* turn: controller to serve next */
    struct rco_executor *executor;
    struct rco_recorder *recorder;
    struct rco_elector *elector; /* NULL without election */
    char *election_name;
    struct rco_metrics *metrics;
    bool own_metrics;
    struct manager_metrics m;
    struct rco_timer *pump_timer, *park_timer, *sweep_timer, *sweep_all_timer, *sync_timer,
        *stop_timer, *trim_timer, *lead_timer;
    struct run runs; /* ring head of those under way */
    size_t n_runs;
    struct rco_errand *errands;
    unsigned yield_turns;    /* of the loop, to writes */
    struct key_state parked; /* ring head */
    size_t n_parked;
    struct walk walk;
    enum walk_kind walk_next;
    bool started, leading, stopping, failed;
    int64_t transitions;
    rco_mono synced_at; /* the last time at which a cache became complete, or began to be missed */
    rco_loop_fn stop_done;
    void *stop_ctx;
};

struct rco_enqueuer {
    struct controller *controller;
    enum rco_priority priority;
    const struct rco_store *unless_in; /* keys of objects that are there are left out; NULL: none */
};

/* The program has to end; says WHY once. In manager.c. */
void rco_manager_fail(struct rco_manager *m, const char *why);

/* manager_lead.c */
/* Leads when we are elected and all caches are complete and follow the API server (A31); caches
 * that do not are listed anew. */
void rco_manager_maybe_lead(struct rco_manager *m);
/* The same from the loop, for callers in the middle of a step. */
void rco_manager_maybe_lead_soon(struct rco_manager *m);
/* From now on caches that are missing may be silent for RCO_SYNC_TIMEOUT_NS, then the program ends.
 */
void rco_manager_wait_for_caches(struct rco_manager *m);
void rco_manager_on_lead_timer(void *ctx);
void rco_manager_on_sync_timeout(void *ctx);
void rco_manager_on_sweep(void *ctx);
void rco_manager_on_sweep_all(void *ctx);

/* manager_run.c */
void rco_manager_pump_soon(struct rco_manager *m);
void rco_manager_on_pump(void *ctx);
void rco_manager_on_park_timer(void *ctx);
void rco_manager_add(struct controller *c, const struct rco_key *key, enum rco_priority priority);
void rco_manager_cancel_runs(struct rco_manager *m);
void rco_manager_free_states(struct controller *c);
/* Goes on with the stop when nothing is under way any more; in manager.c. */
void rco_manager_maybe_over(struct rco_manager *m);

/* manager_errand.c */
/* Cancels all; those who asked keep what they hold and are told nothing. */
void rco_manager_give_errands_up(struct rco_manager *m);

/* What the crash guard knows KEY of C by; never 0. */
uint64_t rco_manager_crash_hash(const struct controller *c, const struct rco_key *key);
/* The key's object is not decided about until it changes; says so once. */
void rco_manager_quarantine(struct controller *c, const struct rco_key *key, const char *why);

/* manager_walk.c */
void rco_manager_walk_start(struct rco_manager *m, enum walk_kind kind);
/* One slice; true while there is more. */
bool rco_manager_walk_slice(struct rco_manager *m);

/* Memory goes back to the system when this burst is over; in manager.c. */
void rco_manager_trim_later(struct rco_manager *m);

/* manager_metrics.c */
void rco_manager_metrics_init(struct rco_manager *m);
void rco_manager_metrics_controller(struct rco_manager *m, struct controller *c);

#endif
