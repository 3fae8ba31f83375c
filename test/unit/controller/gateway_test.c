/* The gateway with the program's own manager over a transport that the test answers: hostile pods,
 * floods, and what becomes of an artifact. */
#include "gateway.h"

#include "../runtime/fake.h"
#include "api/names.h"
#include "auth.h"
#include "gateway_route.h"
#include "mailbox.h"
#include "setup.h"

#include "exchanges.h"

#define REVIEWS "/apis/authentication.k8s.io/v1/tokenreviews"
#define RUN_UID "7c2e9a41-5b0d-4000-8000-000000000001"
#define RUN_PATH "/v1/runs/team-a/web-v1-b1/plan/"
#define DIGEST "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define EXCHANGES 2200

struct fixture {
    struct rco_loop *loop;
    struct fake fake;
    struct rco_kube_client *client;
    struct rco_world world;
    struct rco_setup_storage setup;
    struct rco_manager *manager;
    struct rco_gateway *gateway;
    struct rco_server_handler handler;
    struct rco_exchange exchanges[EXCHANGES];
    size_t n;
    const char *anchor; /* what stands under the anchor's name; NULL: the recorded one */
};

static const char run_json[] =
    "{\"metadata\":{\"name\":\"web-v1-b1\",\"namespace\":\"team-a\",\"uid\":\"" RUN_UID "\","
    "\"resourceVersion\":\"5\",\"finalizers\":[\"runtimecloud.io/run\"]},"
    "\"spec\":{\"environmentId\":\"dev\",\"specificationRef\":{\"name\":\"web\",\"uid\":\"s1\"}},"
    "\"status\":{\"state\":\"Planned\",\"provisioningRunId\":\"" RUN_UID "\","
    "\"anchor\":{\"name\":\"rco-7c2e9a415b0d\",\"uid\":\"a1\"},"
    "\"engine\":{\"phase\":\"plan\",\"jobUid\":\"j1\",\"podName\":\"p1\",\"podUid\":\"u1\",\"project\":\"web\"}}}";
static const char anchor_json[] =
    "{\"metadata\":{\"name\":\"rco-7c2e9a415b0d\",\"namespace\":\"team-a\",\"uid\":\"a1\","
    "\"resourceVersion\":\"6\",\"labels\":{\"runtimecloud.io/run-uid\":\"" RUN_UID "\"}}}";

static const char pods_json[] =
    "{\"metadata\":{\"name\":\"p1\",\"namespace\":\"team-a\",\"uid\":\"u1\",\"resourceVersion\":\"7\","
    "\"ownerReferences\":[{\"kind\":\"Job\",\"name\":\"rco-7c2e9a415b0d-p\",\"uid\":\"j1\","
    "\"controller\":true}]}},"
    "{\"metadata\":{\"name\":\"p2\",\"namespace\":\"team-a\",\"uid\":\"u2\",\"resourceVersion\":\"8\","
    "\"labels\":{\"runtimecloud.io/run-uid\":\"" RUN_UID "\",\"runtimecloud.io/run\":\"web-v1-b1\"}}}";

static void wake(void *ctx, const char *ns, const char *run)
{
    (void)ctx;
    (void)ns;
    (void)run;
}

static void on_reply(void *ctx, uint64_t mailbox, int status, const char *body, size_t n)
{
    rco_mailbox_reply(((struct fixture *)ctx)->world.mailbox, mailbox, status, body, n);
}

static void on_failed(void *ctx, const char *why)
{
    (void)ctx;
    fail_msg("%s", why);
}

/* Answers every list that is open with what there is of its kind. */
static void sync_caches(struct fixture *f)
{
    struct rco_http_call *call;

    while ((call = fake_find(&f->fake, "GET", "limit="))) {
        const char *anchor = f->anchor ? f->anchor : anchor_json;
        const char *items = strstr(call->path, "/provisioningruns") ? run_json
                            : strstr(call->path, "/configmaps")     ? anchor
                            : strstr(call->path, "/pods")           ? pods_json
                                                                    : "";
        rco_autofree char *body = rco_asprintf(
            "{\"kind\":\"List\",\"metadata\":{\"resourceVersion\":\"100\"},\"items\":[%s]}", items);

        fake_answer(call, 200, body);
        rco_loop_virtual_settle(f->loop);
    }
}

