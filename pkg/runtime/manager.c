#include "runtime/manager.h"

#include "base/log.h"
#include "base/memory.h"
#include "base/str.h"
#include "runtime/manager_internal.h"
#include "runtime/selector.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REPORTING_CONTROLLER "runtimecloud.io/controller"

void rco_manager_fail(struct rco_manager *m, const char *why)
{
    if (m->failed)
        return;
    m->failed = true;
    m->leading = false;
    if (m->options.failed)
        m->options.failed(m->options.ctx, why);
}

/* --- election --- */

static void on_elected(void *ctx, int64_t transitions)
{
    struct rco_manager *m = ctx;

    rco_log(RCO_LOG_INFO, "lease acquired", RCO_N("transitions", transitions));
    rco_manager_maybe_lead(m);
    if (!m->leading && rco_manager_has_synced(m)) {
        rco_log(RCO_LOG_INFO, "caches are old and are listed anew before anything is decided");
        rco_manager_wait_for_caches(m);
    }
}

static void on_lost(void *ctx, const char *why)
{
    rco_manager_fail(ctx, why);
}

static void on_holder(void *ctx, const char *holder)
{
    (void)ctx;
    rco_log(RCO_LOG_INFO, "leader observed", RCO_S("holder", holder));
}

static void on_election_fault(void *ctx, const struct rco_error *err)
{
    (void)ctx;
    rco_log(RCO_LOG_WARN, "leader election request", RCO_S("error", err->msg));
}

static bool may_write(void *ctx)
{
    struct rco_manager *m = ctx;

    return m->leading && (!m->elector || rco_elector_may_write(m->elector));
}

/* --- informers --- */

static void on_synced(void *ctx)
{
    struct watched *w = ctx;

    w->manager->synced_at = rco_loop_now(w->manager->loop);
    rco_log(RCO_LOG_INFO, "cache synced", RCO_S("kind", rco_kind_info(w->spec->kind)->kind),
            RCO_N("objects", rco_lister_size(rco_informer_store(w->informer))));
    rco_manager_maybe_lead_soon(w->manager);
}

static void on_progress(void *ctx)
{
    struct watched *w = ctx;

    w->moved = true;
    rco_manager_maybe_lead_soon(w->manager);
    if (w->lists != rco_reflector_counters(rco_informer_reflector(w->informer))->lists) {
        w->lists = rco_reflector_counters(rco_informer_reflector(w->informer))->lists;
        rco_manager_trim_later(w->manager);
    }
    if (w->manager->n_parked > 0)
        rco_manager_pump_soon(w->manager);
}

static void on_reflector_fault(void *ctx, enum rco_reflector_state state,
                               const struct rco_error *err)
{
    const struct watched *w = ctx;

    rco_log(RCO_LOG_WARN, "list or watch ended", RCO_S("kind", rco_kind_info(w->spec->kind)->kind),
            RCO_S("state", rco_reflector_state_name(state)), RCO_S("error", err->msg));
}

/* The object itself cannot be decided about any more; everything else goes on (A29). */
static void on_undecodable(void *ctx, const struct rco_key *key, const struct rco_error *err)
{
    struct watched *w = ctx;
    struct rco_manager *m = w->manager;
    enum rco_kind kind = w->spec->kind;
    const struct rco_occurrence o = {.kind = kind,
                                     .ns = key->ns,
                                     .name = key->name,
                                     .type = "Warning",
                                     .reason = "ObjectNotReadable",
                                     .action = "Decode",
                                     .note = err->msg};

    rco_log(RCO_LOG_ERROR, "object cannot be read, it is left alone until it changes",
            RCO_S("kind", rco_kind_info(kind)->kind), RCO_S("namespace", key->ns),
            RCO_S("name", key->name), RCO_S("error", err->msg));
    if (!*key->name)
        return;
    for (size_t i = 0; i < m->n_controllers; i++)
        if (m->controllers[i].reconciler->kind == kind)
            rco_workqueue_quarantine(m->controllers[i].queue, key);
    if (m->leading)
        rco_recorder_event(m->recorder, &o);
}

static void on_decodable(void *ctx, const struct rco_key *key)
{
    struct watched *w = ctx;
    struct rco_manager *m = w->manager;

    for (size_t i = 0; i < m->n_controllers; i++) {
        struct controller *c = &m->controllers[i];

        if (c->reconciler->kind != w->spec->kind)
            continue;
        rco_workqueue_unquarantine(c->queue, key);
        if (m->leading)
            rco_manager_add(c, key, RCO_PRIORITY_NORMAL);
    }
}

