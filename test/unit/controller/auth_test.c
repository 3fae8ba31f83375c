#include "auth.h"

#include "../runtime/fake.h"
#include "base/sha256.h"

#define REVIEWS "/apis/authentication.k8s.io/v1/tokenreviews"
#define MANY 1024

struct outcome {
    int calls, status;
    char ns[64], account[64], pod[64], uid[64], message[128];
};

struct fixture {
    struct rco_loop *loop;
    struct fake fake;
    struct rco_kube_client *client;
    struct rco_auth *auth;
    struct outcome outcomes[MANY];
    size_t n;
};

static int set_up(void **state)
{
    struct fixture *f = rco_calloc(1, sizeof *f);

    f->loop = rco_loop_virtual_new(1);
    fake_init(&f->fake, f->loop);
    f->client = rco_kube_client_new(f->loop, &f->fake.transport, NULL);
    f->auth = rco_auth_new(f->loop, f->client);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    rco_auth_free(f->auth);
    rco_kube_client_free(f->client);
    fake_release(&f->fake);
    rco_loop_virtual_free(f->loop);
    free(f);
    return 0;
}

static void copy(char *out, size_t size, const char *text)
{
    snprintf(out, size, "%s", text ? text : "");
}

static void on_done(void *ctx, const struct rco_identity *who, int status, const char *message)
{
    struct outcome *o = ctx;

    o->calls++;
    o->status = status;
    copy(o->message, sizeof o->message, message);
    if (!who)
        return;
    copy(o->ns, sizeof o->ns, who->ns);
    copy(o->account, sizeof o->account, who->service_account);
    copy(o->pod, sizeof o->pod, who->pod_name);
    copy(o->uid, sizeof o->uid, who->pod_uid);
}

static struct outcome *check(struct fixture *f, const char *authorization)
{
    struct outcome *o = &f->outcomes[f->n++ % MANY];

    *o = (struct outcome){0};
    rco_auth_check(f->auth, authorization, on_done, o);
    return o;
}

/* A token that differs from others by N. */
static struct outcome *check_token(struct fixture *f, unsigned n)
{
    rco_autofree char *header = rco_asprintf("Bearer head.payload-%u.signature", n);

    return check(f, header);
}

static void settle(struct fixture *f)
{
    rco_loop_virtual_settle(f->loop);
}

static void review(struct fixture *f, const char *status)
{
    rco_autofree char *body =
        rco_asprintf("{\"kind\":\"TokenReview\",\"apiVersion\":\"authentication.k8s.io/"
                     "v1\",\"metadata\":{},\"status\":%s}",
                     status);

    fake_answer(fake_expect(&f->fake, "POST", REVIEWS), 201, body);
    settle(f);
}

#define POD(NAMES, UIDS)                                                                           \
    "\"extra\":{\"authentication.kubernetes.io/pod-name\":" NAMES                                  \
    ",\"authentication.kubernetes.io/pod-uid\":" UIDS "}"
#define USER(EXTRA) "\"user\":{\"username\":\"system:serviceaccount:team-a:default\"," EXTRA "}"
#define GOOD                                                                                       \
    "{\"authenticated\":true,\"audiences\":[\"runtime-cloud-gateway\"]," USER(                     \
        POD("[\"p1\"]", "[\"u1\"]")) "}"

static void a_bound_token_names_its_pod(void **state)
{
    struct fixture *f = *state;
    struct outcome *o = check_token(f, 1);
    struct rco_http_call *call;

    settle(f);
    call = fake_expect(&f->fake, "POST", REVIEWS);
    assert_non_null(strstr(call->body, "\"token\":\"head.payload-1.signature\""));
    assert_non_null(strstr(call->body, "\"audiences\":[\"runtime-cloud-gateway\"]"));
    assert_int_equal(o->calls, 0);
    review(f, GOOD);
    assert_int_equal(o->calls, 1);
    assert_int_equal(o->status, 200);
    assert_string_equal(o->ns, "team-a");
    assert_string_equal(o->account, "default");
    assert_string_equal(o->pod, "p1");
    assert_string_equal(o->uid, "u1");
}

