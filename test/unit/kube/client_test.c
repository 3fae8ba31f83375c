#include "kube/client.h"

#include "../runtime/fake.h"
#include "api/zz_generated_types.h"

struct world {
    struct rco_loop *loop;
    struct fake fake;
    struct rco_kube_client *client;
    unsigned unauthorized, accepted, observed, warnings;
    int last_status;
    /* the last result */
    unsigned done;
    int code, http_status;
    struct rco_error err;
    char uid[64], rv[64], body[256];
    bool deleting;
};

static void on_unauthorized(void *ctx)
{
    ((struct world *)ctx)->unauthorized++;
}

static void on_accepted(void *ctx)
{
    ((struct world *)ctx)->accepted++;
}

static void on_observed(void *ctx, const char *method, int status, int64_t latency_ns)
{
    struct world *w = ctx;

    assert_non_null(method);
    assert_true(latency_ns >= 0);
    w->observed++;
    w->last_status = status;
}

static void on_warning(void *ctx, const char *text)
{
    assert_string_equal(text, "299 - \"old\"");
    ((struct world *)ctx)->warnings++;
}

static void on_done(void *ctx, const struct rco_kube_result *r, const struct rco_error *err)
{
    struct world *w = ctx;

    w->done++;
    w->code = err ? err->code : RCO_OK;
    if (err)
        w->err = *err;
    w->http_status = r->http_status;
    w->deleting = r->deleting;
    snprintf(w->uid, sizeof(w->uid), "%s", r->uid);
    snprintf(w->rv, sizeof(w->rv), "%s", r->resource_version);
    snprintf(w->body, sizeof(w->body), "%s", r->body);
}

static void world_init(struct world *w)
{
    memset(w, 0, sizeof(*w));
    w->loop = rco_loop_virtual_new(2);
    fake_init(&w->fake, w->loop);
    const struct rco_kube_client_options options = {.unauthorized = on_unauthorized,
                                                    .accepted = on_accepted,
                                                    .observed = on_observed,
                                                    .warning = on_warning,
                                                    .ctx = w};
    w->client = rco_kube_client_new(w->loop, &w->fake.transport, &options);
}

static void world_release(struct world *w)
{
    rco_kube_client_free(w->client);
    assert_null(w->fake.open); /* nothing is left behind */
    rco_loop_virtual_free(w->loop);
}

static struct rco_kube_call *get(struct world *w)
{
    const struct rco_kube_request q = {
        .verb = RCO_KUBE_GET, .kind = RCO_KIND_CONFIGMAP, .ns = "a", .name = "x"};

    return rco_kube_start(w->client, &q, on_done, w);
}

static struct rco_kube_call *patch(struct world *w)
{
    const struct rco_kube_request q = {.verb = RCO_KUBE_PATCH,
                                       .kind = RCO_KIND_RUN,
                                       .ns = "a",
                                       .name = "x",
                                       .subresource = "status",
                                       .body = "{}",
                                       .body_len = 2};

    return rco_kube_start(w->client, &q, on_done, w);
}

static void answer_retry_after(struct world *w, int status, int64_t ms)
{
    const struct rco_http_response r = {.status = status, .retry_after_ms = ms};

    fake_answer_with(w->fake.open, &r, "");
    rco_loop_virtual_settle(w->loop);
}

static void test_get_reports_the_object(void **state)
{
    struct world w;
    rco_autofree char *body = cm_json("a", "x", "12", "v");

    (void)state;
    world_init(&w);
    get(&w);
    assert_int_equal(w.done, 0);
    assert_string_equal(w.fake.open->path, "/api/v1/namespaces/a/configmaps/x");
    fake_answer(w.fake.open, 200, body);
    assert_int_equal(w.done, 1);
    assert_int_equal(w.code, RCO_OK);
    assert_string_equal(w.rv, "12");
    assert_int_equal(strlen(w.uid), 36);
    assert_int_equal(w.accepted, 1);
    world_release(&w);
}