static struct fixture *new_fixture(bool election, const char *anchor)
{
    struct fixture *f = rco_calloc(1, sizeof *f);
    const struct rco_elector_options elect = {.ns = "runtime-cloud",
                                              .name = "rco",
                                              .identity = "me",
                                              .timing = RCO_ELECTOR_TIMING_DEFAULT};

    f->anchor = anchor;
    rco_log_setup(RCO_LOG_ERROR + 1, RCO_LOG_TEXT);
    f->loop = rco_loop_virtual_new(1);
    fake_init(&f->fake, f->loop);
    f->client = rco_kube_client_new(f->loop, &f->fake.transport, NULL);
    f->world = (struct rco_world){.loop = f->loop,
                                  .config = {.operator_namespace = "runtime-cloud"},
                                  .mailbox = rco_mailbox_new(f->loop, wake, f)};
    rco_setup_fill(&f->setup, &f->world);
    f->manager = rco_manager_new(&f->setup.setup,
                                 &(struct rco_manager_options){.loop = f->loop,
                                                               .client = f->client,
                                                               .list_mode = RCO_LIST_PAGED,
                                                               .election = election ? &elect : NULL,
                                                               .instance = "pod-0",
                                                               .reply = on_reply,
                                                               .failed = on_failed,
                                                               .ctx = f});
    for (int kind = 0; kind < RCO_KIND_COUNT; kind++)
        f->world.stores[kind] = rco_manager_store(f->manager, (enum rco_kind)kind);
    f->gateway = rco_gateway_new(&(struct rco_gateway_options){
        .loop = f->loop, .client = f->client, .manager = f->manager, .world = &f->world});
    f->handler = rco_gateway_handler(f->gateway);
    rco_manager_start(f->manager);
    rco_loop_virtual_settle(f->loop);
    sync_caches(f);
    return f;
}

static int set_up(void **state)
{
    struct fixture *f = new_fixture(false, NULL);

    assert_true(rco_manager_is_leading(f->manager));
    *state = f;
    return 0;
}

static void release(struct fixture *f)
{
    rco_gateway_free(f->gateway);
    rco_manager_free(f->manager);
    rco_mailbox_free(f->world.mailbox);
    rco_kube_client_free(f->client);
    fake_release(&f->fake);
    rco_loop_virtual_free(f->loop);
    free(f);
}

static int tear_down(void **state)
{
    release(*state);
    return 0;
}

/* --- requests -------------------------------------------------------------------------------- */

static struct rco_exchange *send(struct fixture *f, const char *method, const char *path,
                                 const char *query, const char *token, const char *body, size_t n)
{
    struct rco_exchange *x = &f->exchanges[f->n++];
    rco_autofree char *header = rco_asprintf("Bearer head.%s.sig", token);
    const struct rco_server_request request = {.method = method,
                                               .path = path,
                                               .query = query,
                                               .authorization = token ? header : NULL,
                                               .body = body,
                                               .body_len = n};

    assert_true(f->n <= EXCHANGES);
    f->handler.request(f->handler.ctx, x, &request);
    rco_loop_virtual_settle(f->loop);
    return x;
}

static void leave(struct fixture *f, struct rco_exchange *x)
{
    f->handler.gone(f->handler.ctx, x);
}

/* Answers the oldest review: it is pod POD with uid UID of NS. */
static void review(struct fixture *f, const char *ns, const char *pod, const char *uid)
{
    rco_autofree char *body =
        rco_asprintf("{\"kind\":\"TokenReview\",\"status\":{\"authenticated\":true,\"audiences\":["
                     "\"runtime-cloud-gateway\"],"
                     "\"user\":{\"username\":\"system:serviceaccount:%s:default\",\"extra\":{"
                     "\"authentication.kubernetes.io/"
                     "pod-name\":[\"%s\"],\"authentication.kubernetes.io/pod-uid\":[\"%s\"]}}}}",
                     ns, pod, uid);

    fake_answer(fake_expect(&f->fake, "POST", REVIEWS), 201, body);
    rco_loop_virtual_settle(f->loop);
}