/* A quarantined object that changed, and can be read, gets another chance. */
static void release_changed(struct controller *c, const struct rco_meta *meta)
{
    struct rco_key key = rco_key_of(meta->ns, meta->name);

    if (!rco_workqueue_is_quarantined(c->queue, &key))
        return;
    rco_crash_guard_forget(c->manager->options.crash_guard, rco_manager_crash_hash(c, &key));
    rco_workqueue_unquarantine(c->queue, &key);
}

/* A change of the cache: which keys does it concern? Nothing but that happens here (A32). */
static void on_change(void *ctx, const void *old_obj, const void *new_obj)
{
    struct watched *w = ctx;
    struct rco_manager *m = w->manager;
    const struct rco_meta *meta = new_obj ? new_obj : old_obj;
    struct rco_enqueuer e = {
        .priority = !new_obj || meta->deletion ? RCO_PRIORITY_HIGH : RCO_PRIORITY_NORMAL,
    };

    if (!m->leading || m->stopping)
        return; /* a new leader looks at everything anyway */
    for (size_t i = 0; i < m->n_controllers; i++) {
        const struct rco_reconciler *r = m->controllers[i].reconciler;

        e.controller = &m->controllers[i];
        if (r->kind == w->spec->kind)
            release_changed(&m->controllers[i], meta);
        for (size_t t = 0; t < r->n_triggers; t++)
            if (r->triggers[t].kind == w->spec->kind)
                r->triggers[t].map(r->ctx, old_obj, new_obj, &e);
    }
}

/* Whether an informer will show this object: own writes that it filters out are not waited for. */
static bool is_watched(void *ctx, enum rco_kind kind, const struct rco_meta *meta)
{
    const struct rco_manager *m = ctx;
    const struct watched *w = m->by_kind[kind];

    if (!w)
        return false;
    if (!rco_str_empty(w->spec->ns) && !rco_streq(w->spec->ns, rco_str_or_empty(meta->ns)))
        return false;
    /* A field selector cannot be judged from metadata. */
    return rco_str_empty(w->spec->field_selector) &&
           rco_selector_matches(w->spec->label_selector, meta->labels, meta->n_labels);
}

static void on_wrote(void *ctx, enum rco_action_type type, enum rco_kind kind, const char *code)
{
    static const char *const actions[] = {"create", "patch", "patch_status", "delete"};
    struct rco_manager *m = ctx;

    rco_series_inc(rco_metric_series(m->m.writes, rco_kind_info(kind)->kind, actions[type], code));
}

static void on_reply(void *ctx, uint64_t mailbox, int http_status, const char *body, size_t n)
{
    struct rco_manager *m = ctx;

    if (m->options.reply)
        m->options.reply(m->options.ctx, mailbox, http_status, body, n);
}

/* --- life --- */

static void make_informers(struct rco_manager *m, const struct rco_setup *setup)
{
    m->n_watched = setup->n_informers;
    m->watched = rco_calloc(setup->n_informers + 1, sizeof(*m->watched));
    for (size_t i = 0; i < setup->n_informers; i++) {
        struct watched *w = &m->watched[i];
        const struct rco_informer_options options = {
            .loop = m->loop,
            .client = m->options.client,
            .gate = m->list_gate,
            .intern = m->intern,
            .mode = m->options.list_mode,
            .handler = {.synced = on_synced,
                        .progress = on_progress,
                        .undecodable = on_undecodable,
                        .decodable = on_decodable,
                        .failed = on_reflector_fault,
                        .ctx = w},
        };

        w->manager = m;
        w->spec = &setup->informers[i];
        assert(!m->stores[w->spec->kind]); /* one informer a kind */
        w->informer = rco_informer_new(w->spec, &options);
        rco_informer_add_handler(w->informer, on_change, w);
        m->stores[w->spec->kind] = rco_informer_store(w->informer);
        m->by_kind[w->spec->kind] = w;
    }
}

