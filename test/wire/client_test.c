/* The client and the runtime against a real kube-apiserver: what a fake cannot tell. Needs
 * KUBECONFIG, and CONTROL_PLANE with CONTROL_PLANE_DIR to restart the API server; see client.sh. */
#include "api/zz_generated_types.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/str.h"
#include "http/client.h"
#include "kube/credentials.h"
#include "kube/watch.h"
#include "runtime/elector.h"
#include "runtime/informer.h"
#include "runtime/recorder.h"

#include <setjmp.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include <cmocka.h>

#define S RCO_NS_PER_S
#define MS RCO_NS_PER_MS
#define OBJECTS 2000
#define NS "wire"

extern char **environ;

struct world {
    struct rco_loop *loop;
    struct rco_kube_config config;
    struct rco_credentials *credentials;
    struct rco_http_client *http;
    struct rco_kube_client *client;
    struct rco_timer *poll;
    /* the wait under way */
    bool (*until)(void *ctx);
    void *until_ctx;
    rco_mono give_up;
    bool timed_out;
    /* the last answer */
    bool answered;
    enum rco_code code;
    char msg[512], uid[64], rv[64];
};

static struct world g;

/* --- waiting --- */

static void on_poll(void *ctx)
{
    struct world *w = ctx;

    w->timed_out = rco_loop_now(w->loop) >= w->give_up;
    if (w->timed_out || w->until(w->until_ctx))
        rco_loop_stop(w->loop);
    else
        rco_timer_arm(w->poll, 2 * MS);
}

static void wait_for(const char *what, bool (*until)(void *ctx), void *ctx, int64_t ns)
{
    g.until = until;
    g.until_ctx = ctx;
    g.give_up = rco_clock_mono() + ns;
    rco_timer_arm(g.poll, 0);
    rco_loop_run(g.loop);
    if (g.timed_out)
        fail_msg("%s did not happen", what);
}

static bool never(void *ctx)
{
    (void)ctx;
    return false;
}

static void run_for(int64_t ns)
{
    g.until = never;
    g.give_up = rco_clock_mono() + ns;
    rco_timer_arm(g.poll, 0);
    rco_loop_run(g.loop);
}

static bool is_true(void *flag)
{
    return *(bool *)flag;
}

/* --- single requests --- */

static void on_answer(void *ctx, const struct rco_kube_result *r, const struct rco_error *err)
{
    struct world *w = ctx;

    w->answered = true;
    w->code = err ? err->code : RCO_OK;
    snprintf(w->msg, sizeof(w->msg), "%s", err ? err->msg : "");
    snprintf(w->uid, sizeof(w->uid), "%s", r->uid);
    snprintf(w->rv, sizeof(w->rv), "%s", r->resource_version);
}

static enum rco_code request(const struct rco_kube_request *q)
{
    g.answered = false;
    rco_kube_start(g.client, q, on_answer, &g);
    wait_for("an answer", is_true, &g.answered, 40 * S);
    return g.code;
}

static enum rco_code create(enum rco_kind kind, const char *ns, const char *name, const char *more)
{
    rco_autobuf b = RCO_BUF_INIT;
    char api[128];

    rco_kind_api_version(kind, api);
    rco_buf_addf(&b,
                 "{\"apiVersion\":\"%s\",\"kind\":\"%s\",\"metadata\":{\"name\":\"%s\",\"labels\":{"
                 "\"t\":\"1\"}}%s}",
                 api, rco_kind_info(kind)->kind, name, more);
    const struct rco_kube_request q = {.verb = RCO_KUBE_CREATE,
                                       .kind = kind,
                                       .ns = ns,
                                       .name = name,
                                       .body = b.data,
                                       .body_len = b.len};
    return request(&q);
}

static enum rco_code get(const char *name)
{
    const struct rco_kube_request q = {
        .verb = RCO_KUBE_GET, .kind = RCO_KIND_CONFIGMAP, .ns = NS, .name = name};

    return request(&q);
}