static void test_result_is_decoded_into_its_kind(void **state)
{
    rco_autoarena a = RCO_ARENA_INIT;
    rco_autofree char *body = cm_json("a", "x", "12", "v");
    const struct rco_kube_result r = {.body = body, .body_len = strlen(body)};
    struct rco_error err = RCO_ERROR_INIT;
    void *obj;

    (void)state;
    assert_int_equal(rco_kube_result_decode(&r, RCO_KIND_CONFIGMAP, &a, &obj, &err), 0);
    const struct rco_configmap *c = obj;
    assert_string_equal(rco_kv_get(c->data, c->n_data, "k"), "v");
}

static void test_requests_are_built_as_the_api_server_wants_them(void **state)
{
    struct world w;
    const struct rco_kube_request create = {.verb = RCO_KUBE_CREATE,
                                            .kind = RCO_KIND_JOB,
                                            .ns = "a",
                                            .name = "j",
                                            .body = "{\"x\":1}",
                                            .body_len = 7};
    const struct rco_kube_request del = {.verb = RCO_KUBE_DELETE,
                                         .kind = RCO_KIND_RUN,
                                         .ns = "a",
                                         .name = "r",
                                         .uid = "u\"1",
                                         .resource_version = "9"};
    const struct rco_kube_request raw = {.verb = RCO_KUBE_RAW_POST,
                                         .body = "{}",
                                         .body_len = 2,
                                         .path = "/apis/authentication.k8s.io/v1/tokenreviews"};

    (void)state;
    world_init(&w);
    rco_kube_start(w.client, &create, on_done, &w);
    assert_string_equal(w.fake.open->method, "POST");
    assert_string_equal(w.fake.open->path,
                        "/apis/batch/v1/namespaces/a/jobs?fieldManager=runtime-cloud&"
                        "fieldValidation=Warn");
    assert_string_equal(w.fake.open->content_type, "application/json");
    assert_string_equal(w.fake.open->body, "{\"x\":1}");
    fake_answer(w.fake.open, 201, "{}");
    patch(&w);
    assert_string_equal(w.fake.open->method, "PATCH");
    assert_non_null(
        strstr(w.fake.open->path, "/namespaces/a/provisioningruns/x/status?fieldManager="));
    assert_string_equal(w.fake.open->content_type, "application/merge-patch+json");
    fake_answer(w.fake.open, 200, "{}");
    rco_kube_start(w.client, &del, on_done, &w);
    assert_string_equal(
        w.fake.open->body,
        "{\"apiVersion\":\"v1\",\"kind\":\"DeleteOptions\",\"propagationPolicy\":\"Background\","
        "\"preconditions\":{\"uid\":\"u\\\"1\",\"resourceVersion\":\"9\"}}");
    fake_answer(w.fake.open, 200, "{}");
    rco_kube_start(w.client, &raw, on_done, &w);
    assert_string_equal(w.fake.open->path, "/apis/authentication.k8s.io/v1/tokenreviews");
    fake_answer(w.fake.open, 201, "{}");
    assert_int_equal(w.done, 4);
    world_release(&w);
}

static void test_bad_request_is_reported_through_done(void **state)
{
    struct world w;
    const struct rco_kube_request q = {
        .verb = RCO_KUBE_GET, .kind = RCO_KIND_JOB, .ns = "", .name = "x"};
    const struct rco_kube_request dots = {
        .verb = RCO_KUBE_GET, .kind = RCO_KIND_JOB, .ns = "..", .name = "x"};

    (void)state;
    world_init(&w);
    rco_kube_start(w.client, &q, on_done, &w);
    assert_int_equal(w.done, 0);
    rco_loop_virtual_settle(w.loop);
    assert_int_equal(w.done, 1);
    assert_int_equal(w.code, RCO_EINVALID);
    rco_kube_start(w.client, &dots, on_done, &w);
    rco_loop_virtual_settle(w.loop);
    assert_int_equal(w.code, RCO_EINVALID);
    rco_kube_cancel(rco_kube_start(w.client, &dots, on_done, &w));
    rco_loop_virtual_settle(w.loop);
    assert_int_equal(w.done, 2);
    assert_int_equal(w.fake.started, 0);
    world_release(&w);
}