/* One chunk of N bytes of an artifact that has no other. */
static struct rco_exchange *put(struct fixture *f, const char *kind, const char *digest,
                                const char *token, size_t n)
{
    rco_autofree char *path = rco_asprintf(RUN_PATH "artifacts/%s", kind);
    rco_autofree char *query = rco_asprintf("index=0&digest=%s&size=%zu", digest, n);
    rco_autofree char *body = rco_calloc(1, n + 1);

    return send(f, "PUT", path, query, token, body, n);
}

/* The pod that has the engine of the run is known by the token "engine". */
static void know_engine(struct fixture *f)
{
    struct rco_exchange *x = send(f, "POST", RUN_PATH "heartbeat", "", "engine", "{}", 2);

    review(f, "team-a", "p1", "u1");
    assert_int_equal(x->status, 200);
    assert_non_null(strstr(x->body, "\"action\""));
}

/* --- who may what ---------------------------------------------------------------------------- */

static void a_pod_speaks_for_its_own_namespace_alone(void **state)
{
    struct fixture *f = *state;
    struct rco_exchange *x = send(f, "POST", RUN_PATH "start", "", "t", "{}", 2);

    review(f, "team-b", "p1", "u1");
    assert_int_equal(x->status, 403);
    assert_int_equal(rco_mailbox_waiting(f->world.mailbox), 0);
}

static void another_pod_is_not_the_engine(void **state)
{
    static const char *const routes[] = {"heartbeat", "artifacts/log"};
    struct fixture *f = *state;

    for (size_t i = 0; i < RCO_ARRAY_LEN(routes); i++) {
        rco_autofree char *path = rco_asprintf(RUN_PATH "%s", routes[i]);
        bool artifact = i == 1;
        struct rco_exchange *x = send(f, artifact ? "PUT" : "POST", path,
                                      "index=0&digest=" DIGEST "&size=1", "other", "x", 1);

        if (i == 0)
            review(f, "team-a", "p2", "u2");
        assert_int_equal(x->status, 409);
    }
    assert_null(fake_find(&f->fake, "POST", "/configmaps"));
    /* Nor is it in another phase; but the cache may be older than the start of a later one. */
    know_engine(f);
    assert_int_equal(
        send(f, "POST", "/v1/runs/team-a/web-v1-b1/apply/heartbeat", "", "engine", "{}", 2)->status,
        503);
    assert_int_equal(
        send(f, "POST", "/v1/runs/team-a/no-such/plan/heartbeat", "", "engine", "{}", 2)->status,
        404);
}

static bool is_known(struct fixture *f, const char *path, const char *token)
{
    rco_autofree char *header = rco_asprintf("Bearer head.%s.sig", token);

    return f->handler.known(f->handler.ctx, "POST", path, header);
}

/* The listener keeps a place for pods of the run's own Job, not for every token that is valid. */
static void only_pods_of_the_recorded_job_are_vouched_for(void **state)
{
    struct fixture *f = *state;
    struct rco_exchange *x;

    assert_false(is_known(f, RUN_PATH "heartbeat", "engine"));
    x = send(f, "POST", RUN_PATH "heartbeat", "", "engine", "{}", 2);
    review(f, "team-a", "p1", "u1");
    assert_true(x->vouched);
    assert_true(is_known(f, RUN_PATH "heartbeat", "engine"));
    assert_false(is_known(f, "/v1/runs/team-a/another/plan/heartbeat", "engine"));
    assert_false(is_known(f, "/v1/runs/team-b/web-v1-b1/plan/heartbeat", "engine"));
    assert_false(is_known(f, "/healthz", "engine"));
    assert_false(f->handler.known(f->handler.ctx, "POST", RUN_PATH "heartbeat", NULL));
    /* Our labels on a pod that the Job did not make; a pod of that name that is another. */
    x = send(f, "POST", RUN_PATH "start", "", "labelled", "{}", 2);
    review(f, "team-a", "p2", "u2");
    assert_false(x->vouched);
    assert_false(is_known(f, RUN_PATH "start", "labelled"));
    x = send(f, "POST", RUN_PATH "start", "", "namesake", "{}", 2);
    review(f, "team-a", "p1", "u9");
    assert_false(x->vouched);
}

