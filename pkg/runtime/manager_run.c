#include "runtime/manager_internal.h"

#include "base/log.h"
#include "base/str.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEY_TEXT_MAX 512
/* Turns of the loop until what a decision asked for is on the wire: that of the executor, and that
 * of the connection. Further decisions can wait so long. */
#define WRITE_TURNS 2

#define RING_REMOVE(N) ((N)->prev->next = (N)->next, (N)->next->prev = (N)->prev)
#define RING_PUSH(H, N)                                                                            \
    ((N)->next = (H)->next, (N)->prev = (H), (H)->next->prev = (N), (H)->next = (N))

static rco_mono now(const struct rco_manager *m)
{
    return rco_loop_now(m->loop);
}

/* --- key states --- */

static void key_text(const struct rco_key *k, char out[KEY_TEXT_MAX])
{
    size_t n_ns = strnlen(k->ns, KEY_TEXT_MAX / 2);
    size_t n_name = strnlen(k->name, KEY_TEXT_MAX / 2 - 2);

    memcpy(out, k->ns, n_ns);
    out[n_ns] = '/';
    memcpy(out + n_ns + 1, k->name, n_name);
    out[n_ns + 1 + n_name] = '\0';
}

static struct key_state *find_state(struct controller *c, const struct rco_key *k)
{
    char text[KEY_TEXT_MAX];

    key_text(k, text);
    return rco_map_get(&c->states, text);
}

static struct key_state *make_state(struct controller *c, const struct rco_key *k)
{
    struct key_state *s = find_state(c, k);
    char text[KEY_TEXT_MAX];

    if (s)
        return s;
    key_text(k, text);
    s = rco_calloc(1, sizeof(*s));
    s->controller = c;
    s->ns = rco_strdup(k->ns);
    s->name = rco_strdup(k->name);
    rco_map_set(&c->states, text, s);
    return s;
}

static void unpark(struct key_state *s)
{
    if (!s->parked)
        return;
    s->parked = false;
    s->parked_prev->parked_next = s->parked_next;
    s->parked_next->parked_prev = s->parked_prev;
    s->controller->manager->n_parked--;
}

static void state_free(struct key_state *s)
{
    unpark(s);
    rco_outcomes_release(&s->outcomes);
    rco_gate_free(s->gate);
    free(s->ns);
    free(s->name);
    free(s);
}

/* Most keys have nothing to remember most of the time. */
static void drop_if_empty(struct key_state *s)
{
    struct rco_key k = {.ns = s->ns, .name = s->name};
    char text[KEY_TEXT_MAX];

    if (s->running || s->parked || s->gate || s->outcomes.n > 0)
        return;
    key_text(&k, text);
    rco_map_remove(&s->controller->states, text);
    state_free(s);
}

void rco_manager_free_states(struct controller *c)
{
    size_t it = 0;
    const char *key;
    void *value;

    while (rco_map_next(&c->states, &it, &key, &value))
        state_free(value);
    rco_map_release(&c->states);
}

/* --- the gate: keys that wait until the caches show their own writes --- */

static void park(struct rco_manager *m, struct key_state *s, enum rco_priority priority)
{
    if (s->parked) {
        if (priority > s->priority)
            s->priority = priority;
        return;
    }
    s->parked = true;
    s->priority = priority;
    s->parked_next = m->parked.parked_next;
    s->parked_prev = &m->parked;
    m->parked.parked_next->parked_prev = s;
    m->parked.parked_next = s;
    if (m->n_parked++ == 0)
        rco_timer_arm(m->park_timer, RCO_NS_PER_S);
    rco_series_inc(m->m.gate_waits);
}

static uint32_t moved_kinds(struct rco_manager *m)
{
    uint32_t kinds = 0;

    for (size_t i = 0; i < m->n_watched; i++) {
        if (m->watched[i].moved)
            kinds |= UINT32_C(1) << m->watched[i].spec->kind;
        m->watched[i].moved = false;
    }
    return kinds;
}

static void wake_parked(struct rco_manager *m)
{
    uint32_t kinds = moved_kinds(m);
    struct key_state *next;

    if (kinds == 0)
        return;
    for (struct key_state *s = m->parked.parked_next; s != &m->parked; s = next) {
        struct rco_key k = {.ns = s->ns, .name = s->name};

        next = s->parked_next;
        if (!(rco_gate_kinds(s->gate) & kinds) || !rco_gate_check(&s->gate, m->stores))
            continue;
        unpark(s);
        rco_workqueue_add(s->controller->queue, &k, s->priority, now(m));
        drop_if_empty(s);
    }
}

