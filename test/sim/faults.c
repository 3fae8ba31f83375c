#include "sim.h"

#include "kubelet.h"
#include "transport.h"

#include <inttypes.h>
#include <string.h>

static const char *const names[SIM_FAULT_TYPES] = {
    [SIM_FAULT_NONE] = "none",
    [SIM_CRASH_BEFORE] = "crash-before",
    [SIM_CRASH_COMMIT] = "crash-commit",
    [SIM_CRASH_REPLY] = "crash-reply",
    [SIM_LOSE_REQUEST] = "lose-request",
    [SIM_LOSE_ANSWER] = "lose-answer",
    [SIM_FREEZE] = "freeze",
    [SIM_RESTALE] = "restart-stale",
    [SIM_HIDE] = "hide",
    [SIM_PAUSE] = "pause",
    [SIM_DEAF] = "deaf",
    [SIM_OUTAGE] = "outage",
    [SIM_CLOCK] = "clock",
    [SIM_COMPACT] = "compact",
    [SIM_SKEW] = "skew",
    [SIM_TERM] = "term",
    [SIM_ERRORS] = "errors",
    [SIM_KILL_RUNNER] = "kill-runner",
    [SIM_LOSE_NODE] = "lose-node",
    [SIM_FOREIGN] = "foreign",
    [SIM_DELETE_JOB] = "delete-job",
};

const char *sim_fault_name(enum sim_fault_type type)
{
    return names[type];
}

enum sim_fault_type sim_fault_parse(const char *name)
{
    for (int t = 1; t < SIM_FAULT_TYPES; t++)
        if (strcmp(names[t], name) == 0)
            return (enum sim_fault_type)t;
    return SIM_FAULT_NONE;
}

static bool strikes_request(enum sim_fault_type type)
{
    return type >= SIM_CRASH_BEFORE && type <= SIM_LOSE_ANSWER;
}

const struct sim_fault *sim_fault_of_write(struct sim *s, int k)
{
    for (int i = 0; i < s->plan->n_faults; i++)
        if (s->plan->faults[i].at == k && strikes_request(s->plan->faults[i].type))
            return &s->plan->faults[i];
    return NULL;
}

/* --- beginnings and ends --- */

static void on_thaw(void *ctx)
{
    struct sim *s = ctx;

    if (s->fault.frozen_until > s->now)
        return;
    for (int k = 1; k < RCO_KIND_COUNT; k++)
        sim_links_notify(s, (enum rco_kind)k);
}

static void freeze(struct sim *s, int64_t length)
{
    s->fault.frozen_at = s->revision;
    s->fault.frozen_until = s->now + length;
    sim_after(s, length + 1, on_thaw, s);
}

static void on_seen(void *ctx)
{
    struct sim *s = ctx;

    s->fault.hiding = false;
    sim_watch_expire(s);
}

static void break_connections(struct sim *s)
{
    for (struct sim_link *l = s->links; l; l = l->next)
        for (struct sim_call *c = l->calls; c; c = c->next)
            if (c->watch.open)
                sim_call_push(c, &(struct sim_delivery){.type = SIM_FAIL});
}

static void silence(struct sim *s)
{
    for (struct sim_link *l = s->links; l; l = l->next)
        for (struct sim_call *c = l->calls; c; c = c->next)
            c->watch.deaf = c->watch.open;
}

static void compact(struct sim *s)
{
    for (int k = 1; k < RCO_KIND_COUNT; k++)
        s->kinds[k].compacted = s->revision;
    break_connections(s);
}

static void jump(struct sim *s, int seconds)
{
    for (int i = 0; i < SIM_REPLICAS; i++) {
        struct rco_loop *loop = sim_replica_loop(s, i);

        if (loop)
            rco_loop_virtual_set_wall(loop, rco_loop_wall(loop) + seconds * RCO_US_PER_S);
    }
}

/* etcd keeps five minutes of history: after a long outage every watch has to be started anew. */
#define HISTORY (300 * SIM_S)

struct outage {
    struct sim *sim;
    int64_t length;
};

static void on_outage_over(void *ctx)
{
    struct outage *o = ctx;

    for (int k = 1; o->length > HISTORY && k < RCO_KIND_COUNT; k++)
        o->sim->kinds[k].compacted = o->sim->revision;
    sim_oracle_outage_over(o->sim, o->length);
}