static void an_answer_counts_for_a_minute_and_for_that_token_alone(void **state)
{
    struct fixture *f = *state;
    struct outcome *o;

    check_token(f, 1);
    settle(f);
    review(f, GOOD);
    o = check_token(f, 1);
    assert_int_equal(o->status, 200);
    assert_string_equal(o->uid, "u1");
    o = check_token(f, 2);
    assert_int_equal(o->calls, 0);
    settle(f);
    review(f, "{\"authenticated\":false}");
    assert_int_equal(o->status, 401);
    rco_loop_virtual_skip(f->loop, RCO_AUTH_CACHE_NS + S);
    o = check_token(f, 1);
    settle(f);
    assert_int_equal(o->calls, 0);
    review(f, "{\"authenticated\":false,\"error\":\"the pod is gone\"}");
    assert_int_equal(o->status, 401);
}

static void what_proves_no_pod_is_refused(void **state)
{
    static const struct {
        const char *status, *why;
    } rows[] = {
        {"{\"authenticated\":false}", "not valid"},
        {"{}", "not valid"},
        {"{\"authenticated\":true," USER(POD("[\"p1\"]", "[\"u1\"]")) "}", "audience"},
        {"{\"authenticated\":true,\"audiences\":[\"https://kubernetes.default.svc\"]," USER(
             POD("[\"p1\"]", "[\"u1\"]")) "}",
         "audience"},
        {"{\"authenticated\":true,\"audiences\":[\"runtime-cloud-gateway\"],\"user\":{\"username\":"
         "\"system:admin\"," POD("[\"p1\"]", "[\"u1\"]") "}}",
         "service account"},
        {"{\"authenticated\":true,\"audiences\":[\"runtime-cloud-gateway\"],\"user\":{\"username\":"
         "\"system:serviceaccount:team-a:\"," POD("[\"p1\"]", "[\"u1\"]") "}}",
         "service account"},
        {"{\"authenticated\":true,\"audiences\":[\"runtime-cloud-gateway\"]," USER(
             "\"uid\":\"x\"") "}",
         "bound to a pod"},
        {"{\"authenticated\":true,\"audiences\":[\"runtime-cloud-gateway\"]," USER(
             POD("[\"p1\",\"p2\"]", "[\"u1\"]")) "}",
         "bound to a pod"},
        {"{\"authenticated\":true,\"audiences\":[\"runtime-cloud-gateway\"]," USER(
             POD("[]", "[]")) "}",
         "bound to a pod"},
        {"{\"authenticated\":true,\"audiences\":[\"runtime-cloud-gateway\"]," USER(
             POD("[\"p1\"]", "{}")) "}",
         "bound to a pod"},
    };
    struct fixture *f = *state;

    for (unsigned i = 0; i < RCO_ARRAY_LEN(rows); i++) {
        struct outcome *o = check_token(f, i);

        settle(f);
        review(f, rows[i].status);
        if (o->status != 401 || !strstr(o->message, rows[i].why))
            fail_msg("%s: %d %s", rows[i].status, o->status, o->message);
    }
}

static void what_is_no_token_is_not_asked_about(void **state)
{
    static const char *const bad[] = {
        NULL,
        "",
        "Basic dXNlcjpwYXNz",
        "Bearer ",
        "Bearer token",
        "Bearer a.b",
        "Bearer a.b.c.d",
        "Bearer a..c",
        "Bearer a.b.",
        "bearer a.b.c",
        "Bearer a.b.c d",
        "Bearer a.b.c\"",
        "Bearer a.\xff.c",
    };
    struct fixture *f = *state;
    rco_autobuf longest = RCO_BUF_INIT;

    for (size_t i = 0; i < RCO_ARRAY_LEN(bad); i++) {
        struct outcome *o = check(f, bad[i]);

        if (o->status != 401)
            fail_msg("%s: %d", bad[i] ? bad[i] : "(none)", o->status);
    }
    rco_buf_adds(&longest, "Bearer a.b.");
    while (longest.len <= RCO_AUTH_TOKEN_MAX + sizeof "Bearer ")
        rco_buf_addc(&longest, 'c');
    assert_int_equal(check(f, rco_buf_str(&longest))->status, 401);
    settle(f);
    assert_int_equal(f->fake.started, 0);
}

