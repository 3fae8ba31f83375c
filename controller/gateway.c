#include "gateway.h"

#include "api/names.h"
#include "api/zz_generated_types.h"
#include "auth.h"
#include "base/log.h"
#include "base/map.h"
#include "base/sha256.h"
#include "decide/run.h"
#include "gateway_answer.h"
#include "gateway_route.h"
#include "mailbox.h"
#include "pulumi/chunk.h"

#include <string.h>

#define STORED_MAX 4096 /* artifacts remembered, see first_of_kind */
/* Bytes of bodies that wait for a review of their token, of which a quarter is kept for tokens that
 * have passed one; of chunks on their way to the API server,
 * where each exists several times over, and of those the ones of one namespace. Beyond: 503. */
#define HELD_MAX ((size_t)16 * 1024 * 1024)
#define STORING_MAX ((size_t)8 * 1024 * 1024)
#define STORING_NAMESPACE_MAX ((size_t)4 * 1024 * 1024)

struct rco_gateway {
    struct rco_gateway_options o;
    struct rco_auth *auth;
    /* "run uid/phase/kind" -> digest of the artifact being stored: a runner has one of each kind.
     */
    struct rco_map stored;
    struct call *calls; /* all that are not over */
    size_t held;        /* bytes of their bodies */
};

/* One request between its arrival and its answer or its way into the mailbox. */
struct call {
    struct rco_gateway *g;
    struct rco_exchange *exchange; /* NULL: the peer went away */
    struct rco_gateway_route route;
    char *query;
    char *body;
    size_t body_len;
    size_t storing;         /* bytes on their way to the API server */
    struct rco_arena arena; /* plan of an artifact */
    struct rco_plan plan;
    struct rco_errand *errand; /* of that plan, or NULL */
    struct call *next, **prev; /* in g->calls */
};

struct rco_gateway *rco_gateway_new(const struct rco_gateway_options *options)
{
    struct rco_gateway *g = rco_calloc(1, sizeof *g);

    g->o = *options;
    g->auth = rco_auth_new(options->loop, options->client);
    return g;
}

static void forget_stored(struct rco_gateway *g)
{
    size_t it = 0;
    void *value;

    while (rco_map_next(&g->stored, &it, NULL, &value))
        free(value);
    rco_map_release(&g->stored);
}

/* The body has been copied to where it goes on from. */
static void drop_body(struct call *c)
{
    if (c->body)
        c->g->held -= c->body_len;
    free(c->body);
    c->body = NULL;
}

static void free_call(struct call *c)
{
    if (c->exchange)
        rco_exchange_set_data(c->exchange, NULL);
    *c->prev = c->next;
    if (c->next)
        c->next->prev = c->prev;
    rco_arena_release(&c->arena);
    drop_body(c);
    free(c->query);
    free(c);
}

void rco_gateway_free(struct rco_gateway *g)
{
    if (!g)
        return;
    rco_auth_free(g->auth);
    while (g->calls) {
        rco_errand_cancel(g->calls->errand);
        free_call(g->calls);
    }
    forget_stored(g);
    free(g);
}

/* Answers, if anybody still listens, and ends the call. */
static void finish(struct call *c, int status, const char *message)
{
    struct rco_exchange *exchange = c->exchange;

    free_call(c);
    if (exchange)
        rco_gateway_answer(exchange, status, message);
}

static void to_mailbox(struct call *c, const struct rco_identity *who)
{
    struct rco_letter letter = {
        .type = c->route.verb == RCO_GATEWAY_START ? RCO_LETTER_START : RCO_LETTER_RECEIPT,
        .phase = c->route.phase,
        .ns = c->route.ns,
        .run = c->route.run,
        .pod_name = who->pod_name,
        .pod_uid = who->pod_uid,
        .body = c->body,
        .body_len = c->body_len,
        .exchange = c->exchange,
    };
    struct rco_mailbox *mailbox = c->g->o.world->mailbox;

    /* From here the mailbox answers; `gone` finds the exchange there. */
    rco_exchange_set_data(c->exchange, NULL);
    c->exchange = NULL;
    rco_mailbox_put(mailbox, &letter);
    free_call(c);
}