/* An own write that does not show up within 30 s: list that kind anew, the answer must have it. */
static void relist_for(struct rco_manager *m, struct key_state *s)
{
    uint32_t kinds = rco_gate_kinds(s->gate);

    rco_gate_extend(s->gate, now(m));
    for (size_t i = 0; i < m->n_watched; i++) {
        struct watched *w = &m->watched[i];

        if (!(kinds & (UINT32_C(1) << w->spec->kind)) || w->stale)
            continue;
        w->stale = true;
        rco_series_inc(m->m.gate_timeouts);
        rco_log(RCO_LOG_WARN, "own write does not show up in the cache, listing anew",
                RCO_S("kind", rco_kind_info(w->spec->kind)->kind),
                RCO_S("controller", s->controller->reconciler->name), RCO_S("namespace", s->ns),
                RCO_S("name", s->name));
        rco_reflector_relist(rco_informer_reflector(w->informer));
    }
}

void rco_manager_on_park_timer(void *ctx)
{
    struct rco_manager *m = ctx;

    for (size_t i = 0; i < m->n_watched; i++)
        m->watched[i].stale = false;
    for (struct key_state *s = m->parked.parked_next; s != &m->parked; s = s->parked_next)
        if (now(m) >= rco_gate_deadline(s->gate))
            relist_for(m, s);
    if (m->n_parked > 0)
        rco_timer_arm(m->park_timer, RCO_NS_PER_S);
}

/* --- end of a run --- */

static void log_result(const struct run *r, const struct rco_execution_report *report)
{
    rco_log(report->result == RCO_EXECUTION_TERMINAL ? RCO_LOG_ERROR : RCO_LOG_WARN,
            "reconcile stopped", RCO_S("controller", r->controller->reconciler->name),
            RCO_S("namespace", r->key.ns), RCO_S("name", r->key.name), RCO_S("row", r->plan.row),
            RCO_S("result", rco_execution_result_name(report->result)),
            RCO_S("error", report->err ? report->err->msg : ""));
}

/* What the plan's end means for the key. Returns the series that counts it. */
static struct rco_series *settle(struct run *r, const struct rco_execution_report *report,
                                 bool new_outcomes)
{
    struct controller *c = r->controller;
    rco_mono t = now(c->manager);

    switch (report->result) {
    case RCO_EXECUTION_DONE:
        rco_workqueue_forget(c->queue, &r->key);
        if (r->plan.requeue_after_ns > 0)
            rco_workqueue_add_at(c->queue, &r->key, RCO_PRIORITY_NORMAL,
                                 t + r->plan.requeue_after_ns, t);
        /* What was created has to be looked at, also where no watch says so (Secrets). */
        if (new_outcomes)
            rco_workqueue_add(c->queue, &r->key, RCO_PRIORITY_NORMAL, t);
        return r->plan.requeue_after_ns > 0 ? c->requeue_after : c->success;
    case RCO_EXECUTION_CONFLICT:
    case RCO_EXECUTION_REFUSED:
        rco_workqueue_add_backoff(c->queue, &r->key, r->priority, t);
        return c->requeue;
    case RCO_EXECUTION_RETRY:
        rco_series_inc(c->errors);
        rco_workqueue_add_rate_limited(c->queue, &r->key, r->priority, t);
        return c->error;
    case RCO_EXECUTION_TERMINAL:
        rco_series_inc(c->errors);
        rco_series_inc(c->terminal);
        rco_workqueue_forget(c->queue, &r->key);
        return c->error;
    case RCO_EXECUTION_FENCED:
        return c->requeue;
    }
    return c->error;
}

static void end_run(struct run *r)
{
    struct controller *c = r->controller;
    struct rco_manager *m = c->manager;
    struct key_state *s = r->state;
    double seconds = (double)(now(m) - r->started) / 1e9;

    rco_series_observe(c->time, seconds);
    rco_series_observe(c->work_duration, seconds);
    rco_series_add(c->active, -1);
    rco_workqueue_done(c->queue, &r->key, now(m));
    s->running = false;
    drop_if_empty(s);
    RING_REMOVE(r);
    m->n_runs--;
    rco_arena_release(&r->arena);
    free(r);
    if (m->stopping)
        rco_manager_maybe_over(m);
    else
        rco_manager_pump_soon(m);
}