static void make_controllers(struct rco_manager *m, const struct rco_setup *setup)
{
    m->n_controllers = setup->n_reconcilers;
    m->controllers = rco_calloc(setup->n_reconcilers + 1, sizeof(*m->controllers));
    for (size_t i = 0; i < setup->n_reconcilers; i++) {
        struct controller *c = &m->controllers[i];

        c->manager = m;
        c->reconciler = &setup->reconcilers[i];
        c->queue = rco_workqueue_new();
        for (size_t t = 0; t < c->reconciler->n_triggers; t++)
            assert(m->stores[c->reconciler->triggers[t].kind]);
        rco_manager_metrics_controller(m, c);
    }
}

static void make_elector(struct rco_manager *m)
{
    struct rco_elector_options options;

    m->election_name = rco_strdup(m->options.election ? m->options.election->name : "none");
    if (!m->options.election)
        return;
    options = *m->options.election;
    m->options.election = NULL; /* the caller's, not ours to keep */
    options.loop = m->loop;
    options.client = m->options.client;
    options.handler = (struct rco_elector_handler){.started = on_elected,
                                                   .lost = on_lost,
                                                   .observed = on_holder,
                                                   .failed = on_election_fault,
                                                   .ctx = m};
    m->elector = rco_elector_new(&options);
}

static void on_released(void *ctx)
{
    struct rco_manager *m = ctx;
    rco_loop_fn done = m->stop_done;

    m->stop_done = NULL;
    if (done)
        done(m->stop_ctx);
}

/* The lease is given back last: until here every write was ours (A71, A94). */
static void runs_over(struct rco_manager *m)
{
    rco_timer_disarm(m->stop_timer);
    m->leading = false;
    for (size_t i = 0; i < m->n_watched; i++)
        rco_informer_stop(m->watched[i].informer);
    if (m->elector)
        rco_elector_release(m->elector, on_released, m);
    else
        rco_loop_defer(m->loop, on_released, m);
}

static void on_stop_timeout(void *ctx)
{
    struct rco_manager *m = ctx;

    rco_log(RCO_LOG_WARN, "plans still under way are given up", RCO_N("plans", m->n_runs));
    rco_manager_cancel_runs(m);
    rco_manager_give_errands_up(m);
    runs_over(m);
}

void rco_manager_maybe_over(struct rco_manager *m)
{
    if (m->stopping && m->n_runs == 0 && !m->errands && rco_timer_armed(m->stop_timer))
        runs_over(m);
}

/* --- memory --- */

#define TRIM_AFTER_NS RCO_NS_PER_S

void rco_manager_trim_later(struct rco_manager *m)
{
    rco_timer_arm(m->trim_timer, TRIM_AFTER_NS);
}

static void on_trim(void *ctx)
{
    struct rco_manager *m = ctx;

    if (rco_manager_is_idle(m))
        rco_memory_trim();
    else
        rco_manager_trim_later(m);
}

static void make_timers(struct rco_manager *m)
{
    m->trim_timer = rco_timer_new(m->loop, on_trim, m);
    m->pump_timer = rco_timer_new(m->loop, rco_manager_on_pump, m);
    m->park_timer = rco_timer_new(m->loop, rco_manager_on_park_timer, m);
    m->sweep_timer = rco_timer_new(m->loop, rco_manager_on_sweep, m);
    m->sweep_all_timer = rco_timer_new(m->loop, rco_manager_on_sweep_all, m);
    m->lead_timer = rco_timer_new(m->loop, rco_manager_on_lead_timer, m);
    m->sync_timer = rco_timer_new(m->loop, rco_manager_on_sync_timeout, m);
    m->stop_timer = rco_timer_new(m->loop, on_stop_timeout, m);
}

struct rco_manager *rco_manager_new(const struct rco_setup *setup,
                                    const struct rco_manager_options *options)
{
    struct rco_manager *m = rco_calloc(1, sizeof(*m));
    const struct rco_recorder_options recorder = {.loop = options->loop,
                                                  .client = options->client,
                                                  .controller = REPORTING_CONTROLLER,
                                                  .instance = options->instance};
    struct rco_executor_options executor = {.loop = options->loop,
                                            .client = options->client,
                                            .may_write = may_write,
                                            .reply = on_reply,
                                            .watched = is_watched,
                                            .wrote = on_wrote,
                                            .ctx = m};

    m->options = *options;
    m->loop = options->loop;
    m->own_metrics = !options->metrics;
    m->metrics = options->metrics ? options->metrics : rco_metrics_new();
    m->intern = rco_intern_new();
    m->list_gate = rco_list_gate_new(m->loop);
    m->runs.prev = m->runs.next = &m->runs;
    m->parked.parked_prev = m->parked.parked_next = &m->parked;
    m->recorder = rco_recorder_new(&recorder);
    executor.recorder = m->recorder;
    m->executor = rco_executor_new(&executor);
    rco_manager_metrics_init(m);
    make_timers(m);
    make_informers(m, setup);
    make_controllers(m, setup);
    make_elector(m);
    return m;
}

