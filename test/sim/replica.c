/* One process of the operator: the shipped controller code, wired as controller/program.c does it,
 * on the simulated transport and gateway front. */
#include "replica.h"

#include "auth.h"
#include "breaks.h"
#include "gateway.h"
#include "mailbox.h"
#include "setup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEASE_NAME "runtime-cloud-controller"
#define RESTART_MIN (1 * SIM_S) /* a kubelet starts the container again */
#define RESTART_MAX (8 * SIM_S)

struct sim_replica {
    struct sim *sim;
    int number, incarnation;
    bool up, doomed, paused, stopping;
    rco_mono since;   /* of the start, or of the end of the last pause */
    const char *doom; /* why */
    char identity[64];
    struct rco_loop *loop;
    struct sim_link *link;
    struct rco_kube_client *client;
    struct rco_world world;
    struct rco_setup_storage setup;
    struct rco_manager *manager;
    struct rco_gateway *gateway;
    struct rco_server_handler handler;
};

static void wake_run(void *ctx, const char *ns, const char *run)
{
    struct sim_replica *r = ctx;
    struct rco_key key = rco_key_of(ns, run);

    rco_manager_enqueue(r->manager, RCO_RECONCILER_RUN, &key, RCO_PRIORITY_HIGH);
}

static void on_reply(void *ctx, uint64_t mailbox, int http_status, const char *body, size_t n)
{
    struct sim_replica *r = ctx;

    rco_mailbox_reply(r->world.mailbox, mailbox, http_status, body, n);
}

/* As program.c: the process ends at once. */
static void on_failed(void *ctx, const char *why)
{
    struct sim_replica *r = ctx;

    sim_trace(r->sim, "operator%d gives up: %s", r->number, why);
    if (!sim_break_is(SIM_BREAK_NO_FENCING))
        sim_replica_doom(r->sim, r->number, "gave up");
}

static void on_leading(void *ctx, int64_t transitions)
{
    struct sim_replica *r = ctx;

    sim_trace(r->sim, "operator%d leads, token %lld", r->number, (long long)transitions);
}

static void fill_world(struct sim_replica *r)
{
    r->world.loop = r->loop;
    r->world.config = (struct rco_decide_config){
        .operator_namespace = SIM_OPERATOR_NS,
        .default_tenant = "default",
        .runner_image = "registry.example.com/runner:1",
        .history_limit = 20,
        .job = {.gateway_url = "https://gateway.runtime-cloud.svc:8443",
                .gateway_ca = "CA",
                .gateway_audience = RCO_GATEWAY_AUDIENCE},
    };
}

static void make_manager(struct sim_replica *r)
{
    const struct rco_elector_options election = {
        .ns = SIM_OPERATOR_NS,
        .name = LEASE_NAME,
        .identity = r->identity,
        .timing = RCO_ELECTOR_TIMING_DEFAULT,
    };
    const struct rco_manager_options options = {
        .loop = r->loop,
        .client = r->client,
        .list_mode = r->sim->plan->streaming ? RCO_LIST_STREAMING : RCO_LIST_PAGED,
        .election = r->sim->plan->election ? &election : NULL,
        .instance = r->identity,
        .reply = on_reply,
        .leading = on_leading,
        .failed = on_failed,
        .ctx = r,
    };

    rco_setup_fill(&r->setup, &r->world);
    r->manager = rco_manager_new(&r->setup.setup, &options);
    for (int kind = 0; kind < RCO_KIND_COUNT; kind++)
        r->world.stores[kind] = rco_manager_store(r->manager, (enum rco_kind)kind);
}

void sim_replica_start(struct sim *s, int i)
{
    struct sim_replica *r = s->replicas[i];
    uint64_t seed;

    if (!r) {
        r = s->replicas[i] = RCO_NEW(&s->arena, struct sim_replica);
        r->sim = s;
        r->number = i;
    }
    if (r->up)
        return;
    r->up = true;
    r->incarnation++;
    r->since = s->now;
    seed = sim_random(s);
    r->loop = rco_loop_virtual_new(seed);
    rco_loop_virtual_skip(r->loop, s->now - rco_loop_now(r->loop));
    snprintf(r->identity, sizeof r->identity, "operator%d_%d", i, r->incarnation);
    sim_trace(s, "%s starts", r->identity);
    sim_oracle_life(s, i, false);
    r->link = sim_link_new(s, i, r->loop);
    r->client = rco_kube_client_new(r->loop, sim_link_transport(r->link), NULL);
    memset(&r->world, 0, sizeof r->world);
    fill_world(r);
    r->world.mailbox = rco_mailbox_new(r->loop, wake_run, r);
    make_manager(r);
    r->gateway = rco_gateway_new(&(struct rco_gateway_options){
        .loop = r->loop, .client = r->client, .manager = r->manager, .world = &r->world});
    r->handler = rco_gateway_handler(r->gateway);
    rco_manager_start(r->manager);
}

static void on_restart(void *ctx)
{
    struct sim_replica *r = ctx;

    sim_replica_start(r->sim, r->number);
}

/* The process is gone; what it allocated must be gone with it. */
static void end(struct sim_replica *r)
{
    struct sim *s = r->sim;

    r->doomed = true; /* nothing is sent or answered while it is taken apart */
    sim_link_mute(r->link);
    rco_gateway_free(r->gateway);
    rco_manager_free(r->manager);
    rco_mailbox_free(r->world.mailbox);
    rco_kube_client_free(r->client);
    sim_front_break(s, r->number);
    sim_link_free(r->link);
    rco_loop_virtual_free(r->loop);
    r->up = r->doomed = r->paused = r->stopping = false;
    r->loop = NULL;
}