static void test_A39_retry_after_is_waited_for(void **state)
{
    struct world w;

    (void)state;
    world_init(&w);
    patch(&w);
    answer_retry_after(&w, 429, 3000);
    rco_loop_virtual_run_for(w.loop, 2900 * MS);
    assert_null(w.fake.open);
    rco_loop_virtual_run_for(w.loop, 200 * MS);
    assert_non_null(w.fake.open);
    fake_answer(w.fake.open, 200, "{}");
    assert_int_equal(w.done, 1);
    assert_int_equal(w.code, RCO_OK);
    assert_int_equal(w.observed, 2);
    world_release(&w);
}

static void test_A38_A39_no_more_than_ten_attempts(void **state)
{
    struct world w;

    (void)state;
    world_init(&w);
    patch(&w);
    for (int i = 0; i < 30 && !w.done; i++) {
        if (w.fake.open)
            answer_retry_after(&w, 503, 1000);
        rco_loop_virtual_run_for(w.loop, 1100 * MS);
    }
    assert_int_equal(w.done, 1);
    assert_int_equal(w.observed, 10);
    assert_int_equal(w.code, RCO_EUNAVAILABLE);
    world_release(&w);
}

static void test_A39_without_the_header_nothing_is_retried(void **state)
{
    struct world w;

    (void)state;
    world_init(&w);
    get(&w);
    fake_status(w.fake.open, 503, "ServiceUnavailable");
    assert_int_equal(w.done, 1);
    assert_int_equal(w.code, RCO_EUNAVAILABLE);
    assert_int_equal(w.http_status, 503);
    world_release(&w);
}

static void test_A39_retry_after_beyond_the_deadline_is_given_back(void **state)
{
    struct world w;

    (void)state;
    world_init(&w);
    get(&w);
    answer_retry_after(&w, 429, 60000);
    assert_int_equal(w.done, 1);
    assert_int_equal(w.code, RCO_ETHROTTLED);
    assert_int_equal(w.err.retry_after_ms, 60000);
    world_release(&w);
}

static void test_A40_reads_survive_a_broken_connection(void **state)
{
    struct world w;

    (void)state;
    world_init(&w);
    get(&w);
    fake_fail(w.fake.open, RCO_EUNAVAILABLE);
    assert_int_equal(w.done, 0);
    rco_loop_virtual_run_for(w.loop, 1100 * MS);
    fake_answer(w.fake.open, 200, "{}");
    assert_int_equal(w.code, RCO_OK);
    world_release(&w);
}

static void test_A41_writes_are_never_repeated_after_a_broken_connection(void **state)
{
    struct world w;

    (void)state;
    world_init(&w);
    patch(&w);
    fake_fail(w.fake.open, RCO_EUNAVAILABLE);
    assert_int_equal(w.done, 1);
    assert_int_equal(w.code, RCO_ETIMEOUT); /* outcome unknown */
    rco_loop_virtual_run_for(w.loop, 30 * S);
    assert_int_equal(w.fake.started, 1);
    world_release(&w);
}

static void test_A44_A69_every_request_has_a_deadline(void **state)
{
    struct world w;
    struct rco_kube_request q = {.verb = RCO_KUBE_GET,
                                 .kind = RCO_KIND_LEASE,
                                 .ns = "a",
                                 .name = "x",
                                 .lane = RCO_LANE_ELECTION,
                                 .deadline_ns = 5 * S};

    (void)state;
    world_init(&w);
    get(&w);
    assert_int_equal(w.fake.open->deadline_ns, 30 * S);
    fake_answer(w.fake.open, 200, "{}");
    rco_kube_start(w.client, &q, on_done, &w);
    assert_int_equal(w.fake.open->deadline_ns, 5 * S);
    fake_answer(w.fake.open, 200, "{}");
    world_release(&w);
}

static void test_A44_waiting_for_a_slot_counts(void **state)
{
    struct world w;

    (void)state;
    world_init(&w);
    for (int i = 0; i < 9; i++)
        get(&w);
    assert_int_equal(rco_kube_client_queued(w.client), 1);
    rco_loop_virtual_run_for(w.loop, 31 * S);
    assert_int_equal(w.done, 1);
    assert_int_equal(w.code, RCO_ETHROTTLED);
    world_release(&w);
}