static enum rco_code patch(const char *name, const char *rv, const char *value)
{
    rco_autobuf b = RCO_BUF_INIT;

    rco_buf_addf(&b, "{\"metadata\":{\"resourceVersion\":\"%s\"},\"data\":{\"k\":\"%s\"}}", rv,
                 value);
    const struct rco_kube_request q = {.verb = RCO_KUBE_PATCH,
                                       .kind = RCO_KIND_CONFIGMAP,
                                       .ns = NS,
                                       .name = name,
                                       .body = b.data,
                                       .body_len = b.len};
    return request(&q);
}

static enum rco_code delete (const char *name, const char *uid) {
    const struct rco_kube_request q =
        {.verb = RCO_KUBE_DELETE, .kind = RCO_KIND_CONFIGMAP, .ns = NS, .name = name, .uid = uid};

    return request(&q);
}

/* --- set up --- */

static void on_unauthorized(void *ctx)
{
    rco_credentials_unauthorized(((struct world *)ctx)->credentials);
}

static const char *authorization(void *ctx)
{
    return rco_credentials_authorization(((struct world *)ctx)->credentials);
}

static int set_up(void **state)
{
    const struct rco_kubeconfig_options o = {.paths = getenv("KUBECONFIG")};
    const struct rco_kube_client_options client = {.unauthorized = on_unauthorized, .ctx = &g};
    struct rco_error err = RCO_ERROR_INIT;

    (void)state;
    g.loop = rco_loop_uv_new();
    g.poll = rco_timer_new(g.loop, on_poll, &g);
    if (rco_kube_config_load(&o, &g.config, &err) < 0 ||
        !(g.credentials = rco_credentials_new(g.loop, &g.config, NULL, &err))) {
        print_message("%s\n", err.msg);
        return -1;
    }
    const struct rco_http_client_options http = {.base_url = g.config.server,
                                                 .user_agent = "runtime-cloud-wire-test",
                                                 .ca_pem = rco_credentials_ca(g.credentials),
                                                 .cert_pem = rco_credentials_cert(g.credentials),
                                                 .key_pem = rco_credentials_key(g.credentials),
                                                 .authorization = authorization,
                                                 .ctx = &g};
    if (!(g.http = rco_http_client_new(g.loop, &http, &err))) {
        print_message("%s\n", err.msg);
        return -1;
    }
    g.client = rco_kube_client_new(g.loop, rco_http_client_transport(g.http), &client);
    return create(RCO_KIND_NAMESPACE, NULL, NS, "") == RCO_OK ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    rco_kube_client_free(g.client);
    rco_http_client_free(g.http);
    rco_credentials_free(g.credentials);
    rco_timer_free(g.poll);
    rco_kube_config_release(&g.config);
    rco_loop_uv_free(g.loop);
    return 0;
}

/* --- informers --- */

struct cache {
    struct rco_intern *intern;
    struct rco_list_gate *gate;
    struct rco_informer *informer;
    unsigned adds, updates, deletes, failed;
    size_t want;
    const char *want_rv;
};

static void on_change(void *ctx, const void *old_obj, const void *new_obj)
{
    struct cache *c = ctx;

    c->adds += !old_obj;
    c->deletes += !new_obj;
    c->updates += old_obj && new_obj;
}

static void on_failed(void *ctx, enum rco_reflector_state state, const struct rco_error *err)
{
    struct cache *c = ctx;

    c->failed++;
    print_message("    %s: %s\n", rco_reflector_state_name(state), err->msg);
}

static void cache_init(struct cache *c, enum rco_list_mode mode, const char *selector)
{
    const struct rco_informer_spec spec = {
        .kind = RCO_KIND_CONFIGMAP, .ns = NS, .label_selector = selector};

    memset(c, 0, sizeof(*c));
    c->intern = rco_intern_new();
    c->gate = rco_list_gate_new(g.loop);
    const struct rco_informer_options o = {.loop = g.loop,
                                           .client = g.client,
                                           .gate = c->gate,
                                           .intern = c->intern,
                                           .mode = mode,
                                           .handler = {.failed = on_failed, .ctx = c}};
    c->informer = rco_informer_new(&spec, &o);
    rco_informer_add_handler(c->informer, on_change, c);
    rco_informer_start(c->informer);
}

