/* The runner in a pod, as the gateway sees it: start until it is answered, heartbeats, artifacts,
 * the receipt until it is acknowledged; with the waits of runner/gateway.c. */
#include "kubelet.h"

#include "base/sha256.h"

#include <string.h>

#define HEARTBEAT (10 * SIM_S)
#define START_WAIT (300 * SIM_S)
#define FIRST_WAIT (1 * SIM_S)
#define LAST_WAIT (15 * SIM_S)

/* One request; void when the pod has gone on meanwhile. */
struct ask {
    struct sim_pod *pod;
    int round;
    rco_loop_fn again;
};

static const char *phase_word(const struct sim_pod *p)
{
    return p->job->phase == RCO_ENGINE_PHASE_APPLY ? "apply" : "plan";
}

static struct ask *new_ask(struct sim_pod *p, rco_loop_fn again)
{
    struct ask *a = RCO_NEW(&p->sim->arena, struct ask);

    *a = (struct ask){.pod = p, .round = p->round, .again = again};
    return a;
}

static bool is_void(const struct ask *a)
{
    return a->pod->gone || a->pod->round != a->round || a->pod->stage == SIM_POD_ENDED;
}

static void on_unreachable(void *ctx)
{
    struct ask *a = ctx;

    if (!is_void(a))
        a->again(a->pod);
}

static void send(struct sim_pod *p, const char *method, const char *what, const char *query,
                 const char *body, size_t n, sim_front_done done, struct ask *a)
{
    struct sim *s = p->sim;
    struct sim_front_request q = {
        .method = method,
        .path = rco_arena_printf(&s->arena, "/v1/runs/%s/%s/%s/%s", p->ns, p->job->run,
                                 phase_word(p), what),
        .query = query,
        .token = p->token,
        .body = rco_arena_strndup(&s->arena, body, n),
        .body_len = n,
    };

    if (p->cut_off) {
        sim_after(s, 10 * SIM_S, on_unreachable, a);
        return;
    }
    sim_front_send(s, &q, done, a);
}

/* After a refusal that a later try may not meet. */
static void repeat(struct sim_pod *p, rco_loop_fn again, int retry_after_s)
{
    int64_t wait = FIRST_WAIT;

    for (unsigned i = 0; i < p->attempt && wait < LAST_WAIT; i++)
        wait *= 2;
    if (wait > LAST_WAIT)
        wait = LAST_WAIT;
    if (retry_after_s > 0)
        wait = retry_after_s * SIM_S;
    p->attempt++;
    sim_after(p->sim, wait + sim_between(p->sim, 0, wait / 4), on_unreachable, new_ask(p, again));
}

/* --- end --- */

static void on_report_stops(void *ctx)
{
    struct ask *a = ctx;

    if (!is_void(a))
        sim_pod_end(a->pod, a->pod->containers[SIM_ENGINE].exit_code, NULL);
}

/* The engine container ends, and the sidecar a moment later. */
static void engine_exits(struct sim_pod *p, int exit_code, const char *message)
{
    p->stage = SIM_POD_DELIVERED;
    p->round++;
    if (sim_pod_struck(p))
        return;
    p->containers[SIM_ENGINE].is = SIM_TERMINATED;
    p->containers[SIM_ENGINE].exit_code = exit_code;
    p->containers[SIM_ENGINE].message = message;
    sim_pod_report(p);
    sim_after(p->sim, sim_between(p->sim, 500 * SIM_MS, SIM_S), on_report_stops, new_ask(p, NULL));
}

static void on_delivered(void *ctx)
{
    struct ask *a = ctx;

    if (!is_void(a))
        engine_exits(a->pod, 0, NULL);
}

/* --- receipt --- */

static void send_receipt(void *ctx);

static void on_receipt(void *ctx, int status, const char *body, size_t n, int retry_after_s)
{
    struct ask *a = ctx;
    struct sim_pod *p = a->pod;

    (void)body;
    (void)n;
    if (is_void(a))
        return;
    if (status == 404 && !p->asked_receipt)
        p->asked_receipt = p->sim->now;
    if (status == 200 || status == 201 || status == 409 || status == 410 || status == 400 ||
        status == 422 || (status == 404 && p->sim->now - p->asked_receipt > START_WAIT))
        sim_after(p->sim, sim_between(p->sim, 100 * SIM_MS, 400 * SIM_MS), on_delivered,
                  new_ask(p, NULL));
    else
        repeat(p, send_receipt, retry_after_s);
}

static void send_receipt(void *ctx)
{
    struct sim_pod *p = ctx;

    send(p, "POST", "receipt", NULL, p->receipt_text, strlen(p->receipt_text), on_receipt,
         new_ask(p, send_receipt));
}

static void upload(void *ctx);

static void on_uploaded(void *ctx, int status, const char *body, size_t n, int retry_after_s)
{
    struct ask *a = ctx;
    struct sim_pod *p = a->pod;

    (void)body;
    (void)n;
    if (is_void(a))
        return;
    if (status == 200 || status == 201 || status == 413 || status == 409 || status == 422) {
        p->uploaded++;
        p->attempt = 0;
        upload(p);
    } else {
        repeat(p, upload, retry_after_s);
    }
}

/* Artifacts one after the other, then the receipt. */
static void upload(void *ctx)
{
    struct sim_pod *p = ctx;
    const char *text;
    char digest[RCO_SHA256_HEX];

    if (p->uploaded == p->n_artifacts) {
        send_receipt(p);
        return;
    }
    text = p->artifacts[p->uploaded];
    rco_sha256_hex(text, strlen(text), digest);
    send(p, "PUT",
         rco_arena_printf(&p->sim->arena, "artifacts/%s",
                          rco_artifact_kind_name(p->kinds[p->uploaded])),
         rco_arena_printf(&p->sim->arena, "index=0&digest=%s&size=%zu", digest, strlen(text)), text,
         strlen(text), on_uploaded, new_ask(p, upload));
}