static void a_refused_token_gets_nothing(void **state)
{
    struct fixture *f = *state;
    struct rco_exchange *x = send(f, "POST", RUN_PATH "receipt", "", "bad", "{}", 2);

    fake_answer(fake_expect(&f->fake, "POST", REVIEWS), 201,
                "{\"status\":{\"authenticated\":false}}");
    rco_loop_virtual_settle(f->loop);
    assert_int_equal(x->status, 401);
    x = send(f, "POST", RUN_PATH "receipt", "", NULL, "{}", 2);
    assert_int_equal(x->status, 401);
    assert_int_equal(rco_mailbox_waiting(f->world.mailbox), 0);
}

/* --- artifacts ------------------------------------------------------------------------------- */

static void a_chunk_belongs_to_its_run_and_goes_with_its_anchor(void **state)
{
    struct fixture *f = *state;
    struct rco_http_call *call;
    struct rco_exchange *x;

    know_engine(f);
    x = put(f, "plan", DIGEST, "engine", 5);
    call = fake_expect(&f->fake, "POST", "/namespaces/team-a/secrets");
    assert_int_equal(x->answers, 0);
    assert_non_null(strstr(call->body, "\"name\":\"rco-7c2e9a415b0d-pp0-0123456789\""));
    assert_non_null(strstr(call->body,
                           "\"ownerReferences\":[{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\","
                           "\"name\":\"rco-7c2e9a415b0d\",\"uid\":\"a1\"}]"));
    assert_non_null(strstr(call->body, "\"immutable\":true"));
    assert_non_null(strstr(call->body, "\"data\":{\"data\":\"AAAAAAA=\"}"));
    fake_answer(call, 201,
                "{\"metadata\":{\"name\":\"x\",\"uid\":\"y\",\"resourceVersion\":\"9\"}}");
    rco_loop_virtual_settle(f->loop);
    assert_int_equal(x->status, 201);
    /* Again: it stands there already. */
    x = put(f, "plan", DIGEST, "engine", 5);
    fake_status(fake_expect(&f->fake, "POST", "/namespaces/team-a/secrets"), 409, "AlreadyExists");
    rco_loop_virtual_settle(f->loop);
    assert_int_equal(x->status, 201);
    /* Logs can be read without the right to read Secrets. */
    put(f, "log", DIGEST, "engine", 5);
    call = fake_expect(&f->fake, "POST", "/namespaces/team-a/configmaps");
    assert_non_null(strstr(call->body, "\"binaryData\":{\"data\":\"AAAAAAA=\"}"));
}

/* What it owns would go as soon as its owner pleases. */
static void a_planted_anchor_owns_no_chunk(void **state)
{
    struct fixture *f = *state;

    know_engine(f);
    assert_int_equal(put(f, "plan", DIGEST, "engine", 5)->status, 503);
    assert_null(fake_find(&f->fake, "POST", "/namespaces/team-a/secrets"));
}

static int set_up_planted_anchor(void **state)
{
    *state = new_fixture(
        false, "{\"metadata\":{\"name\":\"rco-7c2e9a415b0d\",\"namespace\":\"team-a\",\"uid\":"
               "\"planted\",\"resourceVersion\":\"6\",\"labels\":{\"runtimecloud.io/run-uid\":"
               "\"" RUN_UID "\"}}}");
    return 0;
}

static void a_pod_stores_one_artifact_of_each_kind(void **state)
{
    static const char other[] = "1123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
    struct fixture *f = *state;
    unsigned started;

    know_engine(f);
    put(f, "log", DIGEST, "engine", 5);
    started = f->fake.started;
    assert_int_equal(put(f, "log", other, "engine", 5)->status, 409);
    assert_int_equal(send(f, "PUT", RUN_PATH "artifacts/state", "index=0&digest=" DIGEST "&size=1",
                          "engine", "x", 1)
                         ->status,
                     404);
    assert_int_equal(f->fake.started, started);
}