static void take_outcomes(struct key_state *s, const struct rco_execution_report *report)
{
    /* A plan that was carried out has made use of what its observe was shown; only its own are
     * news. */
    if (report->result == RCO_EXECUTION_DONE)
        rco_outcomes_release(&s->outcomes);
    for (size_t i = 0; i < report->outcomes->n; i++)
        rco_outcomes_put(&s->outcomes, &report->outcomes->items[i]);
}

static void on_executed(void *ctx, const struct rco_execution_report *report)
{
    struct run *r = ctx;
    struct controller *c = r->controller;
    bool new_outcomes = report->outcomes->n > 0;

    r->execution = NULL;
    take_outcomes(r->state, report);
    rco_gate_free(r->state->gate);
    r->state->gate = *report->gate;
    *report->gate = NULL;
    if (report->ambiguous)
        rco_series_inc(c->timeouts);
    if (report->err && report->result != RCO_EXECUTION_CONFLICT)
        log_result(r, report);
    if (c->reconciler->finished)
        c->reconciler->finished(c->reconciler->ctx, &r->key, &r->plan, report->err);
    rco_series_inc(settle(r, report, new_outcomes));
    end_run(r);
}

/* --- begin of a run --- */

static void observe_failed(struct run *r, const struct rco_error *err)
{
    struct controller *c = r->controller;

    rco_log(RCO_LOG_ERROR, "observe failed", RCO_S("controller", c->reconciler->name),
            RCO_S("namespace", r->key.ns), RCO_S("name", r->key.name), RCO_S("error", err->msg));
    rco_series_inc(c->error);
    rco_series_inc(c->errors);
    if (err->code == RCO_EINVALID) {
        rco_series_inc(c->terminal);
        rco_workqueue_forget(c->queue, &r->key);
    } else {
        rco_workqueue_add_rate_limited(c->queue, &r->key, r->priority, now(c->manager));
    }
    end_run(r);
}

static void end_without_plan(struct run *r)
{
    rco_series_inc(r->controller->success);
    rco_workqueue_forget(r->controller->queue, &r->key);
    rco_outcomes_release(&r->state->outcomes);
    end_run(r);
}

static void decide(struct run *r)
{
    struct controller *c = r->controller;
    struct rco_manager *m = c->manager;
    struct rco_error err = RCO_ERROR_INIT;
    void *snapshot = NULL;
    int failed;
    struct rco_observer obs = {
        .outcomes = r->state->outcomes.items,
        .n_outcomes = r->state->outcomes.n,
        .now = rco_loop_wall(m->loop),
        .lease_transitions = m->transitions,
    };

    memcpy(obs.stores, m->stores, sizeof(obs.stores));
    rco_plan_init(&r->plan, &r->arena);
    /* Everything that depends on the object's content happens between these two. */
    rco_crash_guard_begin(m->options.crash_guard, rco_manager_crash_hash(c, &r->key));
    failed = c->reconciler->observe(c->reconciler->ctx, &obs, &r->key, &r->arena, &snapshot, &err);
    if (failed == 0 && snapshot)
        c->reconciler->decide(snapshot, obs.now, &r->plan);
    rco_crash_guard_end(m->options.crash_guard);
    if (failed < 0) {
        observe_failed(r, &err);
        return;
    }
    if (!snapshot) {
        end_without_plan(r);
        return;
    }
    rco_log(RCO_LOG_DEBUG, "decided", RCO_S("controller", c->reconciler->name),
            RCO_S("namespace", r->key.ns), RCO_S("name", r->key.name), RCO_S("row", r->plan.row),
            RCO_N("actions", r->plan.n_actions));
    if (r->plan.n_actions > 0)
        m->yield_turns = WRITE_TURNS;
    r->execution = rco_executor_run(m->executor, &r->plan, on_executed, r);
}

static void start_run(struct controller *c, const struct rco_work *work, struct key_state *s)
{
    struct rco_manager *m = c->manager;
    struct run *r = rco_calloc(1, sizeof(*r));

    r->controller = c;
    r->state = s;
    r->key = work->key;
    r->priority = work->priority;
    r->started = now(m);
    s->running = true;
    RING_PUSH(&m->runs, r);
    m->n_runs++;
    rco_series_add(c->active, 1);
    rco_series_observe(c->queue_duration, (double)work->waited_ns / 1e9);
    decide(r);
}

