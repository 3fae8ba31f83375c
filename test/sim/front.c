/* The gateway's front: stands in for pkg/http/server.h at link time. Requests of runners come to
 * some replica through the Service, as over the network. */
#include "sim.h"

#include "http/server.h"
#include "replica.h"

#include <string.h>

#define CLIENT_TIMEOUT (60 * SIM_S) /* of the runner's request, as in runner/gateway.c */

struct rco_exchange {
    struct rco_exchange *next;
    struct sim *sim;
    int replica;
    struct sim_front_request request;
    sim_front_done done;
    void *ctx;
    void *data;
    struct rco_timer *timer; /* of the replica's loop: arrival, then the peer's going away */
    bool arrived, over;
    int status, retry_after_s;
    const char *body;
    size_t body_len;
};

static void unlink_exchange(struct rco_exchange *x)
{
    struct rco_exchange **at = &x->sim->exchanges;

    while (*at && *at != x)
        at = &(*at)->next;
    if (*at)
        *at = x->next;
}

/* The operator's side ends. */
static void end_exchange(struct rco_exchange *x)
{
    x->over = true;
    rco_timer_free(x->timer);
    x->timer = NULL;
    unlink_exchange(x);
}

static void on_answer(void *ctx)
{
    struct rco_exchange *x = ctx;

    x->done(x->ctx, x->status, rco_str_or_empty(x->body), x->body_len, x->retry_after_s);
}

/* Brings STATUS (0: the connection broke) to the runner. */
static void answer(struct rco_exchange *x, int status)
{
    struct sim *s = x->sim;

    x->status = status;
    if (status && s->plan->front_loss && sim_chance(s, s->plan->front_loss)) {
        sim_trace(s, "the gateway's answer %d is lost", status);
        x->status = 0;
    }
    sim_after(s, sim_latency(s), on_answer, x);
}

/* --- what the operator calls --- */

void rco_exchange_reply(struct rco_exchange *x, int status, const char *content_type,
                        const char *body, size_t n, int retry_after_s)
{
    struct sim *s = x->sim;

    (void)content_type;
    if (x->over)
        return;
    end_exchange(x);
    if (sim_replica_is_doomed(s, x->replica)) {
        answer(x, 0);
        return;
    }
    sim_trace(s, "gateway answers %d to %s %s: %.*s", status, x->request.method, x->request.path,
              (int)(n < 120 ? n : 120), rco_str_or_empty(body));
    x->body = rco_arena_strndup(&s->arena, rco_str_or_empty(body), n);
    x->body_len = n;
    x->retry_after_s = retry_after_s;
    sim_oracle_text(s, "gateway answer", x->body, n);
    sim_oracle_replied(s, &x->request, status);
    answer(x, status);
}

void rco_exchange_set_data(struct rco_exchange *x, void *data)
{
    x->data = data;
}

void *rco_exchange_data(const struct rco_exchange *x)
{
    return x->data;
}

/* Every request of the simulated runners has a connection of its own. */
void rco_exchange_close_after(struct rco_exchange *x)
{
    (void)x;
}

/* Nor is there a crowd. */
void rco_exchange_vouch(struct rco_exchange *x)
{
    (void)x;
}

/* --- arrival and end --- */

static void on_gone(void *ctx)
{
    struct rco_exchange *x = ctx;
    const struct rco_server_handler *h = sim_replica_handler(x->sim, x->replica);

    if (x->over)
        return;
    end_exchange(x);
    if (h && h->gone)
        h->gone(h->ctx, x);
    answer(x, 0);
}

static void on_arrived(void *ctx)
{
    struct rco_exchange *x = ctx;
    const struct rco_server_handler *h = sim_replica_handler(x->sim, x->replica);
    const struct sim_front_request *q = &x->request;
    struct rco_server_request request = {
        .method = q->method,
        .path = q->path,
        .query = rco_str_or_empty(q->query),
        .authorization = rco_arena_printf(&x->sim->arena, "Bearer %s", q->token),
        .content_type = "application/json",
        .body = q->body,
        .body_len = q->body_len,
    };
    int64_t cap;

    x->arrived = true;
    rco_timer_free(x->timer);
    x->timer = rco_timer_new(sim_replica_loop(x->sim, x->replica), on_gone, x);
    rco_timer_arm(x->timer, CLIENT_TIMEOUT);
    cap = h->max_body(h->ctx, q->method, q->path);
    if (cap < 0 || (int64_t)q->body_len > cap) {
        rco_exchange_reply(x, cap < 0 ? 404 : 413, NULL, "{}", 2, 0);
        return;
    }
    h->request(h->ctx, x, &request);
}

/* The Service picks a replica that is there, be it leader or standby. */
static int pick(struct sim *s)
{
    int up[SIM_REPLICAS], n = 0;

    for (int i = 0; i < SIM_REPLICAS; i++)
        if (sim_replica_is_ready(s, i))
            up[n++] = i;
    return n ? up[sim_random(s) % (unsigned)n] : -1;
}

static void on_route(void *ctx)
{
    struct rco_exchange *x = ctx;
    struct sim *s = x->sim;

    x->replica = pick(s);
    if (x->replica < 0) {
        answer(x, 0);
        return;
    }
    x->next = s->exchanges;
    s->exchanges = x;
    x->timer = rco_timer_new(sim_replica_loop(s, x->replica), on_arrived, x);
    rco_timer_arm(x->timer, 0);
}

void sim_front_send(struct sim *s, const struct sim_front_request *q, sim_front_done done,
                    void *ctx)
{
    struct rco_exchange *x = RCO_NEW(&s->arena, struct rco_exchange);

    x->sim = s;
    x->request = *q;
    x->done = done;
    x->ctx = ctx;
    sim_after(s, sim_latency(s), on_route, x);
}

void sim_front_break(struct sim *s, int i)
{
    struct rco_exchange *next;

    for (struct rco_exchange *x = s->exchanges; x; x = next) {
        next = x->next;
        if (x->replica != i)
            continue;
        end_exchange(x);
        answer(x, 0);
    }
}