static void an_artifact_that_the_server_does_not_take_is_answered(void **state)
{
    struct fixture *f = *state;
    struct rco_exchange *x;

    know_engine(f);
    x = put(f, "log", DIGEST, "engine", 5);
    fake_status(fake_expect(&f->fake, "POST", "/configmaps"), 403, "Forbidden");
    rco_loop_virtual_settle(f->loop);
    assert_int_equal(x->status, 422);
    assert_non_null(strstr(x->body, "Forbidden"));
}

/* --- floods ---------------------------------------------------------------------------------- */

static void a_flood_of_starts_gets_one_answer_each(void **state)
{
    struct fixture *f = *state;
    unsigned reviewed = 0;

    for (unsigned i = 0; i < 2000; i++) {
        rco_autofree char *token = rco_asprintf("t%u", i);
        rco_autofree char *path = rco_asprintf("/v1/runs/team-a/r%u/plan/start", i);

        send(f, "POST", path, "", token, "{\"project\":\"web\"}", 17);
    }
    assert_in_range(fake_count(&f->fake, "POST", REVIEWS), 1, RCO_AUTH_REVIEWS_MAX);
    assert_int_equal(answered_with(f->exchanges, f->n, 503),
                     2000 - RCO_AUTH_REVIEWS_MAX - RCO_AUTH_WAITING_MAX);
    for (; fake_find(&f->fake, "POST", REVIEWS); reviewed++)
        review(f, "team-a", "p", "u");
    assert_int_equal(reviewed, RCO_AUTH_REVIEWS_MAX + RCO_AUTH_WAITING_MAX);
    assert_int_equal(rco_mailbox_waiting(f->world.mailbox), reviewed);
    rco_mailbox_drain(f->world.mailbox);
    assert_int_equal(answered_with(f->exchanges, f->n, 503), 2000);
}

static void bodies_of_unknown_tokens_have_a_limit(void **state)
{
    struct fixture *f = *state;
    size_t n = RCO_GATEWAY_RECEIPT_MAX, kept;
    rco_autofree char *body = rco_calloc(1, n + 1);

    for (unsigned i = 0; i < 100; i++) {
        rco_autofree char *token = rco_asprintf("t%u", i);

        send(f, "POST", RUN_PATH "receipt", "", token, body, n);
    }
    kept = f->n - (size_t)answered_with(f->exchanges, f->n, 503);
    assert_int_equal(kept, 12 * 1024 * 1024 / n);
    /* The one who waits and goes makes room. */
    leave(f, &f->exchanges[0]);
    f->exchanges[0].answers = 1;
    fake_answer(fake_expect(&f->fake, "POST", REVIEWS), 201,
                "{\"status\":{\"authenticated\":false}}");
    rco_loop_virtual_settle(f->loop);
    assert_int_equal(send(f, "POST", RUN_PATH "receipt", "", "late", body, n)->answers, 0);
    assert_int_equal(send(f, "POST", RUN_PATH "receipt", "", "later", body, n)->status, 503);
}

static void a_quarter_is_kept_for_tokens_that_were_reviewed(void **state)
{
    struct fixture *f = *state;
    size_t n = RCO_GATEWAY_RECEIPT_MAX;
    rco_autofree char *body = rco_calloc(1, n + 1);

    know_engine(f);
    for (unsigned i = 0; i < 30; i++) {
        rco_autofree char *token = rco_asprintf("t%u", i);

        send(f, "POST", RUN_PATH "receipt", "", token, body, n);
    }
    assert_int_equal(f->exchanges[f->n - 1].status, 503);
    assert_int_not_equal(send(f, "POST", RUN_PATH "receipt", "", "engine", body, n)->status, 503);
}

