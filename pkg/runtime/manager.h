/* Owns informers, controllers, executor, recorder and elector of one operator instance. Everything
 * is reached from here: two managers may live in one process. */
#ifndef RCO_RUNTIME_MANAGER_H
#define RCO_RUNTIME_MANAGER_H

#include "runtime/controller.h"
#include "runtime/crash_guard.h"
#include "runtime/elector.h"
#include "runtime/executor.h"
#include "runtime/informer.h"
#include "runtime/metrics.h"

#define RCO_SWEEP_NS (600 * RCO_NS_PER_S)        /* A30: unsettled objects, jittered by 10 % */
#define RCO_SWEEP_ALL_NS (36000 * RCO_NS_PER_S)  /* A30: all objects */
#define RCO_SYNC_TIMEOUT_NS (120 * RCO_NS_PER_S) /* A31: beyond, `failed` is called */
#define RCO_STOP_NS (30 * RCO_NS_PER_S)          /* A70: running plans get so long */
#define RCO_RUNS_PER_TURN 16                     /* keys decided in one turn of the loop */
#define RCO_IN_FLIGHT_MAX 256                    /* plans under way at once, of all controllers */

/* The table of the program: all arrays are borrowed for the life of the manager. */
struct rco_setup {
    const struct rco_informer_spec *informers; /* at most one per kind */
    size_t n_informers;
    const struct rco_reconciler *reconcilers;
    size_t n_reconcilers;
};

struct rco_manager_options {
    struct rco_loop *loop;
    struct rco_kube_client *client;
    struct rco_metrics *metrics; /* NULL = the manager makes its own */
    enum rco_list_mode list_mode;
    const struct rco_elector_options *election; /* NULL = no election: leads at once. loop, client
                                                 * and handler of it are ignored */
    const char *instance;                       /* pod name, for events */
    struct rco_crash_guard *crash_guard;        /* borrowed; NULL = none (crash_guard.h) */
    /* Answers a waiting gateway exchange. */
    void (*reply)(void *ctx, uint64_t mailbox, int http_status, const char *body, size_t n);
    /* We lead and all caches are synced: reconciling begins. May be NULL. */
    void (*leading)(void *ctx, int64_t transitions);
    /* Leadership lost or an unrecoverable fault: exit at once, non-zero. */
    void (*failed)(void *ctx, const char *why);
    void *ctx;
};

struct rco_manager;
/* SETUP and what OPTIONS point to are borrowed. Nothing happens before rco_manager_start. */
struct rco_manager *rco_manager_new(const struct rco_setup *setup,
                                    const struct rco_manager_options *options);
/* At any time: cancels everything that is under way. */
void rco_manager_free(struct rco_manager *m);
void rco_manager_start(struct rco_manager *m);
/* Graceful end (A70, A71): no new runs, running plans finish (RCO_STOP_NS at most), informers stop,
 * the lease is released last, then DONE. */
void rco_manager_stop(struct rco_manager *m, rco_loop_fn done, void *ctx);

/* Wakes a key from outside (gateway, timers). Unknown names are a broken invariant (assert).
 * Ignored while not leading: a new leader reconciles everything anyway. */
void rco_manager_enqueue(struct rco_manager *m, const char *reconciler, const struct rco_key *key,
                         enum rco_priority priority);
bool rco_manager_is_leading(const struct rco_manager *m); /* leader, synced, not stopping */
bool rco_manager_has_synced(const struct rco_manager *m); /* readyz */
bool rco_manager_is_healthy(const struct rco_manager *m); /* livez: A96 */
struct rco_errand;
/* Carries out a plan that is no reconciler's (the gateway storing an artifact), fenced and counted
 * like all others; a stop waits for it as for those. PLAN and its arena are borrowed until DONE,
 * which is never called from inside and ends the errand. It must be over or cancelled before the
 * manager is freed. */
struct rco_errand *rco_manager_execute(struct rco_manager *m, const struct rco_plan *plan,
                                       rco_execution_done done, void *ctx);
/* DONE is not called; the write under way may or may not happen. NULL is allowed. */
void rco_errand_cancel(struct rco_errand *e);
/* Store of a watched kind for reading (gateway, console), or NULL. */
const struct rco_store *rco_manager_store(const struct rco_manager *m, enum rco_kind kind);
struct rco_metrics *rco_manager_metrics(struct rco_manager *m);
/* Nothing ready, running or gated: for tests and the simulation. Delayed keys do not count. */
bool rco_manager_is_idle(const struct rco_manager *m);

#endif