static bool phase_is(enum rco_engine_phase engine, enum rco_phase phase)
{
    return (engine == RCO_ENGINE_PHASE_PLAN && phase == RCO_PHASE_PLAN) ||
           (engine == RCO_ENGINE_PHASE_APPLY && phase == RCO_PHASE_APPLY);
}

/* Whether RUN, as it is in the cache, may be older than a start of PHASE: it shows no engine, one
 * of an earlier phase, or one that nobody has started. */
static bool start_may_be_unseen(const struct rco_run *run, enum rco_phase phase)
{
    const struct rco_run_engine *e = &run->status.engine;

    if (rco_run_is_final(run))
        return false;
    if (!run->status.has_engine || (phase == RCO_PHASE_APPLY && phase_is(e->phase, RCO_PHASE_PLAN)))
        return true;
    return phase_is(e->phase, phase) && rco_str_empty(e->pod_uid);
}

/* The run, when WHO is the pod that was allowed to start its engine in this phase; else answers. */
static const struct rco_run *engine_run(struct call *c, const struct rco_identity *who,
                                        struct rco_arena *a)
{
    const struct rco_store *runs = rco_manager_store(c->g->o.manager, RCO_KIND_RUN);
    const struct rco_run *run = rco_lister_get(runs, c->route.ns, c->route.run, a);

    if (!run) {
        finish(c, 404, "there is no such run");
        return NULL;
    }
    /* The start is answered when its write was acknowledged, which may be long before the cache
     * shows it. */
    if (start_may_be_unseen(run, c->route.phase)) {
        finish(c, 503, "no start of this phase has been seen yet; ask again");
        return NULL;
    }
    if (!run->status.has_engine || !phase_is(run->status.engine.phase, c->route.phase) ||
        !rco_streq(run->status.engine.pod_uid, who->pod_uid)) {
        finish(c, 409, "this pod is not the engine of the run in this phase");
        return NULL;
    }
    return run;
}

/* Whether WHO is a pod that the recorded Job of the run of ROUTE made. Such a pod runs what the
 * operator gave it to run; a token of the right audience alone can be had by whoever makes pods. */
static bool is_runner(const struct rco_gateway *g, const struct rco_identity *who,
                      const struct rco_gateway_route *route)
{
    rco_autoarena a = RCO_ARENA_INIT;
    const struct rco_run *run;
    const struct rco_pod *pod;

    if (!rco_streq(who->ns, route->ns))
        return false;
    run = rco_lister_get(rco_manager_store(g->o.manager, RCO_KIND_RUN), route->ns, route->run, &a);
    pod = rco_lister_get(rco_manager_store(g->o.manager, RCO_KIND_POD), who->ns, who->pod_name, &a);
    if (!run || !pod || rco_str_empty(run->status.engine.job_uid) ||
        !rco_streq(pod->metadata.uid, who->pod_uid))
        return false;
    return rco_meta_is_controlled_by(&pod->metadata, "Job", run->status.engine.job_uid);
}

static void heartbeat(struct call *c, const struct rco_identity *who)
{
    rco_autoarena a = RCO_ARENA_INIT;
    rco_autobuf body = RCO_BUF_INIT;
    const struct rco_run *run = engine_run(c, who, &a);
    const struct rco_depspec *spec;
    struct rco_runner_heartbeat_answer answer;
    struct rco_exchange *exchange;
    rco_wall now;

    if (!run)
        return;
    now = rco_loop_wall(c->g->o.loop);
    spec = rco_lister_get(rco_manager_store(c->g->o.manager, RCO_KIND_DEPSPEC), c->route.ns,
                          rco_str_or_empty(run->spec.specification_ref.name), &a);
    answer.action = rco_run_heartbeat(run, spec, c->route.phase, now, NULL) == RCO_VERDICT_CANCEL
                        ? RCO_RUNNER_HEARTBEAT_ANSWER_ACTION_CANCEL
                        : RCO_RUNNER_HEARTBEAT_ANSWER_ACTION_CONTINUE;
    rco_codec_encode(&rco_runner_heartbeat_answer_schema, &answer, &body);
    exchange = c->exchange;
    free_call(c);
    rco_exchange_reply(exchange, 200, NULL, body.data, body.len, 0);
}