static void chunks_on_their_way_have_a_limit(void **state)
{
    struct fixture *f = *state;
    struct rco_exchange *x;
    size_t n = 0;

    know_engine(f);
    do {
        x = put(f, "plan", DIGEST, "engine", RCO_CHUNK_SIZE);
        n++;
    } while (!x->answers && n < 100);
    assert_int_equal(x->status, 503);
    assert_int_equal(n - 1, 4 * 1024 * 1024 / RCO_CHUNK_SIZE);
    fake_status(fake_expect(&f->fake, "POST", "/secrets"), 409, "AlreadyExists");
    rco_loop_virtual_settle(f->loop);
    assert_int_equal(put(f, "plan", DIGEST, "engine", RCO_CHUNK_SIZE)->answers, 0);
}

static void peers_that_leave_at_any_moment_leave_nothing_behind(void **state)
{
    struct fixture *f = *state;
    struct rco_exchange *x;

    know_engine(f);
    x = send(f, "POST", RUN_PATH "start", "", "new", "{\"project\":\"web\"}", 17);
    leave(f, x); /* while the token is reviewed */
    review(f, "team-a", "p2", "u2");
    assert_int_equal(x->answers, 0);
    assert_int_equal(rco_mailbox_waiting(f->world.mailbox), 0);
    x = send(f, "POST", RUN_PATH "start", "", "new", "{\"project\":\"web\"}", 17);
    assert_int_equal(rco_mailbox_waiting(f->world.mailbox), 1);
    leave(f, x); /* while it waits for the decision */
    assert_int_equal(rco_mailbox_waiting(f->world.mailbox), 0);
    x = put(f, "log", DIGEST, "engine", 5);
    leave(f, x); /* while its chunk is stored */
    fake_answer(fake_expect(&f->fake, "POST", "/configmaps"), 201,
                "{\"metadata\":{\"name\":\"x\",\"uid\":\"y\",\"resourceVersion\":\"9\"}}");
    rco_loop_virtual_settle(f->loop);
    assert_int_equal(x->answers, 0);
    put(f, "log", DIGEST, "engine", 5); /* tear_down: in the middle of it */
    send(f, "POST", RUN_PATH "start", "", "third", "{}", 2);
}

static void a_replica_that_stands_by_says_so_and_hangs_up(void **state)
{
    struct fixture *f = new_fixture(true, NULL);
    struct rco_exchange *x = send(f, "POST", RUN_PATH "start", "", "t", "{}", 2);

    (void)state;
    assert_int_equal(x->status, 503);
    assert_true(x->close_after);
    assert_non_null(strstr(x->body, "\"standby\":true"));
    assert_null(fake_find(&f->fake, "POST", REVIEWS));
    release(f);
}

static void routes_have_caps_and_all_else_has_none(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(f->handler.max_body(f->handler.ctx, "POST", RUN_PATH "start"),
                     RCO_GATEWAY_START_MAX);
    assert_int_equal(f->handler.max_body(f->handler.ctx, "GET", RUN_PATH "start"), -1);
    assert_int_equal(f->handler.max_body(f->handler.ctx, "POST", "/v1/runs/../../x/plan/start"),
                     -1);
    assert_int_equal(send(f, "GET", "/", "", "t", "", 0)->status, 404);
}

#define T(F) cmocka_unit_test_setup_teardown(F, set_up, tear_down)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        T(a_pod_speaks_for_its_own_namespace_alone),
        T(another_pod_is_not_the_engine),
        T(only_pods_of_the_recorded_job_are_vouched_for),
        T(a_refused_token_gets_nothing),
        T(a_chunk_belongs_to_its_run_and_goes_with_its_anchor),
        cmocka_unit_test_setup_teardown(a_planted_anchor_owns_no_chunk, set_up_planted_anchor,
                                        tear_down),
        T(a_pod_stores_one_artifact_of_each_kind),
        T(an_artifact_that_the_server_does_not_take_is_answered),
        T(a_flood_of_starts_gets_one_answer_each),
        T(bodies_of_unknown_tokens_have_a_limit),
        T(a_quarter_is_kept_for_tokens_that_were_reviewed),
        T(chunks_on_their_way_have_a_limit),
        T(peers_that_leave_at_any_moment_leave_nothing_behind),
        cmocka_unit_test(a_replica_that_stands_by_says_so_and_hangs_up),
        T(routes_have_caps_and_all_else_has_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