void sim_replica_kill(struct sim *s, int i, const char *reason)
{
    struct sim_replica *r = s->replicas[i];

    if (!r || !r->up)
        return;
    sim_trace(s, "operator%d dies: %s", i, reason);
    sim_oracle_life(s, i, true);
    end(r);
    sim_after(s, sim_between(s, RESTART_MIN, RESTART_MAX), on_restart, r);
}

void sim_replica_doom(struct sim *s, int i, const char *reason)
{
    struct sim_replica *r = s->replicas[i];

    if (!r || !r->up || r->doomed)
        return;
    r->doomed = true;
    r->doom = reason;
    sim_link_mute(r->link);
}

void sim_replicas_reap(struct sim *s)
{
    for (int i = 0; i < SIM_REPLICAS; i++)
        if (s->replicas[i] && s->replicas[i]->up && s->replicas[i]->doomed)
            sim_replica_kill(s, i, s->replicas[i]->doom);
}

static void on_resume(void *ctx)
{
    struct sim_replica *r = ctx;

    if (!r->up || !r->paused)
        return;
    r->paused = false;
    r->since = r->sim->now;
    rco_loop_virtual_skip(r->loop, r->sim->now - rco_loop_now(r->loop));
    sim_trace(r->sim, "operator%d goes on", r->number);
}

void sim_replica_pause(struct sim *s, int i, int64_t length)
{
    struct sim_replica *r = s->replicas[i];

    if (!r || !r->up || r->paused)
        return;
    r->paused = true;
    sim_trace(s, "operator%d is stopped for %lld s", i, (long long)(length / SIM_S));
    sim_after(s, length, on_resume, r);
}

/* --- SIGTERM --- */

#define GRACE (60 * SIM_S) /* then the kubelet kills it */

static void on_stopped(void *ctx)
{
    struct sim_replica *r = ctx;

    rco_mailbox_drain(r->world.mailbox);
    sim_replica_doom(r->sim, r->number, "stopped on a signal");
}

struct term {
    struct sim_replica *replica;
    int incarnation;
};

static void on_grace_over(void *ctx)
{
    struct term *t = ctx;
    struct sim_replica *r = t->replica;

    if (!r->up || r->incarnation != t->incarnation)
        return;
    if (r->sim->fault.calm_from + GRACE < r->sim->now)
        sim_violation(r->sim, "stop", "operator%d does not stop on SIGTERM", r->number);
    sim_replica_kill(r->sim, r->number, "did not stop in time");
}

static void on_term(void *ctx)
{
    struct term *t = ctx;
    struct sim_replica *r = t->replica;

    if (!r->up || r->doomed || r->incarnation != t->incarnation)
        return;
    if (r->paused) {
        sim_after(r->sim, SIM_S, on_term, t);
        return;
    }
    rco_manager_stop(r->manager, on_stopped, r);
}

void sim_replica_term(struct sim *s, int i)
{
    struct sim_replica *r = s->replicas[i];
    struct term *t = RCO_NEW(&s->arena, struct term);

    if (!r || !r->up || r->doomed || r->stopping)
        return;
    r->stopping = true;
    sim_trace(s, "operator%d gets SIGTERM", i);
    *t = (struct term){r, r->incarnation};
    sim_after(s, 0, on_term, t);
    sim_after(s, GRACE, on_grace_over, t);
}

/* --- asking --- */

bool sim_replica_is_ready(const struct sim *s, int i)
{
    return sim_replica_is_up(s, i) && !s->replicas[i]->stopping;
}

rco_mono sim_replica_since(const struct sim *s, int i)
{
    const struct sim_replica *r = s->replicas[i];

    return r && r->up && !r->doomed && !r->paused && !r->stopping ? r->since : 0;
}

int64_t sim_replica_seen(const struct sim *s, int i, enum rco_kind kind)
{
    const struct sim_replica *r = s->replicas[i];
    const struct rco_store *store;

    if (!sim_replica_since(s, i))
        return -1;
    store = rco_manager_store(r->manager, kind);
    return store ? strtoll(rco_store_rv(store), NULL, 10) : -1;
}

bool sim_replica_selects(const struct sim *s, int i, const struct sim_version *v)
{
    const struct rco_setup *setup = &s->replicas[i]->setup.setup;

    for (size_t n = 0; n < setup->n_informers; n++) {
        const struct rco_informer_spec *x = &setup->informers[n];

        if (x->kind == v->kind)
            return sim_matches(v, x->ns, x->label_selector, x->field_selector);
    }
    return false;
}

bool sim_replica_is_up(const struct sim *s, int i)
{
    return s->replicas[i] && s->replicas[i]->up && !s->replicas[i]->doomed;
}

bool sim_replica_is_doomed(const struct sim *s, int i)
{
    return !s->replicas[i] || !s->replicas[i]->up || s->replicas[i]->doomed;
}

bool sim_replica_is_paused(const struct sim *s, int i)
{
    return s->replicas[i] && s->replicas[i]->paused;
}

struct rco_loop *sim_replica_loop(const struct sim *s, int i)
{
    return s->replicas[i] ? s->replicas[i]->loop : NULL;
}

const char *sim_replica_identity(const struct sim *s, int i)
{
    return s->replicas[i] ? s->replicas[i]->identity : "";
}

const struct rco_server_handler *sim_replica_handler(const struct sim *s, int i)
{
    return sim_replica_is_up(s, i) ? &s->replicas[i]->handler : NULL;
}
