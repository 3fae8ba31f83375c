#include "runtime/manager_internal.h"

#include "base/str.h"

#include <stdio.h>

static const double reconcile_bounds[] = {
    0.005, 0.01, 0.025, 0.05, 0.1,  0.15, 0.2,  0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6,
    0.7,   0.8,  0.9,   1,    1.25, 1.5,  1.75, 2,    2.5, 3,    3.5, 4,    4.5, 5,
    6,     7,    8,     9,    10,   15,   20,   25,   30,  40,   50,  60};
static const double queue_bounds[] = {1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3,
                                      1e-2, 1e-1, 1,    10,   100,  1000};

static struct rco_metric *family(struct rco_manager *m, enum rco_metric_type type, const char *name,
                                 const char *help, const char *l1, const char *l2, const char *l3)
{
    const struct rco_metric_spec spec = {
        .name = name, .help = help, .type = type, .labels = {l1, l2, l3}};

    return rco_metrics_add(m->metrics, &spec);
}

static struct rco_metric *histogram(struct rco_manager *m, const char *name, const char *help,
                                    const double *bounds, size_t n, const char *l1, const char *l2)
{
    const struct rco_metric_spec spec = {.name = name,
                                         .help = help,
                                         .type = RCO_METRIC_HISTOGRAM,
                                         .labels = {l1, l2},
                                         .bounds = bounds,
                                         .n_bounds = n};

    return rco_metrics_add(m->metrics, &spec);
}

static void collect_informers(struct rco_manager *m)
{
    struct rco_store_stats stats;

    for (size_t i = 0; i < m->n_watched; i++) {
        const struct watched *w = &m->watched[i];
        const char *kind = rco_kind_info(w->spec->kind)->kind;
        struct rco_reflector *r = rco_informer_reflector(w->informer);
        const struct rco_reflector_counters *n = rco_reflector_counters(r);

        rco_store_stats(rco_informer_store(w->informer), &stats);
        rco_series_set(rco_metric_series(m->m.objects, kind), (double)stats.objects);
        rco_series_set(rco_metric_series(m->m.bytes, kind),
                       (double)(stats.record_bytes + stats.table_bytes));
        rco_series_set(rco_metric_series(m->m.lists, kind), (double)n->lists);
        rco_series_set(rco_metric_series(m->m.watches, kind), (double)n->watches);
        rco_series_set(rco_metric_series(m->m.undecodable, kind), (double)n->undecodable);
        rco_series_set(rco_metric_series(m->m.progress, kind),
                       (double)(rco_loop_now(m->loop) - rco_reflector_last_progress(r)) / 1e9);
    }
}

static void collect_controllers(struct rco_manager *m)
{
    rco_mono now = rco_loop_now(m->loop);
    struct rco_workqueue_stats s;

    for (size_t i = 0; i < m->n_controllers; i++) {
        struct controller *c = &m->controllers[i];

        rco_workqueue_stats(c->queue, now, &s);
        for (int p = 0; p < RCO_PRIORITY_COUNT; p++)
            rco_series_set(c->depth[p], (double)s.depth[p]);
        rco_series_add(c->adds, (double)(s.adds - c->seen_adds));
        rco_series_add(c->retries, (double)(s.retries - c->seen_retries));
        c->seen_adds = s.adds;
        c->seen_retries = s.retries;
        rco_series_set(c->unfinished, (double)s.unfinished_ns / 1e9);
        rco_series_set(c->longest,
                       s.oldest_processing ? (double)(now - s.oldest_processing) / 1e9 : 0);
        rco_series_set(c->quarantined, (double)s.quarantined);
    }
}

static void collect(void *ctx)
{
    struct rco_manager *m = ctx;
    const struct rco_recorder_counters *e = rco_recorder_counters(m->recorder);

    collect_informers(m);
    collect_controllers(m);
    rco_series_set(rco_metric_series(m->m.leader, m->election_name), m->leading ? 1 : 0);
    rco_series_set(rco_metric_series(m->m.events, "rate"), (double)e->dropped_rate);
    rco_series_set(rco_metric_series(m->m.events, "queue"), (double)e->dropped_queue);
    rco_series_set(rco_metric_series(m->m.events, "failed"), (double)e->failed);
}

