/* What the tests of executor_test.c and executor_live_test.c share. */
#ifndef RCO_TEST_EXECUTOR_WORLD_H
#define RCO_TEST_EXECUTOR_WORLD_H

#include "runtime/executor.h"

#include "fake.h"

struct world {
    struct rco_loop *loop;
    struct fake fake;
    struct rco_kube_client *client;
    struct rco_executor *executor;
    struct rco_arena arena;
    struct rco_plan plan;
    bool forbidden; /* may_write says no */
    unsigned writes_allowed;
    /* the report */
    unsigned done, replies, wrote;
    enum rco_execution_result result;
    struct rco_error err;
    struct rco_outcomes outcomes;
    struct rco_gate *gate;
    unsigned writes;
    bool ambiguous;
    char failed[128], last_code[32];
};

static bool may_write(void *ctx)
{
    struct world *w = ctx;

    if (w->forbidden)
        return false;
    if (w->writes_allowed > 0 && --w->writes_allowed == 0)
        w->forbidden = true;
    return true;
}

static void on_reply(void *ctx, uint64_t mailbox, int status, const char *body, size_t n)
{
    struct world *w = ctx;

    (void)body;
    (void)n;
    assert_int_equal(mailbox, 5);
    assert_int_equal(status, 200);
    w->replies++;
}

static void on_wrote(void *ctx, enum rco_action_type type, enum rco_kind kind, const char *code)
{
    struct world *w = ctx;

    (void)type;
    (void)kind;
    w->wrote++;
    snprintf(w->last_code, sizeof(w->last_code), "%s", code);
}

static void on_done(void *ctx, const struct rco_execution_report *r)
{
    struct world *w = ctx;

    w->done++;
    w->result = r->result;
    if (r->err)
        w->err = *r->err;
    snprintf(w->failed, sizeof(w->failed), "%s",
             r->failed ? rco_str_or_empty(r->failed->name) : "");
    w->outcomes = *r->outcomes;
    *r->outcomes = (struct rco_outcomes){0};
    w->gate = *r->gate;
    *r->gate = NULL;
    w->writes = r->writes;
    w->ambiguous = r->ambiguous;
}

RCO_UNUSED static void world_init(struct world *w)
{
    memset(w, 0, sizeof(*w));
    w->loop = rco_loop_virtual_new(9);
    fake_init(&w->fake, w->loop);
    w->client = rco_kube_client_new(w->loop, &w->fake.transport, NULL);
    const struct rco_executor_options options = {.loop = w->loop,
                                                 .client = w->client,
                                                 .may_write = may_write,
                                                 .reply = on_reply,
                                                 .wrote = on_wrote,
                                                 .ctx = w};
    w->executor = rco_executor_new(&options);
    rco_plan_init(&w->plan, &w->arena);
}

RCO_UNUSED static void world_release(struct world *w)
{
    rco_executor_free(w->executor);
    rco_kube_client_free(w->client);
    fake_release(&w->fake);
    rco_loop_virtual_free(w->loop);
    rco_outcomes_release(&w->outcomes);
    rco_gate_free(w->gate);
    rco_arena_release(&w->arena);
}

RCO_UNUSED static const struct rco_meta target = {
    .ns = "a", .name = "run", .uid = "uid-1", .resource_version = "70"};

RCO_UNUSED static void plan_create(struct world *w, enum rco_kind kind, const char *name,
                                   enum rco_exists_policy exists)
{
    rco_autobuf body = RCO_BUF_INIT;

    rco_buf_addf(
        &body, "{\"metadata\":{\"name\":\"%s\",\"namespace\":\"a\"},\"data\":{\"k\":\"v\"}}", name);
    rco_plan_create(&w->plan, kind, "a", name, &body, exists);
}

RCO_UNUSED static void plan_patch(struct world *w)
{
    rco_autobuf patch = RCO_BUF_INIT;

    rco_buf_adds(&patch, "{\"spec\":{\"x\":1}}");
    rco_plan_patch(&w->plan, RCO_KIND_RUN, &target, &patch);
}

RCO_UNUSED static void plan_reply(struct world *w)
{
    rco_autobuf body = RCO_BUF_INIT;

    rco_buf_adds(&body, "{}");
    rco_plan_reply(&w->plan, 5, 200, &body);
}

RCO_UNUSED static void run(struct world *w)
{
    rco_executor_run(w->executor, &w->plan, on_done, w);
    assert_int_equal(w->done, 0); /* never from inside */
    rco_loop_virtual_settle(w->loop);
}

RCO_UNUSED static void ok(struct world *w, const char *method, const char *path, const char *name,
                          const char *rv)
{
    rco_autofree char *body = cm_json("a", name, rv, "v");

    fake_answer(fake_expect(&w->fake, method, path), 200, body);
    rco_loop_virtual_settle(w->loop);
}

RCO_UNUSED static void refuse(struct world *w, const char *method, const char *path, int status,
                              const char *reason)
{
    fake_status(fake_expect(&w->fake, method, path), status, reason);
    rco_loop_virtual_settle(w->loop);
}

#endif