static void outage(struct sim *s, int64_t length)
{
    struct outage *o = RCO_NEW(&s->arena, struct outage);

    *o = (struct outage){s, length};
    s->fault.away_until = s->now + length;
    break_connections(s);
    sim_after(s, length, on_outage_over, o);
}

static void skew(struct sim *s, enum rco_kind kind, int64_t length)
{
    s->fault.skew_kind = (int)kind;
    s->fault.skew_at = s->revision;
    s->fault.skew_until = s->now + length;
    sim_after(s, length + 1, on_thaw, s);
}

static void begin(struct sim *s, const struct sim_fault *f, int replica)
{
    sim_trace(s, "fault: %s", sim_fault_name(f->type));
    if (s->fault.calm_from < s->now + f->length)
        s->fault.calm_from = s->now + f->length;
    switch (f->type) {
    case SIM_RESTALE:
        sim_replica_doom(s, replica, "restart onto a lagging front end");
        freeze(s, f->length);
        break;
    case SIM_FREEZE:
        freeze(s, f->length);
        break;
    case SIM_HIDE:
        s->fault.hiding = true;
        sim_after(s, f->length, on_seen, s);
        break;
    case SIM_PAUSE:
        sim_replica_pause(s, replica, f->length);
        break;
    case SIM_DEAF:
        s->fault.deaf_until = s->now + f->length;
        silence(s);
        break;
    case SIM_OUTAGE:
        outage(s, f->length);
        break;
    case SIM_CLOCK:
        jump(s, f->arg);
        break;
    case SIM_COMPACT:
        compact(s);
        break;
    case SIM_SKEW:
        skew(s, (enum rco_kind)f->arg, f->length);
        break;
    case SIM_TERM:
        sim_replica_term(s, replica);
        break;
    case SIM_ERRORS:
        s->fault.errors_until = s->now + f->length;
        s->fault.error_code = f->arg;
        break;
    default:
        break;
    }
}

void sim_faults_begin(struct sim *s, int k, int replica)
{
    for (int i = 0; i < s->plan->n_faults; i++) {
        const struct sim_fault *f = &s->plan->faults[i];

        if (f->at == k && !strikes_request(f->type) && f->type < SIM_KILL_RUNNER &&
            !s->fault.used[i]) {
            s->fault.used[i] = true;
            begin(s, f, replica);
        }
    }
}

void sim_faults_step(struct sim *s, int step)
{
    int replica = s->plan->n_faults ? (int)(sim_random(s) % (uint64_t)s->plan->replicas) : 0;

    sim_faults_begin(s, -step, replica);
}

/* AT counts the pods that reach the stage. */
const struct sim_fault *sim_fault_of_pod(struct sim *s, int stage)
{
    for (int i = 0; i < s->plan->n_faults; i++) {
        const struct sim_fault *f = &s->plan->faults[i];

        if (f->type != SIM_KILL_RUNNER && f->type != SIM_LOSE_NODE && f->type != SIM_DELETE_JOB)
            continue;
        if (f->arg != stage || s->fault.used[i] || ++s->fault.hits[i] != f->at)
            continue;
        s->fault.used[i] = true;
        return f;
    }
    return NULL;
}

bool sim_fault_foreign(struct sim *s)
{
    for (int i = 0; i < s->plan->n_faults; i++)
        if (s->plan->faults[i].type == SIM_FOREIGN && !s->fault.used[i])
            return s->fault.used[i] = true;
    return false;
}

/* --- text --- */

void sim_plan_write(const struct sim_plan *p, struct rco_buf *out)
{
    rco_buf_addf(out, "workload=%s seed=%" PRIu64, p->workload, p->seed);
    if (p->replicas != 1)
        rco_buf_addf(out, " replicas=%d", p->replicas);
    if (p->election)
        rco_buf_adds(out, " election=1");
    if (p->streaming)
        rco_buf_adds(out, " streaming=1");
    if (p->page)
        rco_buf_addf(out, " page=%d", p->page);
    if (p->twice)
        rco_buf_adds(out, " twice=1");
    if (p->slow)
        rco_buf_adds(out, " slow=1");
    if (p->front_loss)
        rco_buf_addf(out, " front-loss=%d", p->front_loss);
    for (int i = 0; i < p->n_faults; i++)
        rco_buf_addf(out, " fault=%s:%d:%" PRId64 ":%d", sim_fault_name(p->faults[i].type),
                     p->faults[i].at, p->faults[i].length / SIM_MS, p->faults[i].arg);
}