void rco_manager_metrics_init(struct rco_manager *m)
{
    const enum rco_metric_type counter = RCO_METRIC_COUNTER, gauge = RCO_METRIC_GAUGE;

    m->m.writes =
        family(m, counter, "runtimecloud_writes_total",
               "Writes to the API server by kind, action and error code (\"\" = accepted).", "kind",
               "action", "code");
    m->m.leader = family(m, gauge, "leader_election_master_status",
                         "1 while this instance leads and reconciles.", "name", NULL, NULL);
    m->m.objects = family(m, gauge, "runtimecloud_informer_objects",
                          "Objects in the informer store.", "kind", NULL, NULL);
    m->m.bytes = family(m, gauge, "runtimecloud_informer_bytes",
                        "Memory of the informer store with its tables.", "kind", NULL, NULL);
    m->m.lists =
        family(m, counter, "runtimecloud_informer_lists_total", "Lists begun.", "kind", NULL, NULL);
    m->m.watches = family(m, counter, "runtimecloud_informer_watches_total", "Watches begun.",
                          "kind", NULL, NULL);
    m->m.undecodable = family(m, counter, "runtimecloud_informer_undecodable_total",
                              "Objects that could not be decoded.", "kind", NULL, NULL);
    m->m.progress = family(m, gauge, "runtimecloud_informer_silence_seconds",
                           "Time since the last event or bookmark.", "kind", NULL, NULL);
    m->m.events = family(m, counter, "runtimecloud_events_dropped_total",
                         "Events that were not written.", "reason", NULL, NULL);
    m->m.gate_waits = rco_metric_series(
        family(m, counter, "runtimecloud_cache_waits_total",
               "Reconciles put off until the caches showed an own write.", NULL, NULL, NULL),
        NULL);
    m->m.gate_timeouts = rco_metric_series(
        family(m, counter, "runtimecloud_cache_wait_timeouts_total",
               "Relists because an own write did not show up in time.", NULL, NULL, NULL),
        NULL);
    rco_metrics_on_collect(m->metrics, collect, m);
}

void rco_manager_metrics_controller(struct rco_manager *m, struct controller *c)
{
    static const char *const priorities[] = {"low", "normal", "high"};
    const enum rco_metric_type counter = RCO_METRIC_COUNTER, gauge = RCO_METRIC_GAUGE;
    const char *n = c->reconciler->name;
    struct rco_metric *f;

    f = family(m, counter, "controller_runtime_reconcile_total", "Reconciles by result.",
               "controller", "result", NULL);
    c->success = rco_metric_series(f, n, "success");
    c->error = rco_metric_series(f, n, "error");
    c->requeue = rco_metric_series(f, n, "requeue");
    c->requeue_after = rco_metric_series(f, n, "requeue_after");
    c->errors = rco_metric_series(family(m, counter, "controller_runtime_reconcile_errors_total",
                                         "Reconcile errors.", "controller", NULL, NULL),
                                  n);
    c->terminal = rco_metric_series(
        family(m, counter, "controller_runtime_terminal_reconcile_errors_total",
               "Reconcile errors that are not retried.", "controller", NULL, NULL),
        n);
    c->timeouts = rco_metric_series(
        family(m, counter, "controller_runtime_reconcile_timeouts_total",
               "Reconciles with a write whose answer was lost.", "controller", NULL, NULL),
        n);
    c->active = rco_metric_series(family(m, gauge, "controller_runtime_active_workers",
                                         "Reconciles under way.", "controller", NULL, NULL),
                                  n);
    rco_series_set(
        rco_metric_series(family(m, gauge, "controller_runtime_max_concurrent_reconciles",
                                 "Reconciles that may be under way at once.", "controller", NULL,
                                 NULL),
                          n),
        RCO_IN_FLIGHT_MAX);
    c->time = rco_metric_series(histogram(m, "controller_runtime_reconcile_time_seconds",
                                          "Time of a reconcile with its writes.", reconcile_bounds,
                                          RCO_ARRAY_LEN(reconcile_bounds), "controller", NULL),
                                n);
    f = family(m, gauge, "workqueue_depth", "Keys that wait.", "name", "controller", "priority");
    for (int p = 0; p < RCO_PRIORITY_COUNT; p++)
        c->depth[p] = rco_metric_series(f, n, n, priorities[p]);
    c->adds = rco_metric_series(
        family(m, counter, "workqueue_adds_total", "Adds.", "name", "controller", NULL), n, n);
    c->retries = rco_metric_series(
        family(m, counter, "workqueue_retries_total", "Retries.", "name", "controller", NULL), n,
        n);
    c->queue_duration = rco_metric_series(
        histogram(m, "workqueue_queue_duration_seconds", "Time between ready and taken.",
                  queue_bounds, RCO_ARRAY_LEN(queue_bounds), "name", "controller"),
        n, n);
    c->work_duration = rco_metric_series(
        histogram(m, "workqueue_work_duration_seconds", "Time between taken and done.",
                  queue_bounds, RCO_ARRAY_LEN(queue_bounds), "name", "controller"),
        n, n);
    c->unfinished = rco_metric_series(family(m, gauge, "workqueue_unfinished_work_seconds",
                                             "Sum of the ages of the runs under way.", "name",
                                             "controller", NULL),
                                      n, n);
    c->longest =
        rco_metric_series(family(m, gauge, "workqueue_longest_running_processor_seconds",
                                 "Age of the oldest run under way.", "name", "controller", NULL),
                          n, n);
    c->quarantined =
        rco_metric_series(family(m, gauge, "runtimecloud_quarantined_keys",
                                 "Keys whose object cannot be decoded.", "controller", NULL, NULL),
                          n);
}