static void test_A42_in_flight_starts_at_eight_grows_and_halves(void **state)
{
    struct world w;

    (void)state;
    world_init(&w);
    for (int i = 0; i < 200; i++)
        get(&w);
    assert_int_equal(rco_kube_client_in_flight(w.client), 8);
    assert_int_equal(rco_kube_client_queued(w.client), 192);
    for (int i = 0; i < 100; i++) {
        fake_answer(w.fake.open, 200, "{}");
        rco_loop_virtual_run_for(w.loop, MS);
    }
    unsigned grown = rco_kube_client_limit(w.client);
    assert_true(grown > 8);
    assert_int_equal(rco_kube_client_in_flight(w.client), grown);
    fake_status(w.fake.open, 429, "TooManyRequests");
    assert_int_equal(rco_kube_client_limit(w.client), grown / 2);
    world_release(&w);
}

static void test_A43_election_is_exempt_from_the_limit(void **state)
{
    struct world w;
    const struct rco_kube_request q = {.verb = RCO_KUBE_GET,
                                       .kind = RCO_KIND_LEASE,
                                       .ns = "a",
                                       .name = "x",
                                       .lane = RCO_LANE_ELECTION};

    (void)state;
    world_init(&w);
    for (int i = 0; i < 20; i++)
        get(&w);
    rco_kube_start(w.client, &q, on_done, &w);
    assert_int_equal(w.fake.started, 9);
    world_release(&w);
}

static void test_A52_401_drops_the_token_and_repeats_a_read_once(void **state)
{
    struct world w;

    (void)state;
    world_init(&w);
    get(&w);
    fake_status(w.fake.open, 401, "Unauthorized");
    assert_int_equal(w.unauthorized, 1);
    rco_loop_virtual_settle(w.loop);
    assert_int_equal(w.fake.started, 2);
    fake_status(w.fake.open, 401, "Unauthorized");
    assert_int_equal(w.done, 1);
    assert_int_equal(w.code, RCO_EUNAUTHORIZED);
    patch(&w);
    fake_status(w.fake.open, 401, "Unauthorized");
    assert_int_equal(w.done, 2);
    assert_int_equal(w.fake.started, 3);
    assert_int_equal(w.unauthorized, 3);
    world_release(&w);
}

static void test_A49_warnings_are_told_once(void **state)
{
    struct world w;
    const struct rco_http_response r = {.status = 200, .warning = "299 - \"old\""};

    (void)state;
    world_init(&w);
    for (int i = 0; i < 3; i++) {
        get(&w);
        fake_answer_with(w.fake.open, &r, "{}");
    }
    assert_int_equal(w.warnings, 1);
    world_release(&w);
}

static void test_cancel_is_silent_in_every_state(void **state)
{
    struct world w;
    struct rco_kube_call *calls[10];

    (void)state;
    world_init(&w);
    for (int i = 0; i < 10; i++)
        calls[i] = get(&w);
    rco_kube_cancel(calls[9]); /* waiting */
    rco_kube_cancel(calls[0]); /* running: the one that waits takes its slot */
    assert_int_equal(rco_kube_client_in_flight(w.client), 8);
    assert_int_equal(rco_kube_client_queued(w.client), 0);
    answer_retry_after(&w, 429, 1000);
    rco_kube_cancel(calls[1]); /* paused */
    rco_loop_virtual_run_for(w.loop, 5 * S);
    assert_int_equal(w.done, 0);
    assert_int_equal(rco_kube_client_in_flight(w.client), 7);
    world_release(&w);
}

static void test_old_transport_ends_its_calls_after_a_change(void **state)
{
    struct world w;
    struct fake other;

    (void)state;
    world_init(&w);
    struct rco_kube_call *old = get(&w);
    fake_init(&other, w.loop);
    rco_kube_client_set_transport(w.client, &other.transport);
    get(&w);
    assert_int_equal(other.started, 1);
    rco_kube_cancel(old);
    assert_int_equal(w.fake.cancelled, 1);
    assert_int_equal(other.cancelled, 0);
    world_release(&w);
}

/* --- discovery --- */

