/* Time, chance, trace, and the order in which everything happens. */
#include "sim.h"

#include "log_sink.h"
#include "oracle.h"
#include "replica.h"
#include "workload.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define STEPS_MAX 400000 /* an ordinary run has some thousand */

struct sim_after {
    struct sim_after *next, **prev;
    struct sim *sim;
    struct rco_timer *timer;
    rco_loop_fn fn;
    void *ctx;
};

/* --- chance --- */

uint64_t sim_random(struct sim *s)
{
    uint64_t z = s->rng += UINT64_C(0x9e3779b97f4a7c15); /* splitmix64 */

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

int64_t sim_between(struct sim *s, int64_t lo, int64_t hi)
{
    return lo + (int64_t)(sim_random(s) % (uint64_t)(hi - lo + 1));
}

bool sim_chance(struct sim *s, int percent)
{
    return sim_random(s) % 100 < (uint64_t)percent;
}

/* Mostly milliseconds; one in twenty takes much longer, so that messages overtake one another. */
int64_t sim_latency(struct sim *s)
{
    int64_t unit = s->plan->slow ? 40 * SIM_MS : 4 * SIM_MS;
    bool late = sim_random(s) % 20 == 0;

    return sim_between(s, unit / 8, late ? 20 * unit : unit);
}

/* --- time --- */

rco_wall sim_wall(struct sim *s)
{
    return rco_loop_wall(s->loop);
}

const char *sim_time(struct sim *s)
{
    char *text = rco_arena_alloc(&s->arena, RCO_TIME_STR_MAX);

    rco_wall_format(sim_wall(s), text);
    return text;
}

static void on_after(void *ctx)
{
    struct sim_after *x = ctx;
    rco_loop_fn fn = x->fn;
    void *arg = x->ctx;

    rco_timer_free(x->timer);
    *x->prev = x->next;
    if (x->next)
        x->next->prev = x->prev;
    free(x);
    fn(arg);
}

void sim_after(struct sim *s, int64_t delay, rco_loop_fn fn, void *ctx)
{
    struct sim_after *x = rco_calloc(1, sizeof *x);

    x->sim = s;
    x->fn = fn;
    x->ctx = ctx;
    x->next = s->afters;
    x->prev = &s->afters;
    if (x->next)
        x->next->prev = &x->next;
    s->afters = x;
    x->timer = rco_timer_new(s->loop, on_after, x);
    rco_timer_arm(x->timer, delay);
}

/* --- trace --- */

void sim_trace(struct sim *s, const char *fmt, ...)
{
    char line[1024];
    va_list ap;
    int n;

    va_start(ap, fmt);
    n = vsnprintf(line, sizeof line, fmt, ap);
    va_end(ap);
    if (n >= (int)sizeof line)
        n = sizeof line - 1;
    s->hash = rco_hash(line, (size_t)n, s->hash ^ (uint64_t)s->now);
    s->lines++;
    if (s->verbose)
        printf("%12.3f %s\n", (double)s->now / 1e9, line);
}

/* --- order --- */

static bool runs(const struct sim *s, int i)
{
    return s->replicas[i] && sim_replica_loop(s, i) && !sim_replica_is_paused(s, i);
}

static void settle(struct sim *s)
{
    rco_loop_virtual_settle(s->loop);
    for (int i = 0; i < SIM_REPLICAS; i++)
        if (runs(s, i))
            rco_loop_virtual_settle(sim_replica_loop(s, i));
    sim_replicas_reap(s);
}

/* All clocks stand at T. */
static void move(struct sim *s, rco_mono t)
{
    s->now = t;
    rco_loop_virtual_skip(s->loop, t - rco_loop_now(s->loop));
    for (int i = 0; i < SIM_REPLICAS; i++)
        if (runs(s, i))
            rco_loop_virtual_skip(sim_replica_loop(s, i), t - rco_loop_now(sim_replica_loop(s, i)));
}

/* The next thing that happens anywhere; false: nothing ever will. */
static bool step(struct sim *s)
{
    struct rco_loop *first = s->loop;
    rco_mono due = rco_loop_virtual_next(s->loop);

    for (int i = 0; i < SIM_REPLICAS; i++) {
        rco_mono next = runs(s, i) ? rco_loop_virtual_next(sim_replica_loop(s, i)) : 0;

        if (next && (!due || next < due)) {
            due = next;
            first = sim_replica_loop(s, i);
        }
    }
    if (!due)
        return false;
    if (due > s->now)
        move(s, due);
    rco_loop_virtual_step(first);
    settle(s);
    return true;
}

bool sim_run(struct sim *s, int64_t quiet, int64_t max)
{
    rco_mono end = s->now + max, began = s->now;
    long left = STEPS_MAX;

    settle(s);
    while (s->now < end) {
        rco_mono since = s->last_change > began ? s->last_change : began;

        /* What was hindered may still come. */
        if (s->fault.away_until > since)
            since = s->fault.away_until;
        if (s->fault.node_until > since)
            since = s->fault.node_until;
        if (s->fault.deaf_until > since)
            since = s->fault.deaf_until;
        if (s->poked) {
            s->poked = false;
            sim_user_look(s);
        }
        if (sim_user_is_done(s) && s->now - since >= quiet)
            return true;
        if (!step(s))
            return sim_user_is_done(s);
        if (s->violations > 20)
            return true;
        if (--left == 0) {
            sim_violation(s, "livelock", "%d steps and no end", STEPS_MAX);
            return true;
        }
    }
    return false;
}

void sim_idle(struct sim *s, int64_t length)
{
    rco_mono end = s->now + length;

    settle(s);
    while (s->now < end && step(s))
        ;
}

/* --- life --- */

static void make_namespace(struct sim *s, const char *name)
{
    sim_create(s, SIM_USER, RCO_KIND_NAMESPACE, "",
               sim_tree_f(&s->arena,
                          "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":"
                          "\"%s\"}}",
                          name));
}

struct sim *sim_new(const struct sim_plan *plan, const struct sim_workload *w, bool verbose)
{
    struct sim *s = rco_calloc(1, sizeof *s);

    s->plan = plan;
    s->rng = plan->seed;
    s->verbose = verbose;
    s->workload = w;
    s->loop = rco_loop_virtual_new(plan->seed);
    s->now = rco_loop_now(s->loop);
    s->last_change = s->now;
    s->revision = 100;
    sim_times_begin(s);
    sim_log_to(s);
    make_namespace(s, SIM_OPERATOR_NS);
    make_namespace(s, SIM_TENANT_NS);
    for (int i = 0; i < plan->replicas; i++)
        sim_replica_start(s, i);
    s->poked = true;
    return s;
}

static void end_replica(struct sim *s, int i)
{
    if (!s->replicas[i] || !sim_replica_loop(s, i))
        return;
    sim_replica_kill(s, i, "end of the simulation");
}

void sim_free(struct sim *s)
{
    if (!s)
        return;
    for (int i = 0; i < SIM_REPLICAS; i++)
        end_replica(s, i);
    while (s->afters) {
        struct sim_after *x = s->afters;

        s->afters = x->next;
        rco_timer_free(x->timer);
        free(x);
    }
    rco_loop_virtual_free(s->loop);
    for (int k = 0; k < RCO_KIND_COUNT; k++) {
        free(s->kinds[k].live);
        free(s->kinds[k].history);
    }
    rco_map_release(&s->incarnations);
    sim_log_to(NULL);
    rco_arena_release(&s->arena);
    free(s);
}