uint64_t rco_manager_crash_hash(const struct controller *c, const struct rco_key *key)
{
    uint64_t hash = rco_hash(c->reconciler->name, strlen(c->reconciler->name), rco_key_hash(key));

    return hash ? hash : 1;
}

void rco_manager_quarantine(struct controller *c, const struct rco_key *key, const char *why)
{
    struct rco_manager *m = c->manager;
    const struct rco_occurrence o = {.kind = c->reconciler->kind,
                                     .ns = key->ns,
                                     .name = key->name,
                                     .type = "Warning",
                                     .reason = "Quarantined",
                                     .action = "Reconcile",
                                     .note = why};

    rco_log(RCO_LOG_ERROR, "key quarantined", RCO_S("controller", c->reconciler->name),
            RCO_S("namespace", key->ns), RCO_S("name", key->name), RCO_S("error", why));
    rco_workqueue_quarantine(c->queue, key);
    if (m->leading && c->reconciler->kind != RCO_KIND_NONE)
        rco_recorder_event(m->recorder, &o);
}

/* Takes one key of C; false when none is ready. */
static bool serve(struct controller *c)
{
    struct rco_manager *m = c->manager;
    struct rco_work work;
    struct key_state *s;

    if (!rco_workqueue_get(c->queue, now(m), &work))
        return false;
    if (rco_crash_guard_is_poison(m->options.crash_guard, rco_manager_crash_hash(c, &work.key))) {
        rco_manager_quarantine(c, &work.key,
                               "the operator ended twice while it decided about this object; it is "
                               "left alone until it changes");
        rco_workqueue_done(c->queue, &work.key, now(m));
        return true;
    }
    s = find_state(c, &work.key);
    if (s && !rco_gate_check(&s->gate, m->stores)) {
        park(m, s, work.priority);
        rco_workqueue_done(c->queue, &work.key, now(m));
        return true;
    }
    if (s)
        unpark(s);
    else
        s = make_state(c, &work.key);
    start_run(c, &work, s);
    return true;
}

/* --- pump --- */

void rco_manager_pump_soon(struct rco_manager *m)
{
    rco_timer_arm(m->pump_timer, 0);
}

static void arm_next(struct rco_manager *m)
{
    rco_mono t = now(m), first = 0;

    if (m->n_runs >= RCO_IN_FLIGHT_MAX)
        return; /* the end of a run comes here again */
    for (size_t i = 0; i < m->n_controllers; i++) {
        rco_mono next = rco_workqueue_next(m->controllers[i].queue, t);

        if (next != 0 && (first == 0 || next < first))
            first = next;
    }
    if (first != 0)
        rco_timer_arm(m->pump_timer, first > t ? first - t : 0);
}

/* One turn: a slice of a walk, then up to RCO_RUNS_PER_TURN keys, controllers taking turns. */
void rco_manager_on_pump(void *ctx)
{
    struct rco_manager *m = ctx;
    bool more;
    size_t idle = 0;

    if (!m->leading || m->stopping)
        return;
    if (m->yield_turns > 0) {
        m->yield_turns--;
        rco_manager_pump_soon(m);
        return;
    }
    wake_parked(m);
    more = rco_manager_walk_slice(m);
    for (int n = 0; n < RCO_RUNS_PER_TURN && idle < m->n_controllers;) {
        if (m->n_runs >= RCO_IN_FLIGHT_MAX || m->yield_turns > 0)
            break;
        if (serve(&m->controllers[m->turn])) {
            idle = 0;
            n++;
        } else {
            idle++;
        }
        m->turn = (m->turn + 1) % m->n_controllers;
    }
    if (more)
        rco_manager_pump_soon(m);
    else
        arm_next(m);
}

void rco_manager_add(struct controller *c, const struct rco_key *key, enum rco_priority priority)
{
    rco_workqueue_add(c->queue, key, priority, now(c->manager));
    rco_manager_pump_soon(c->manager);
}

void rco_manager_cancel_runs(struct rco_manager *m)
{
    while (m->runs.next != &m->runs) {
        struct run *r = m->runs.next;

        rco_execution_cancel(r->execution);
        RING_REMOVE(r);
        m->n_runs--;
        rco_arena_release(&r->arena);
        free(r);
    }
}