/* False when another artifact of the same kind is being stored for this run and phase: the body of
 * a runner is a function of its stream, so a second one is not a repetition. */
static bool first_of_kind(struct call *c, const char *run_uid, const char *digest)
{
    struct rco_gateway *g = c->g;
    rco_autofree char *key = rco_asprintf("%s/%d/%d", run_uid, c->route.phase, c->route.kind);
    const char *known = rco_map_get(&g->stored, key);

    if (known)
        return rco_streq(known, digest);
    if (g->stored.n >= STORED_MAX)
        forget_stored(g);
    rco_map_set(&g->stored, key, rco_strdup(digest));
    return true;
}

static void on_stored(void *ctx, const struct rco_execution_report *report)
{
    struct call *c = ctx;

    c->errand = NULL;
    switch (report->result) {
    case RCO_EXECUTION_DONE:
        finish(c, 201, "stored");
        break;
    case RCO_EXECUTION_REFUSED:
    case RCO_EXECUTION_TERMINAL:
        finish(c, 422, report->err ? report->err->msg : "the API server refused the object");
        break;
    default:
        finish(c, 503, "the API server could not store the object now; send it again");
        break;
    }
}

/* Whether the chunk of C may be sent now. */
static bool may_store(const struct call *c)
{
    size_t all = c->body_len, of_namespace = c->body_len;

    for (const struct call *x = c->g->calls; x; x = x->next) {
        all += x->storing;
        of_namespace += rco_streq(x->route.ns, c->route.ns) ? x->storing : 0;
    }
    return all <= STORING_MAX && of_namespace <= STORING_NAMESPACE_MAX;
}

static void store_chunk(struct call *c, const struct rco_identity *who)
{
    rco_autoarena a = RCO_ARENA_INIT;
    rco_autobuf body = RCO_BUF_INIT;
    const struct rco_run *run = engine_run(c, who, &a);
    const struct rco_configmap *anchor;
    struct rco_gateway_chunk chunk;
    char name[RCO_NAME_SIZE], anchor_name[RCO_NAME_SIZE];
    const char *why;
    bool too_big;

    if (!run)
        return;
    why = rco_gateway_chunk(c->query, c->route.kind, c->body_len, &chunk, &too_big);
    if (why) {
        finish(c, too_big ? 413 : 400, why);
        return;
    }
    if (!may_store(c)) {
        finish(c, 503, "too many artifacts are being stored; send it again");
        return;
    }
    if (!first_of_kind(c, run->metadata.uid, chunk.digest)) {
        finish(c, 409, "another artifact of this kind is already stored");
        return;
    }
    rco_name_anchor(run->metadata.uid, anchor_name);
    anchor = rco_lister_get(rco_manager_store(c->g->o.manager, RCO_KIND_CONFIGMAP), c->route.ns,
                            anchor_name, &a);
    /* By its uid: under its name anybody's ConfigMap may stand. */
    if (!anchor || !run->status.has_anchor ||
        !rco_streq(anchor->metadata.uid, run->status.anchor.uid)) {
        finish(c, 503, "the run's anchor ConfigMap is not seen yet; send it again");
        return;
    }
    rco_name_chunk(run->metadata.uid, rco_phase_name(c->route.phase),
                   rco_artifact_kind_name(c->route.kind), (size_t)chunk.index, chunk.digest, name);
    rco_plan_init(&c->plan, &c->arena);
    rco_chunk_write(&(struct rco_chunk){.run = run,
                                        .phase = c->route.phase,
                                        .kind = c->route.kind,
                                        .name = name,
                                        .anchor_name = anchor->metadata.name,
                                        .anchor_uid = anchor->metadata.uid},
                    c->body, c->body_len, &body);
    c->storing = c->body_len;
    drop_body(c);
    rco_plan_create(&c->plan, rco_chunk_kind(c->route.kind), c->route.ns, name, &body,
                    RCO_EXISTS_OK);
    c->errand = rco_manager_execute(c->g->o.manager, &c->plan, on_stored, c);
}