static int v_major, v_minor;
static enum rco_code v_code;

static void on_version(void *ctx, int major, int minor, const char *git,
                       const struct rco_error *err)
{
    (void)ctx;
    (void)git;
    v_major = major;
    v_minor = minor;
    v_code = err ? err->code : RCO_OK;
}

static void test_version_is_read_also_with_a_plus(void **state)
{
    struct world w;

    (void)state;
    world_init(&w);
    rco_kube_version(w.client, on_version, NULL);
    fake_answer(fake_expect(&w.fake, "GET", "/version"), 200,
                "{\"major\":\"1\",\"minor\":\"34+\",\"gitVersion\":\"v1.34.4\"}");
    assert_int_equal(v_major, 1);
    assert_int_equal(v_minor, 34);
    assert_int_equal(v_code, RCO_OK);
    rco_kube_version(w.client, on_version, NULL);
    fake_answer(fake_expect(&w.fake, "GET", "/version"), 200, "{\"major\":\"one\"}");
    assert_int_equal(v_code, RCO_EINTERNAL);
    rco_kube_cancel(rco_kube_version(w.client, on_version, NULL));
    world_release(&w);
}

static void test_missing_crd_is_named_with_the_remedy(void **state)
{
    struct world w;

    (void)state;
    world_init(&w);
    rco_kube_check_crd(w.client, RCO_KIND_RUN, on_done, &w);
    fake_answer(fake_expect(&w.fake, "GET", "/apis/runtimecloud.io/v1"), 200,
                "{\"resources\":[{\"name\":\"tenants\"},{\"name\":\"provisioningruns\"}]}");
    assert_int_equal(w.code, RCO_OK);
    rco_kube_check_crd(w.client, RCO_KIND_RUN, on_done, &w);
    fake_answer(fake_expect(&w.fake, "GET", "/apis/runtimecloud.io/v1"), 200,
                "{\"resources\":[{\"name\":\"tenants\"}]}");
    assert_int_equal(w.code, RCO_ENOTFOUND);
    assert_non_null(strstr(w.err.msg, "provisioningruns.runtimecloud.io"));
    assert_non_null(strstr(w.err.msg, "install the CRDs"));
    rco_kube_check_crd(w.client, RCO_KIND_RUN, on_done, &w);
    fake_answer(fake_expect(&w.fake, "GET", "/apis/runtimecloud.io/v1"), 404, "404 page not found");
    assert_int_equal(w.code, RCO_ENOTFOUND);
    assert_non_null(strstr(w.err.msg, "install the CRDs"));
    world_release(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_get_reports_the_object),
        cmocka_unit_test(test_result_is_decoded_into_its_kind),
        cmocka_unit_test(test_requests_are_built_as_the_api_server_wants_them),
        cmocka_unit_test(test_bad_request_is_reported_through_done),
        cmocka_unit_test(test_A39_retry_after_is_waited_for),
        cmocka_unit_test(test_A38_A39_no_more_than_ten_attempts),
        cmocka_unit_test(test_A39_without_the_header_nothing_is_retried),
        cmocka_unit_test(test_A39_retry_after_beyond_the_deadline_is_given_back),
        cmocka_unit_test(test_A40_reads_survive_a_broken_connection),
        cmocka_unit_test(test_A41_writes_are_never_repeated_after_a_broken_connection),
        cmocka_unit_test(test_A44_A69_every_request_has_a_deadline),
        cmocka_unit_test(test_A44_waiting_for_a_slot_counts),
        cmocka_unit_test(test_A42_in_flight_starts_at_eight_grows_and_halves),
        cmocka_unit_test(test_A43_election_is_exempt_from_the_limit),
        cmocka_unit_test(test_A52_401_drops_the_token_and_repeats_a_read_once),
        cmocka_unit_test(test_A49_warnings_are_told_once),
        cmocka_unit_test(test_cancel_is_silent_in_every_state),
        cmocka_unit_test(test_old_transport_ends_its_calls_after_a_change),
        cmocka_unit_test(test_version_is_read_also_with_a_plus),
        cmocka_unit_test(test_missing_crd_is_named_with_the_remedy),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