static void cache_release(struct cache *c)
{
    rco_informer_free(c->informer);
    rco_list_gate_free(c->gate);
    rco_intern_free(c->intern);
}

static bool has_synced(void *ctx)
{
    return rco_informer_has_synced(((struct cache *)ctx)->informer);
}

static bool has_updates(void *ctx)
{
    const struct cache *c = ctx;

    return c->updates >= c->want;
}

static bool has_deletes(void *ctx)
{
    const struct cache *c = ctx;

    return c->deletes >= c->want;
}

static bool has_adds(void *ctx)
{
    const struct cache *c = ctx;

    return c->adds >= c->want;
}

static bool has_rv(void *ctx)
{
    struct cache *c = ctx;
    int order;

    return rco_rv_compare(rco_store_rv(rco_informer_store(c->informer)), c->want_rv, &order) == 0 &&
           order >= 0;
}

static const char *value_of(struct cache *c, const char *name, struct rco_arena *a)
{
    const struct rco_configmap *o = rco_lister_get(rco_informer_store(c->informer), NS, name, a);

    return o ? rco_kv_get(o->data, o->n_data, "k") : NULL;
}

/* --- tests --- */

static int v_minor;
static bool v_done;

static void on_version(void *ctx, int major, int minor, const char *git,
                       const struct rco_error *err)
{
    (void)ctx;
    assert_null(err);
    assert_int_equal(major, 1);
    print_message("    %s\n", git);
    v_minor = minor;
    v_done = true;
}

static void test_version_and_missing_crds_are_told(void **state)
{
    (void)state;
    rco_kube_version(g.client, on_version, NULL);
    wait_for("version", is_true, &v_done, 10 * S);
    assert_true(v_minor >= RCO_KUBE_MIN_MINOR);
    g.answered = false;
    rco_kube_check_crd(g.client, RCO_KIND_RUN, on_answer, &g);
    wait_for("an answer", is_true, &g.answered, 10 * S);
    assert_int_equal(g.code, RCO_ENOTFOUND);
    assert_non_null(strstr(g.msg, "provisioningruns.runtimecloud.io"));
    g.answered = false;
    rco_kube_check_crd(g.client, RCO_KIND_JOB, on_answer, &g);
    wait_for("an answer", is_true, &g.answered, 10 * S);
    assert_int_equal(g.code, RCO_OK);
}

static size_t created, refused;

static void on_created(void *ctx, const struct rco_kube_result *r, const struct rco_error *err)
{
    (void)ctx;
    (void)r;
    created += !err;
    refused += err != NULL;
}

static bool all_created(void *ctx)
{
    (void)ctx;
    return created + refused == OBJECTS;
}

static void test_two_thousand_creates_with_the_adaptive_limit(void **state)
{
    rco_mono began = rco_clock_mono();

    (void)state;
    for (int i = 0; i < OBJECTS; i++) {
        rco_autobuf b = RCO_BUF_INIT;

        rco_buf_addf(
            &b,
            "{\"metadata\":{\"name\":\"object-%04d\",\"labels\":{\"t\":\"1\",\"half\":\"%d\"}},"
            "\"data\":{\"k\":\"v%d\"}}",
            i, i % 2, i);
        const struct rco_kube_request q = {.verb = RCO_KUBE_CREATE,
                                           .kind = RCO_KIND_CONFIGMAP,
                                           .ns = NS,
                                           .name = "object",
                                           .body = b.data,
                                           .body_len = b.len,
                                           .deadline_ns = 120 * S};
        rco_kube_start(g.client, &q, on_created, NULL);
    }
    wait_for("2,000 creates", all_created, NULL, 120 * S);
    print_message("    %d creates in %.1f s, limit at the end %u\n", OBJECTS,
                  (double)(rco_clock_mono() - began) / 1e9, rco_kube_client_limit(g.client));
    assert_int_equal(refused, 0);
}