static void an_api_server_that_does_not_answer_is_no_refusal(void **state)
{
    struct fixture *f = *state;
    struct outcome *o = check_token(f, 1);

    settle(f);
    fake_status(fake_expect(&f->fake, "POST", REVIEWS), 403, "Forbidden");
    settle(f);
    assert_int_equal(o->status, 503);
    o = check_token(f, 1);
    settle(f);
    fake_answer(fake_expect(&f->fake, "POST", REVIEWS), 201, "{\"kind\":");
    settle(f);
    assert_int_equal(o->status, 503);
}

static void a_flood_of_tokens_asks_few_questions_at_once(void **state)
{
    struct fixture *f = *state;
    size_t flood = RCO_AUTH_REVIEWS_MAX + RCO_AUTH_WAITING_MAX + 100;
    size_t refused = 0, answered = 0;

    for (unsigned i = 0; i < flood; i++)
        refused += check_token(f, i)->status == 503;
    settle(f);
    assert_int_equal(refused, 100);
    assert_int_equal(fake_count(&f->fake, "POST", REVIEWS), RCO_AUTH_REVIEWS_MAX);
    /* They are asked about in the order in which they came, and none is forgotten. */
    for (unsigned i = 0; i < flood - 100; i++) {
        rco_autofree char *want = rco_asprintf("payload-%u.", i);

        assert_non_null(strstr(fake_expect(&f->fake, "POST", REVIEWS)->body, want));
        assert_in_range(fake_count(&f->fake, "POST", REVIEWS), 1, RCO_AUTH_REVIEWS_MAX);
        review(f, GOOD);
    }
    for (unsigned i = 0; i < flood; i++)
        answered += f->outcomes[i].status == 200;
    assert_int_equal(answered, flood - 100);
    assert_null(fake_find(&f->fake, "POST", REVIEWS));
    check_token(f, 5000);
    settle(f);
    fake_expect(&f->fake, "POST", REVIEWS); /* tear_down: one under way */
    for (unsigned i = 0; i < 20; i++)
        check_token(f, 6000 + i); /* and some that wait */
}

static void a_token_that_asks_too_often_is_slowed_down(void **state)
{
    struct fixture *f = *state;
    unsigned ok = 0;

    check_token(f, 1);
    settle(f);
    review(f, GOOD);
    for (unsigned i = 0; i < 500; i++)
        ok += check_token(f, 1)->status == 200;
    assert_in_range(ok, RCO_AUTH_BURST, RCO_AUTH_BURST + 1);
    assert_int_equal(check_token(f, 1)->status, 429);
    rco_loop_virtual_skip(f->loop, 10 * RCO_AUTH_PACE_NS);
    ok = 0;
    for (unsigned i = 0; i < 20; i++)
        ok += check_token(f, 1)->status == 200;
    assert_int_equal(ok, 10);
}

static void more_tokens_than_are_remembered_are_no_fault(void **state)
{
    struct fixture *f = *state;

    for (unsigned i = 0; i < RCO_AUTH_CACHE_MAX + 10; i++) {
        struct outcome *o = check_token(f, i);

        settle(f);
        review(f, GOOD);
        assert_int_equal(o->status, 200);
    }
    assert_int_equal(check_token(f, RCO_AUTH_CACHE_MAX + 9)->status, 200);
}

#define T(F) cmocka_unit_test_setup_teardown(F, set_up, tear_down)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        T(a_bound_token_names_its_pod),
        T(an_answer_counts_for_a_minute_and_for_that_token_alone),
        T(what_proves_no_pod_is_refused),
        T(what_is_no_token_is_not_asked_about),
        T(an_api_server_that_does_not_answer_is_no_refusal),
        T(a_flood_of_tokens_asks_few_questions_at_once),
        T(a_token_that_asks_too_often_is_slowed_down),
        T(more_tokens_than_are_remembered_are_no_fault),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