/* The sidecar leaves the receipt in its termination message before it sends anything. */
static void leave_summary(struct sim_pod *p)
{
    struct rco_runner_summary summary = {.container = RCO_RUNNER_SUMMARY_CONTAINER_REPORT,
                                         .phase = p->job->phase,
                                         .ok = !p->receipt.has_failure,
                                         .has_ok = true,
                                         .started = true,
                                         .has_started = true,
                                         .receipt = p->receipt,
                                         .has_receipt = true};
    rco_autobuf text = RCO_BUF_INIT;

    if (sim_program_of(p->job->program.commit) == SIM_PROGRAM_HOSTILE)
        return;
    rco_codec_encode(&rco_runner_summary_schema, &summary, &text);
    p->containers[SIM_REPORT].message = rco_arena_strndup(&p->sim->arena, text.data, text.len);
}

static void on_engine_over(void *ctx)
{
    struct ask *a = ctx;
    struct sim_pod *p = a->pod;
    rco_autobuf text = RCO_BUF_INIT;

    if (is_void(a))
        return;
    p->round++;
    sim_engine_finish(p);
    p->stage = SIM_POD_REPORTING;
    if (sim_pod_struck(p))
        return;
    rco_codec_encode(&rco_runner_receipt_schema, &p->receipt, &text);
    p->receipt_text = sim_program_of(p->job->program.commit) == SIM_PROGRAM_HOSTILE
                          ? "{\"result\": \"Succeeded\", \"adds\": [1e999"
                          : rco_arena_strndup(&p->sim->arena, text.data, text.len);
    p->attempt = 0;
    leave_summary(p);
    upload(p);
}

/* --- heartbeats --- */

static void beat(void *ctx);

static void cancel(struct sim_pod *p)
{
    if (p->cancelled || p->stage != SIM_POD_ENGINE)
        return;
    p->cancelled = true;
    p->round++;
    sim_after(p->sim, sim_between(p->sim, 200 * SIM_MS, 2 * SIM_S), on_engine_over,
              new_ask(p, NULL));
}

static void on_beat(void *ctx, int status, const char *body, size_t n, int retry_after_s)
{
    struct ask *a = ctx;
    struct sim_pod *p = a->pod;

    (void)n;
    (void)retry_after_s;
    if (is_void(a) || p->stage != SIM_POD_ENGINE)
        return;
    if (status == 200 && strstr(body, "\"Cancel\""))
        cancel(p);
    else
        sim_after(p->sim, HEARTBEAT, on_unreachable, new_ask(p, beat));
}

static void beat(void *ctx)
{
    struct sim_pod *p = ctx;
    const char *body = rco_arena_printf(&p->sim->arena, "{\"runUid\":\"%s\",\"stage\":\"preview\"}",
                                        p->job->run_uid);

    send(p, "POST", "heartbeat", NULL, body, strlen(body), on_beat, new_ask(p, beat));
}

/* --- start --- */

static int64_t engine_time(struct sim_pod *p)
{
    if (sim_program_of(p->job->program.commit) == SIM_PROGRAM_SLOW)
        return sim_between(p->sim, 60 * SIM_S, 180 * SIM_S);
    return sim_between(p->sim, 1 * SIM_S, 25 * SIM_S);
}

static void start_engine(struct sim_pod *p)
{
    int64_t time = engine_time(p);

    p->stage = SIM_POD_ENGINE;
    p->round++;
    p->attempt = 0;
    sim_engine_begin(p);
    if (sim_pod_struck(p))
        return;
    sim_after(p->sim, time, on_engine_over, new_ask(p, NULL));
    if (time > HEARTBEAT)
        sim_after(p->sim, HEARTBEAT, on_unreachable, new_ask(p, beat));
}

static void ask_start(void *ctx);

static void on_start(void *ctx, int status, const char *body, size_t n, int retry_after_s)
{
    struct ask *a = ctx;
    struct sim_pod *p = a->pod;
    bool late;

    (void)body;
    (void)n;
    if (is_void(a))
        return;
    late = p->sim->now - p->asked_since > START_WAIT;
    if (status == 200)
        start_engine(p);
    else if (status == 409 || status == 410 || ((status == 403 || status == 404) && late))
        engine_exits(p, 1, "{\"container\":\"engine\",\"ok\":false,\"started\":false}");
    else
        repeat(p, ask_start, retry_after_s);
}

static void ask_start(void *ctx)
{
    struct sim_pod *p = ctx;
    struct rco_runner_start start = {.protocol = 1,
                                     .has_protocol = true,
                                     .run_uid = p->job->run_uid,
                                     .project = "project",
                                     .commit = p->job->program.commit,
                                     .runner_version = "0.1.0"};
    char digest[RCO_SHA256_HEX];
    rco_autobuf text = RCO_BUF_INIT;

    start.commit = rco_str_or_empty(start.commit); /* of a forged run */
    rco_sha256_hex(start.commit, strlen(start.commit), digest);
    start.workspace_digest = digest;
    rco_codec_encode(&rco_runner_start_schema, &start, &text);
    send(p, "POST", "start", NULL, text.data, text.len, on_start, new_ask(p, ask_start));
}

void sim_runner_start(struct sim_pod *p)
{
    p->asked_since = p->sim->now;
    ask_start(p);
}

void sim_runner_term(struct sim_pod *p)
{
    if (p->stage == SIM_POD_ASKING)
        engine_exits(p, 1, "{\"container\":\"engine\",\"ok\":false,\"started\":false}");
    else if (p->stage == SIM_POD_ENGINE)
        cancel(p);
}