static void lists_all(enum rco_list_mode mode)
{
    struct cache c;
    rco_autoarena a = RCO_ARENA_INIT;
    rco_mono began = rco_clock_mono();
    struct rco_store_stats stats;

    cache_init(&c, mode, "t=1");
    wait_for("the list", has_synced, &c, 30 * S);
    rco_store_stats(rco_informer_store(c.informer), &stats);
    print_message("    %zu objects in %.0f ms, %zu bytes each\n", stats.objects,
                  (double)(rco_clock_mono() - began) / 1e6,
                  (stats.record_bytes + stats.table_bytes) / stats.objects);
    assert_int_equal(stats.objects, OBJECTS);
    assert_int_equal(c.failed, 0);
    assert_string_equal(value_of(&c, "object-0000", &a), "v0");
    assert_string_equal(value_of(&c, "object-1999", &a), "v1999");
    assert_int_equal(rco_reflector_counters(rco_informer_reflector(c.informer))->fallbacks, 0);
    cache_release(&c);
}

static void test_A20_list_in_pages_finds_every_object(void **state)
{
    (void)state;
    lists_all(RCO_LIST_PAGED);
}

static void test_A23_streaming_list_finds_every_object(void **state)
{
    (void)state;
    lists_all(RCO_LIST_STREAMING);
}

static void watch_shows_changes(enum rco_list_mode mode)
{
    struct cache c;
    rco_autoarena a = RCO_ARENA_INIT;
    char uid[64];

    cache_init(&c, mode, "half=1");
    wait_for("the list", has_synced, &c, 30 * S);
    assert_int_equal(rco_lister_size(rco_informer_store(c.informer)), OBJECTS / 2);
    assert_int_equal(get("object-0001"), RCO_OK);
    assert_int_equal(patch("object-0001", g.rv, mode == RCO_LIST_PAGED ? "p" : "s"), RCO_OK);
    c.want = 1;
    wait_for("the update", has_updates, &c, 5 * S);
    assert_string_equal(value_of(&c, "object-0001", &a), mode == RCO_LIST_PAGED ? "p" : "s");
    c.want_rv = g.rv; /* A10, A78: the store has reached our own write */
    assert_true(has_rv(&c));
    assert_int_equal(create(RCO_KIND_CONFIGMAP, NS, "short-lived", ""), RCO_OK);
    memcpy(uid, g.uid, sizeof(uid));
    assert_int_equal(delete ("short-lived", uid), RCO_OK);
    assert_int_equal(c.failed, 0);
    assert_int_equal(rco_reflector_counters(rco_informer_reflector(c.informer))->lists, 1);
    cache_release(&c);
}

static void test_watch_after_a_paged_list_shows_changes(void **state)
{
    (void)state;
    watch_shows_changes(RCO_LIST_PAGED);
}

static void test_watch_after_a_streaming_list_shows_changes(void **state)
{
    (void)state;
    watch_shows_changes(RCO_LIST_STREAMING);
}

static void test_object_that_leaves_the_selector_is_deleted_from_the_cache(void **state)
{
    struct cache c;
    const char *body = "{\"metadata\":{\"labels\":{\"half\":\"none\"}}}";
    const struct rco_kube_request q = {.verb = RCO_KUBE_PATCH,
                                       .kind = RCO_KIND_CONFIGMAP,
                                       .ns = NS,
                                       .name = "object-0003",
                                       .body = body,
                                       .body_len = strlen(body)};

    (void)state;
    cache_init(&c, RCO_LIST_PAGED, "half=1");
    wait_for("the list", has_synced, &c, 30 * S);
    assert_int_equal(request(&q), RCO_OK);
    c.want = 1;
    wait_for("the deletion", has_deletes, &c, 5 * S);
    cache_release(&c);
}