void rco_manager_free(struct rco_manager *m)
{
    if (!m)
        return;
    rco_manager_cancel_runs(m);
    rco_elector_free(m->elector);
    for (size_t i = 0; i < m->n_controllers; i++) {
        rco_manager_free_states(&m->controllers[i]);
        rco_workqueue_free(m->controllers[i].queue);
    }
    for (size_t i = 0; i < m->n_watched; i++)
        rco_informer_free(m->watched[i].informer);
    rco_executor_free(m->executor);
    rco_recorder_free(m->recorder);
    rco_list_gate_free(m->list_gate);
    rco_timer_free(m->trim_timer);
    rco_timer_free(m->pump_timer);
    rco_timer_free(m->park_timer);
    rco_timer_free(m->sweep_timer);
    rco_timer_free(m->sweep_all_timer);
    rco_timer_free(m->lead_timer);
    rco_timer_free(m->sync_timer);
    rco_timer_free(m->stop_timer);
    rco_intern_free(m->intern);
    rco_metrics_off_collect(m->metrics, m);
    if (m->own_metrics)
        rco_metrics_free(m->metrics);
    free(m->election_name);
    free(m->watched);
    free(m->controllers);
    free(m);
}

void rco_manager_start(struct rco_manager *m)
{
    assert(!m->started);
    m->started = true;
    rco_manager_wait_for_caches(m);
    for (size_t i = 0; i < m->n_watched; i++)
        rco_informer_start(m->watched[i].informer);
    if (m->elector)
        rco_elector_start(m->elector);
    rco_manager_maybe_lead(m);
}

void rco_manager_stop(struct rco_manager *m, rco_loop_fn done, void *ctx)
{
    assert(!m->stopping);
    m->stopping = true;
    m->stop_done = done;
    m->stop_ctx = ctx;
    rco_timer_disarm(m->sync_timer);
    rco_timer_disarm(m->lead_timer);
    rco_timer_disarm(m->sweep_timer);
    rco_timer_disarm(m->sweep_all_timer);
    rco_timer_disarm(m->park_timer);
    for (size_t i = 0; i < m->n_controllers; i++)
        rco_workqueue_shutdown(m->controllers[i].queue);
    rco_log(RCO_LOG_INFO, "stopping", RCO_N("plans", m->n_runs));
    rco_timer_arm(m->stop_timer, RCO_STOP_NS);
    rco_manager_maybe_over(m);
}

/* --- access --- */

void rco_manager_enqueue(struct rco_manager *m, const char *reconciler, const struct rco_key *key,
                         enum rco_priority priority)
{
    for (size_t i = 0; i < m->n_controllers; i++) {
        if (strcmp(m->controllers[i].reconciler->name, reconciler) == 0) {
            if (m->leading && !m->stopping)
                rco_manager_add(&m->controllers[i], key, priority);
            return;
        }
    }
    assert(!"unknown reconciler");
}

bool rco_manager_is_leading(const struct rco_manager *m)
{
    return m->leading && !m->stopping;
}

bool rco_manager_is_healthy(const struct rco_manager *m)
{
    return !m->failed && (!m->elector || rco_elector_healthy(m->elector));
}

const struct rco_store *rco_manager_store(const struct rco_manager *m, enum rco_kind kind)
{
    return m->stores[kind];
}

struct rco_metrics *rco_manager_metrics(struct rco_manager *m)
{
    return m->metrics;
}

bool rco_manager_is_idle(const struct rco_manager *m)
{
    rco_mono t = rco_loop_now(m->loop);

    if (m->n_runs > 0 || m->n_parked > 0 || m->walk.kind != WALK_NONE)
        return false;
    for (size_t i = 0; i < m->n_controllers; i++) {
        rco_mono next = rco_workqueue_next(m->controllers[i].queue, t);

        if (next != 0 && next <= t)
            return false;
    }
    return true;
}