static void on_authenticated(void *ctx, const struct rco_identity *who, int status,
                             const char *message)
{
    struct call *c = ctx;

    if (!c->exchange) {
        free_call(c);
        return;
    }
    if (!who) {
        finish(c, status, message);
        return;
    }
    if (!rco_streq(who->ns, c->route.ns)) {
        finish(c, 403, "a runner speaks only for runs of its own namespace");
        return;
    }
    if (is_runner(c->g, who, &c->route))
        rco_exchange_vouch(c->exchange);
    switch (c->route.verb) {
    case RCO_GATEWAY_START:
    case RCO_GATEWAY_RECEIPT:
        to_mailbox(c, who);
        return;
    case RCO_GATEWAY_HEARTBEAT:
        heartbeat(c, who);
        return;
    case RCO_GATEWAY_ARTIFACT:
        store_chunk(c, who);
        return;
    case RCO_GATEWAY_NONE:
        break;
    }
    finish(c, 404, "no such route");
}

static int64_t max_body(void *ctx, const char *method, const char *path)
{
    struct rco_gateway_route route;

    (void)ctx;
    return rco_gateway_route(method, path, &route) ? route.max_body : -1;
}

/* For the listener: a runner whose token was reviewed lately is not sent away for others. */
static bool known(void *ctx, const char *method, const char *path, const char *authorization)
{
    struct rco_gateway *g = ctx;
    struct rco_gateway_route route;
    const struct rco_identity *who = rco_auth_known(g->auth, authorization);

    return who && rco_gateway_route(method, path, &route) && is_runner(g, who, &route);
}

static void on_request(void *ctx, struct rco_exchange *exchange,
                       const struct rco_server_request *request)
{
    struct rco_gateway *g = ctx;
    struct rco_gateway_route route;
    struct call *c;

    if (!rco_gateway_route(request->method, request->path, &route)) {
        rco_gateway_answer(exchange, 404, "no such route");
        return;
    }
    if (!rco_manager_is_leading(g->o.manager)) {
        rco_gateway_answer_standby(exchange);
        return;
    }
    if (g->held + request->body_len >
        (rco_auth_known(g->auth, request->authorization) ? HELD_MAX : HELD_MAX / 4 * 3)) {
        rco_gateway_answer(exchange, 503, "too much is being received; send it again");
        return;
    }
    c = rco_calloc(1, sizeof *c);
    g->held += request->body_len;
    c->g = g;
    c->exchange = exchange;
    c->route = route;
    c->query = rco_strdup(request->query);
    c->body = rco_strndup(request->body, request->body_len);
    c->body_len = request->body_len;
    c->next = g->calls;
    c->prev = &g->calls;
    if (c->next)
        c->next->prev = &c->next;
    g->calls = c;
    rco_exchange_set_data(exchange, c);
    rco_auth_check(g->auth, request->authorization, on_authenticated, c);
}

static void on_gone(void *ctx, struct rco_exchange *exchange)
{
    struct rco_gateway *g = ctx;
    struct call *c = rco_exchange_data(exchange);

    if (c)
        c->exchange = NULL;
    else
        rco_mailbox_gone(g->o.world->mailbox, exchange);
}

struct rco_server_handler rco_gateway_handler(struct rco_gateway *g)
{
    return (struct rco_server_handler){
        .max_body = max_body, .known = known, .request = on_request, .gone = on_gone, .ctx = g};
}