static void test_A74_stale_version_is_a_conflict(void **state)
{
    char old[64];

    (void)state;
    assert_int_equal(get("object-0010"), RCO_OK);
    memcpy(old, g.rv, sizeof(old));
    assert_int_equal(patch("object-0010", old, "x"), RCO_OK);
    assert_int_equal(patch("object-0010", old, "y"), RCO_ECONFLICT);
}

static void test_A75_uid_precondition_protects_the_namesake(void **state)
{
    char first[64];

    (void)state;
    assert_int_equal(create(RCO_KIND_CONFIGMAP, NS, "namesake", ""), RCO_OK);
    memcpy(first, g.uid, sizeof(first));
    assert_int_equal(delete ("namesake", first), RCO_OK);
    assert_int_equal(create(RCO_KIND_CONFIGMAP, NS, "namesake", ""), RCO_OK);
    assert_int_equal(delete ("namesake", first), RCO_ECONFLICT);
    assert_int_equal(get("namesake"), RCO_OK);
    assert_int_equal(delete ("namesake", g.uid), RCO_OK);
    assert_int_equal(get("namesake"), RCO_ENOTFOUND);
}

static void test_refusals_are_told_apart(void **state)
{
    (void)state;
    assert_int_equal(create(RCO_KIND_CONFIGMAP, NS, "object-0000", ""), RCO_EEXISTS);
    assert_int_equal(create(RCO_KIND_CONFIGMAP, NS, "Not_A_Name", ""), RCO_EINVALID);
    assert_int_equal(create(RCO_KIND_CONFIGMAP, NS, "x", ",\"data\":5"), RCO_EINVALID);
    assert_int_equal(create(RCO_KIND_CONFIGMAP, "no-such-namespace", "x", ""), RCO_ENOTFOUND);
    assert_int_equal(get("never-was"), RCO_ENOTFOUND);
}

/* --- raw watches --- */

struct watch {
    bool opened, done;
    enum rco_code code;
    char msg[512];
};

static void on_opened(void *ctx)
{
    ((struct watch *)ctx)->opened = true;
}

static int on_event(void *ctx, enum rco_watch_type type, const char *object, size_t n,
                    struct rco_error *err)
{
    (void)ctx;
    (void)type;
    (void)object;
    (void)n;
    (void)err;
    return 0;
}

static void on_watch_done(void *ctx, const struct rco_error *err)
{
    struct watch *w = ctx;

    w->done = true;
    w->code = err ? err->code : RCO_OK;
    snprintf(w->msg, sizeof(w->msg), "%s", err ? err->msg : "");
}

static void watch_from(struct watch *w, const char *rv, int timeout_s, int64_t patience)
{
    const struct rco_watch_done h = {
        .opened = on_opened, .event = on_event, .done = on_watch_done, .ctx = w};
    const struct rco_watch_request q = {.scope = {.kind = RCO_KIND_CONFIGMAP, .ns = NS},
                                        .resource_version = rv,
                                        .timeout_s = timeout_s};

    memset(w, 0, sizeof(*w));
    rco_kube_watch(g.client, &q, &h);
    wait_for("the end of the watch", is_true, &w->done, patience);
}

static void test_A12_expired_version_is_recognised(void **state)
{
    struct watch w;

    (void)state;
    /* The API server was restarted: its watch cache begins after everything above. */
    watch_from(&w, "1", 30, 20 * S);
    print_message("    opened %d: %s\n", w.opened, w.msg);
    assert_int_equal(w.code, RCO_EGONE);
}

static void test_A15_watch_ends_cleanly_at_its_timeout(void **state)
{
    struct watch w;
    rco_mono began = rco_clock_mono();

    (void)state;
    assert_int_equal(get("object-0000"), RCO_OK);
    watch_from(&w, g.rv, 2, 20 * S);
    /* object-0000 may be older than the window of the watch cache; then it is the other rule. */
    if (w.code == RCO_EGONE) {
        assert_int_equal(patch("object-0000", g.rv, "fresh"), RCO_OK);
        began = rco_clock_mono();
        watch_from(&w, g.rv, 2, 20 * S);
    }
    assert_true(w.opened);
    assert_int_equal(w.code, RCO_OK);
    assert_true(rco_clock_mono() - began >= 1900 * MS);
}

static bool list_done;
static enum rco_code list_code;

static int on_item(void *ctx, const char *json, size_t n, struct rco_error *err)
{
    (void)ctx;
    (void)json;
    (void)n;
    (void)err;
    return 0;
}

static void on_list_done(void *ctx, const char *rv, const char *token, const struct rco_error *err)
{
    (void)ctx;
    (void)rv;
    (void)token;
    list_done = true;
    list_code = err ? err->code : RCO_OK;
}

static void test_A4_version_of_the_future_is_recognised(void **state)
{
    const struct rco_list_done h = {.item = on_item, .done = on_list_done};
    const struct rco_list_request q = {.scope = {.kind = RCO_KIND_CONFIGMAP, .ns = NS},
                                       .resource_version = "999999999",
                                       .resource_version_match = "NotOlderThan"};

    (void)state;
    rco_kube_list_page(g.client, &q, &h);
    wait_for("the list", is_true, &list_done, 20 * S);
    assert_int_equal(list_code, RCO_EGONE);
}

/* --- election --- */

struct candidate {
    struct rco_elector *e;
    bool leads, lost, released;
    int64_t transitions;
    rco_mono since;
};

static void on_started(void *ctx, int64_t transitions)
{
    struct candidate *c = ctx;

    c->leads = true;
    c->transitions = transitions;
    c->since = rco_clock_mono();
}

static void on_lost(void *ctx, const char *why)
{
    (void)why;
    ((struct candidate *)ctx)->lost = true;
}

static void on_released(void *ctx)
{
    ((struct candidate *)ctx)->released = true;
}

static void candidate_init(struct candidate *c, const char *identity)
{
    const struct rco_elector_options o = {
        .loop = g.loop,
        .client = g.client,
        .ns = NS,
        .name = "leader",
        .identity = identity,
        .timing = {6 * S, 4 * S, S},
        .handler = {.started = on_started, .lost = on_lost, .ctx = c}};

    memset(c, 0, sizeof(*c));
    c->e = rco_elector_new(&o);
    rco_elector_start(c->e);
}

static void test_leadership_is_handed_over_at_once_and_taken_after_a_crash(void **state)
{
    struct candidate a, b, c;
    rco_mono began;

    (void)state;
    candidate_init(&a, "a");
    wait_for("the first leader", is_true, &a.leads, 5 * S);
    assert_int_equal(a.transitions, 1);
    candidate_init(&b, "b");
    run_for(8 * S); /* longer than the lease: renewals go on */
    assert_false(b.leads);
    assert_true(rco_elector_may_write(a.e));
    began = rco_clock_mono();
    rco_elector_release(a.e, on_released, &a);
    wait_for("the hand-over", is_true, &b.leads, 5 * S);
    print_message("    hand-over in %.0f ms\n", (double)(b.since - began) / 1e6);
    assert_true(b.since - began < 500 * MS);
    assert_int_equal(b.transitions, 2);
    assert_true(a.released);
    candidate_init(&c, "c");
    run_for(S);
    began = rco_clock_mono();
    rco_elector_free(b.e); /* a crash: nothing is released */
    wait_for("the takeover", is_true, &c.leads, 12 * S);
    print_message("    takeover after a crash in %.1f s\n", (double)(c.since - began) / 1e9);
    assert_true(c.since - began >= 4 * S);
    assert_int_equal(c.transitions, 3);
    rco_elector_free(a.e);
    rco_elector_free(c.e);
}

/* --- events --- */

static bool sent(void *ctx)
{
    return rco_recorder_counters(ctx)->sent + rco_recorder_counters(ctx)->failed >= 1;
}

static void test_events_are_accepted(void **state)
{
    const struct rco_recorder_options o = {.loop = g.loop,
                                           .client = g.client,
                                           .controller = "runtimecloud.io/controller",
                                           .instance = "wire-0"};
    struct rco_recorder *r = rco_recorder_new(&o);
    struct rco_occurrence e = {.kind = RCO_KIND_CONFIGMAP,
                               .ns = NS,
                               .name = "object-0000",
                               .uid = "11111111-2222-4333-8444-555555555555",
                               .type = "Warning",
                               .reason = "Tested",
                               .note = "on the wire"};

    (void)state;
    rco_recorder_event(r, &e);
    wait_for("the event", sent, r, 10 * S);
    assert_int_equal(rco_recorder_counters(r)->sent, 1);
    rco_recorder_free(r);
    r = rco_recorder_new(&o);
    e.kind = RCO_KIND_NAMESPACE;
    e.ns = NULL;
    rco_recorder_event(r, &e);
    wait_for("the event about a cluster-scoped object", sent, r, 10 * S);
    assert_int_equal(rco_recorder_counters(r)->sent, 1);
    rco_recorder_free(r);
}

/* --- restarts --- */

static void control_plane(const char *verb, const char *what)
{
    char *argv[] = {getenv("CONTROL_PLANE"), (char *)verb, getenv("CONTROL_PLANE_DIR"),
                    (char *)what, NULL};
    pid_t pid;
    int status;

    assert_non_null(argv[0]);
    assert_int_equal(posix_spawn(&pid, argv[0], NULL, NULL, argv, environ), 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

static void test_watch_survives_a_crash_of_the_api_server(void **state)
{
    struct cache c;
    enum rco_code code = RCO_EUNAVAILABLE;

    (void)state;
    cache_init(&c, RCO_LIST_STREAMING, "t=1");
    wait_for("the list", has_synced, &c, 30 * S);
    size_t before = rco_lister_size(rco_informer_store(c.informer));
    control_plane("kill", "apiserver");
    run_for(S);
    control_plane("start", "apiserver");
    for (int i = 0; i < 30 && code != RCO_OK; i++) {
        code = create(RCO_KIND_CONFIGMAP, NS, "after-the-crash", "");
        if (code == RCO_EEXISTS)
            code = RCO_OK;
        if (code != RCO_OK)
            run_for(S);
    }
    assert_int_equal(code, RCO_OK);
    c.want = before + 1;
    wait_for("the object made after the crash", has_adds, &c, 60 * S);
    assert_int_equal(c.deletes, 0);
    print_message("    lists %u, watches %u\n",
                  (unsigned)rco_reflector_counters(rco_informer_reflector(c.informer))->lists,
                  (unsigned)rco_reflector_counters(rco_informer_reflector(c.informer))->watches);
    cache_release(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_version_and_missing_crds_are_told),
        cmocka_unit_test(test_two_thousand_creates_with_the_adaptive_limit),
        cmocka_unit_test(test_A20_list_in_pages_finds_every_object),
        cmocka_unit_test(test_A23_streaming_list_finds_every_object),
        cmocka_unit_test(test_watch_after_a_paged_list_shows_changes),
        cmocka_unit_test(test_watch_after_a_streaming_list_shows_changes),
        cmocka_unit_test(test_object_that_leaves_the_selector_is_deleted_from_the_cache),
        cmocka_unit_test(test_A74_stale_version_is_a_conflict),
        cmocka_unit_test(test_A75_uid_precondition_protects_the_namesake),
        cmocka_unit_test(test_refusals_are_told_apart),
        cmocka_unit_test(test_A15_watch_ends_cleanly_at_its_timeout),
        cmocka_unit_test(test_A4_version_of_the_future_is_recognised),
        cmocka_unit_test(test_leadership_is_handed_over_at_once_and_taken_after_a_crash),
        cmocka_unit_test(test_events_are_accepted),
        cmocka_unit_test(test_watch_survives_a_crash_of_the_api_server),
        cmocka_unit_test(test_A12_expired_version_is_recognised),
    };

    rco_log_setup(RCO_LOG_ERROR, RCO_LOG_TEXT);
    return cmocka_run_group_tests_name("client", tests, set_up, tear_down);
}
