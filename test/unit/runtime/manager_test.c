#include "runtime/manager.h"

#include "api/zz_generated_types.h"
#include "fake.h"
#include "json/writer.h"

/* The operator of these tests: for each ConfigMap NAME that has data k it creates a
 * PersistentVolumeClaim of the same name and then answers mailbox 7. */
struct world {
    struct rco_loop *loop;
    struct fake fake;
    struct rco_kube_client *client;
    struct rco_manager *manager;
    unsigned observed, leading, failed, replies, stopped;
    char last_key[128], why[512];
    const char *outcome_seen; /* uid of the last CREATED outcome */
    char outcome_uid[64], outcome_message[256];
    enum rco_outcome_type outcome_type;
    struct rco_crash_guard *guard;
    bool fail_observe, no_requeue, delete_mode, secret_mode;
    enum rco_exists_policy exists;
    int64_t requeue;
};

struct snapshot {
    const struct rco_configmap *cm;
    const struct rco_pvc *pvc;
    const struct world *w;
};

static int observe(void *ctx, const struct rco_observer *obs, const struct rco_key *key,
                   struct rco_arena *a, void **ret_snapshot, struct rco_error *err)
{
    struct world *w = ctx;
    struct snapshot *s = RCO_NEW(a, struct snapshot);
    const struct rco_outcome *o;

    w->observed++;
    snprintf(w->last_key, sizeof(w->last_key), "%s/%s", key->ns, key->name);
    if (w->fail_observe)
        return rco_error_set(err, RCO_EINTERNAL, "cannot observe");
    s->w = w;
    s->cm = rco_observer_get(obs, RCO_KIND_CONFIGMAP, key->ns, key->name, a);
    s->pvc = rco_observer_get(obs, RCO_KIND_PVC, key->ns, key->name, a);
    o = rco_observer_outcome(obs, w->secret_mode ? RCO_KIND_SECRET : RCO_KIND_PVC, key->name);
    if (o) {
        w->outcome_type = o->type;
        snprintf(w->outcome_uid, sizeof(w->outcome_uid), "%s", rco_str_or_empty(o->uid));
        snprintf(w->outcome_message, sizeof(w->outcome_message), "%s",
                 rco_str_or_empty(o->message));
    }
    if (!s->cm)
        return 0;
    /* A refusal is final for this test. */
    if (o && !w->delete_mode)
        s->pvc = (const struct rco_pvc *)(uintptr_t)1;
    *ret_snapshot = s;
    return 0;
}

static void body_of(const char *kind, const char *ns, const char *name, struct rco_buf *out)
{
    struct rco_json_writer j;

    rco_json_writer_init(&j, out);
    rco_json_begin_object(&j);
    rco_json_kv_string(&j, "apiVersion", "v1");
    rco_json_kv_string(&j, "kind", kind);
    rco_json_kv_object(&j, "metadata");
    rco_json_kv_string(&j, "name", name);
    rco_json_kv_string(&j, "namespace", ns);
    rco_json_end_object(&j);
    rco_json_end_object(&j);
}

static void decide(const void *snapshot, rco_wall now, struct rco_plan *plan)
{
    const struct snapshot *s = snapshot;
    rco_autobuf body = RCO_BUF_INIT;
    rco_autobuf reply = RCO_BUF_INIT;

    (void)now;
    if (s->w->requeue)
        rco_plan_requeue(plan, s->w->requeue);
    if (s->w->delete_mode) {
        if (s->pvc && !s->pvc->metadata.deletion)
            rco_plan_delete(plan, RCO_KIND_PVC, &s->pvc->metadata);
        return;
    }
    if (s->pvc)
        return;
    body_of(s->w->secret_mode ? "Secret" : "PersistentVolumeClaim", s->cm->metadata.ns,
            s->cm->metadata.name, &body);
    rco_plan_create(plan, s->w->secret_mode ? RCO_KIND_SECRET : RCO_KIND_PVC, s->cm->metadata.ns,
                    s->cm->metadata.name, &body, s->w->exists);
    rco_buf_adds(&reply, "{}");
    rco_plan_reply(plan, 7, 200, &reply);
}

static void on_reply(void *ctx, uint64_t mailbox, int http_status, const char *body, size_t n)
{
    assert_int_equal(mailbox, 7);
    assert_int_equal(http_status, 200);
    assert_int_equal(n, 2);
    (void)body;
    ((struct world *)ctx)->replies++;
}

static void on_leading(void *ctx, int64_t transitions)
{
    (void)transitions;
    ((struct world *)ctx)->leading++;
}

static void on_failed(void *ctx, const char *why)
{
    struct world *w = ctx;

    w->failed++;
    snprintf(w->why, sizeof(w->why), "%s", why);
}

static void on_stopped(void *ctx)
{
    ((struct world *)ctx)->stopped++;
}

static bool settled(const void *obj)
{
    const struct rco_configmap *c = obj;

    return rco_streq(rco_kv_get(c->data, c->n_data, "k"), "settled");
}

static const struct rco_informer_spec informers[] = {
    {.kind = RCO_KIND_CONFIGMAP, .label_selector = "managed=yes"},
    {.kind = RCO_KIND_PVC},
};
static const struct rco_trigger triggers[] = {
    {RCO_KIND_CONFIGMAP, rco_trigger_self},
    {RCO_KIND_PVC, rco_trigger_self},
};

struct setup {
    struct rco_reconciler reconciler;
    struct rco_setup setup;
};

static struct setup g_setup; /* of the running test: must outlive the manager */

static struct rco_crash_guard *g_guard; /* for the next world_init */

static void world_init(struct world *w, bool election)
{
    const struct rco_elector_options elect = {
        .ns = "op", .name = "rco", .identity = "me", .timing = RCO_ELECTOR_TIMING_DEFAULT};

    rco_log_setup(RCO_LOG_ERROR + 1, RCO_LOG_TEXT);
    memset(w, 0, sizeof(*w));
    w->guard = g_guard;
    w->loop = rco_loop_virtual_new(3);
    fake_init(&w->fake, w->loop);
    w->client = rco_kube_client_new(w->loop, &w->fake.transport, NULL);
    g_setup.reconciler = (struct rco_reconciler){.name = "volume",
                                                 .kind = RCO_KIND_CONFIGMAP,
                                                 .triggers = triggers,
                                                 .n_triggers = RCO_ARRAY_LEN(triggers),
                                                 .settled = settled,
                                                 .observe = observe,
                                                 .decide = decide,
                                                 .ctx = w};
    g_setup.setup = (struct rco_setup){.informers = informers,
                                       .n_informers = RCO_ARRAY_LEN(informers),
                                       .reconcilers = &g_setup.reconciler,
                                       .n_reconcilers = 1};
    const struct rco_manager_options options = {.loop = w->loop,
                                                .client = w->client,
                                                .election = election ? &elect : NULL,
                                                .instance = "pod-0",
                                                .crash_guard = w->guard,
                                                .reply = on_reply,
                                                .leading = on_leading,
                                                .failed = on_failed,
                                                .ctx = w};
    w->manager = rco_manager_new(&g_setup.setup, &options);
    rco_manager_start(w->manager);
    rco_loop_virtual_settle(w->loop);
}

static void world_release(struct world *w)
{
    rco_manager_free(w->manager);
    rco_kube_client_free(w->client);
    fake_release(&w->fake);
    rco_loop_virtual_free(w->loop); /* asserts that no timer was leaked */
}

static char *pvc_json(const char *name, const char *rv, const char *more)
{
    return rco_asprintf(
        "{\"apiVersion\":\"v1\",\"kind\":\"PersistentVolumeClaim\",\"metadata\":{\"name\":"
        "\"%s\",\"namespace\":\"a\",\"uid\":\"00000000-0000-4000-8000-0000000000ff\","
        "\"resourceVersion\":\"%s\"%s}}",
        name, rv, more);
}

static void sync_kind(struct world *w, const char *path, const char *items)
{
    bool again = rco_manager_has_synced(w->manager);
    rco_autofree char *body =
        rco_asprintf("{\"kind\":\"List\",\"metadata\":{\"resourceVersion\":\"%s\"},\"items\":[%s]}",
                     again ? "200" : "100", items);

    fake_answer(fake_expect(&w->fake, "GET", path), 200, body);
    rco_loop_virtual_settle(w->loop);
}

static struct rco_http_call *watch_of(struct world *w, const char *kind)
{
    rco_autofree char *part = rco_asprintf("%s?", kind);
    struct rco_http_call *c = fake_expect(&w->fake, "GET", part);

    if (!c->status)
        fake_head(c, 200);
    return c;
}

/* Both caches synced with one ConfigMap "one" and no claim. */
static void synced_world(struct world *w)
{
    rco_autofree char *cm = cm_json("a", "one", "50", "v");

    world_init(w, false);
    sync_kind(w, "/configmaps?", cm);
    sync_kind(w, "/persistentvolumeclaims?", "");
    watch_of(w, "/configmaps");
    watch_of(w, "/persistentvolumeclaims");
}

static void send_pvc(struct world *w, const char *type, const char *rv, const char *more)
{
    rco_autofree char *object = pvc_json("one", rv, more);
    rco_autofree char *line = event_json(type, object);

    fake_data(watch_of(w, "/persistentvolumeclaims"), line);
    rco_loop_virtual_settle(w->loop);
}

static void answer_create(struct world *w, const char *rv)
{
    rco_autofree char *body = pvc_json("one", rv, "");

    fake_answer(fake_expect(&w->fake, "POST", "/persistentvolumeclaims?"), 201, body);
    rco_loop_virtual_settle(w->loop);
}

static unsigned patches_of(struct world *w)
{
    return (unsigned)fake_count(&w->fake, "POST", "/persistentvolumeclaims?");
}

/* --- tests --- */

static void test_A31_nothing_is_decided_before_all_caches_are_complete(void **state)
{
    struct world w;
    rco_autofree char *cm = cm_json("a", "one", "50", "v");

    (void)state;
    world_init(&w, false);
    sync_kind(&w, "/configmaps?", cm);
    rco_loop_virtual_run_for(w.loop, 5 * S);
    assert_int_equal(w.observed, 0);
    assert_false(rco_manager_has_synced(w.manager));
    sync_kind(&w, "/persistentvolumeclaims?", "");
    assert_int_equal(w.leading, 1);
    assert_int_equal(w.observed, 1);
    assert_string_equal(w.last_key, "a/one");
    world_release(&w);
}

static void test_A31_caches_that_do_not_sync_end_the_program(void **state)
{
    struct world w;

    (void)state;
    world_init(&w, false);
    sync_kind(&w, "/configmaps?", "");
    rco_loop_virtual_run_for(w.loop, 121 * S);
    assert_int_equal(w.failed, 1);
    assert_non_null(strstr(w.why, "persistentvolumeclaims (Listing)"));
    assert_null(strstr(w.why, "configmaps"));
    world_release(&w);
}

static void test_A31_a_slow_sync_that_goes_on_is_waited_for(void **state)
{
    struct world w;
    rco_autofree char *first = pvc_json("first", "70", "");
    rco_autofree char *second = pvc_json("second", "71", "");
    rco_autofree char *page = rco_asprintf("{\"kind\":\"List\",\"items\":[%s,", first);
    rco_autofree char *more = rco_asprintf("%s,", second);
    struct rco_http_call *list;

    (void)state;
    world_init(&w, false);
    sync_kind(&w, "/configmaps?", "");
    list = fake_expect(&w.fake, "GET", "/persistentvolumeclaims?");
    fake_head(list, 200);
    rco_loop_virtual_run_for(w.loop, 100 * S);
    assert_true(fake_data(list, page));
    rco_loop_virtual_run_for(w.loop, 100 * S);
    assert_int_equal(w.failed, 0);
    assert_true(fake_data(list, more));
    rco_loop_virtual_run_for(w.loop, 119 * S);
    assert_int_equal(w.failed, 0);
    rco_loop_virtual_run_for(w.loop, 2 * S);
    assert_int_equal(w.failed, 1);
    assert_non_null(strstr(w.why, "persistentvolumeclaims (Listing)"));
    world_release(&w);
}

static void test_reply_comes_after_the_write_was_acknowledged(void **state)
{
    struct world w;

    (void)state;
    synced_world(&w);
    assert_int_equal(patches_of(&w), 1);
    assert_int_equal(w.replies, 0);
    answer_create(&w, "101");
    assert_int_equal(w.replies, 1);
    world_release(&w);
}

static void test_A78_key_waits_until_the_cache_shows_its_own_write(void **state)
{
    struct world w;

    (void)state;
    synced_world(&w);
    answer_create(&w, "101");
    assert_int_equal(w.observed, 1);
    /* A change of the ConfigMap meanwhile: the claim is not in the cache yet, deciding now would
     * create it a second time. */
    send_event(watch_of(&w, "/configmaps"), "MODIFIED", "one", "102", "w");
    rco_loop_virtual_run_for(w.loop, 5 * S);
    assert_int_equal(w.observed, 1);
    assert_false(rco_manager_is_idle(w.manager));
    send_pvc(&w, "ADDED", "101", "");
    assert_int_equal(w.observed, 2);
    assert_int_equal(patches_of(&w), 0);
    assert_true(rco_manager_is_idle(w.manager));
    world_release(&w);
}

static void test_A78_bookmark_opens_the_gate_too(void **state)
{
    struct world w;

    (void)state;
    synced_world(&w);
    answer_create(&w, "101");
    send_event(watch_of(&w, "/configmaps"), "MODIFIED", "one", "102", "w");
    rco_loop_virtual_settle(w.loop);
    assert_int_equal(w.observed, 1);
    send_bookmark(watch_of(&w, "/persistentvolumeclaims"), "150", NULL);
    rco_loop_virtual_settle(w.loop);
    assert_int_equal(w.observed, 2);
    world_release(&w);
}

static void test_A78_write_that_never_shows_up_leads_to_a_list(void **state)
{
    struct world w;
    rco_autofree char *pvc = pvc_json("one", "101", "");

    (void)state;
    synced_world(&w);
    answer_create(&w, "101");
    rco_loop_virtual_run_for(w.loop, 29 * S);
    assert_null(fake_find(&w.fake, "GET", "/persistentvolumeclaims?limit"));
    rco_loop_virtual_run_for(w.loop, 3 * S);
    assert_int_equal(w.observed, 1);
    sync_kind(&w, "/persistentvolumeclaims?limit", pvc);
    rco_loop_virtual_settle(w.loop);
    assert_true(w.observed >= 2);
    world_release(&w);
}

static void test_outcome_of_a_create_reaches_the_next_observe(void **state)
{
    struct world w;

    (void)state;
    synced_world(&w);
    answer_create(&w, "101");
    send_pvc(&w, "ADDED", "101", "");
    assert_string_equal(w.outcome_uid, "00000000-0000-4000-8000-0000000000ff");
    assert_int_equal(w.outcome_type, RCO_OUTCOME_CREATED);
    world_release(&w);
}

static void test_outcome_of_a_kind_that_is_not_watched_wakes_the_key(void **state)
{
    struct world w;

    (void)state;
    memset(&w, 0, sizeof(w));
    rco_autofree char *cm = cm_json("a", "one", "50", "v");
    world_init(&w, false);
    w.secret_mode = true;
    sync_kind(&w, "/configmaps?", cm);
    sync_kind(&w, "/persistentvolumeclaims?", "");
    fake_answer(fake_expect(&w.fake, "POST", "/secrets?"), 201,
                "{\"kind\":\"Secret\",\"metadata\":{\"name\":\"one\",\"namespace\":\"a\",\"uid\":"
                "\"00000000-0000-4000-8000-00000000000e\",\"resourceVersion\":\"103\"}}");
    rco_loop_virtual_settle(w.loop);
    assert_int_equal(w.observed, 2);
    assert_string_equal(w.outcome_uid, "00000000-0000-4000-8000-00000000000e");
    world_release(&w);
}

static void test_refused_create_is_told_and_not_repeated_hot(void **state)
{
    struct world w;

    (void)state;
    synced_world(&w);
    fake_status(fake_expect(&w.fake, "POST", "/persistentvolumeclaims?"), 403, "Forbidden");
    rco_loop_virtual_run_for(w.loop, S);
    assert_int_equal(w.outcome_type, RCO_OUTCOME_REFUSED);
    assert_non_null(strstr(w.outcome_message, "the Forbidden message"));
    assert_int_equal(w.replies, 0);
    assert_int_equal(w.observed, 2);
    world_release(&w);
}

static void test_A74_A95_conflict_is_decided_again_soon(void **state)
{
    struct world w;

    (void)state;
    synced_world(&w);
    fake_status(fake_expect(&w.fake, "POST", "/persistentvolumeclaims?"), 409, "Conflict");
    rco_loop_virtual_run_for(w.loop, 10 * MS);
    assert_int_equal(w.observed, 2);
    assert_int_equal(patches_of(&w), 1);
    assert_int_equal(w.replies, 0);
    world_release(&w);
}

static void test_A41_lost_answer_is_read_back_before_the_next_write(void **state)
{
    struct world w;
    rco_autofree char *pvc = pvc_json("one", "120", "");

    (void)state;
    synced_world(&w);
    fake_fail(fake_expect(&w.fake, "POST", "/persistentvolumeclaims?"), RCO_EUNAVAILABLE);
    rco_loop_virtual_settle(w.loop);
    assert_int_equal(patches_of(&w), 0); /* never repeated blindly */
    fake_answer(fake_expect(&w.fake, "GET", "/persistentvolumeclaims/one"), 200, pvc);
    rco_loop_virtual_run_for(w.loop, 10 * S);
    assert_int_equal(w.observed, 1); /* it is there: the cache has to show it first */
    assert_int_equal(patches_of(&w), 0);
    send_pvc(&w, "ADDED", "120", "");
    assert_int_equal(w.observed, 2);
    assert_int_equal(patches_of(&w), 0);
    assert_int_equal(w.replies, 0);
    world_release(&w);
}

static void test_A41_lost_answer_of_a_write_that_did_not_happen_is_repeated(void **state)
{
    struct world w;

    (void)state;
    synced_world(&w);
    fake_fail(fake_expect(&w.fake, "POST", "/persistentvolumeclaims?"), RCO_ETIMEOUT);
    rco_loop_virtual_settle(w.loop);
    fake_status(fake_expect(&w.fake, "GET", "/persistentvolumeclaims/one"), 404, "NotFound");
    rco_loop_virtual_run_for(w.loop, 100 * MS);
    assert_int_equal(patches_of(&w), 1);
    world_release(&w);
}

static void test_A75_A87_A95_delete_carries_the_uid_and_waits_for_it_to_show(void **state)
{
    struct world w;

    (void)state;
    synced_world(&w);
    answer_create(&w, "101");
    w.delete_mode = true;
    send_pvc(&w, "ADDED", "101", "");
    struct rco_http_call *c = fake_expect(&w.fake, "DELETE", "/persistentvolumeclaims/one");
    assert_non_null(strstr(c->body, "\"uid\":\"00000000-0000-4000-8000-0000000000ff\""));
    assert_non_null(strstr(c->body, "\"propagationPolicy\":\"Background\""));
    fake_answer(c, 200, "{\"kind\":\"Status\",\"status\":\"Success\"}");
    send_event(watch_of(&w, "/configmaps"), "MODIFIED", "one", "102", "w");
    rco_loop_virtual_run_for(w.loop, S);
    assert_int_equal(w.observed, 2); /* not deleted a second time from the old cache */
    send_pvc(&w, "MODIFIED", "105", ",\"deletionTimestamp\":\"2026-01-01T00:00:00Z\"");
    assert_int_equal(w.observed, 3);
    assert_null(fake_find(&w.fake, "DELETE", ""));
    world_release(&w);
}

static void test_A62_failed_observe_backs_off(void **state)
{
    struct world w;

    (void)state;
    world_init(&w, false);
    w.fail_observe = true;
    rco_autofree char *cm = cm_json("a", "one", "50", "v");
    sync_kind(&w, "/configmaps?", cm);
    sync_kind(&w, "/persistentvolumeclaims?", "");
    rco_loop_virtual_run_for(w.loop, 10 * S);
    assert_in_range(w.observed, 10, 13); /* 5 ms doubling */
    w.fail_observe = false;
    rco_loop_virtual_run_for(w.loop, 20 * S);
    assert_int_equal(patches_of(&w), 1);
    world_release(&w);
}

static void test_A62_success_forgets_the_failures(void **state)
{
    struct world w;
    rco_autofree char *cm = cm_json("a", "one", "50", "v");

    (void)state;
    world_init(&w, false);
    w.fail_observe = true;
    sync_kind(&w, "/configmaps?", cm);
    sync_kind(&w, "/persistentvolumeclaims?", "");
    rco_loop_virtual_run_for(w.loop, 10 * S); /* the next attempt would be 10 s away */
    w.fail_observe = false;
    rco_loop_virtual_run_for(w.loop, 20 * S);
    answer_create(&w, "101");
    send_pvc(&w, "ADDED", "101", "");
    w.fail_observe = true;
    unsigned before = w.observed;
    send_event(watch_of(&w, "/configmaps"), "MODIFIED", "one", "120", "w");
    rco_loop_virtual_run_for(w.loop, 100 * MS);
    assert_in_range(w.observed - before, 4, 7); /* 5, 10, 20, 40 ms again */
    world_release(&w);
}

static void test_requeue_after_comes_back(void **state)
{
    struct world w;

    (void)state;
    world_init(&w, false);
    w.requeue = 45 * S;
    rco_autofree char *cm = cm_json("a", "one", "50", "v");
    rco_autofree char *pvc = pvc_json("one", "60", "");
    sync_kind(&w, "/configmaps?", cm);
    sync_kind(&w, "/persistentvolumeclaims?", pvc);
    assert_int_equal(w.observed, 1);
    rco_loop_virtual_run_for(w.loop, 44 * S);
    assert_int_equal(w.observed, 1);
    rco_loop_virtual_run_for(w.loop, 2 * S);
    assert_int_equal(w.observed, 2);
    world_release(&w);
}

static void test_A30_sweep_looks_at_unsettled_objects_only(void **state)
{
    struct world w;
    rco_autofree char *one = cm_json("a", "one", "50", "v");
    rco_autofree char *two = cm_json("a", "two", "51", "settled");
    rco_autofree char *items = rco_asprintf("%s,%s", one, two);
    rco_autofree char *pvc1 = pvc_json("one", "60", "");
    rco_autofree char *pvc2 = pvc_json("two", "61", "");
    rco_autofree char *pvcs = rco_asprintf("%s,%s", pvc1, pvc2);

    (void)state;
    world_init(&w, false);
    sync_kind(&w, "/configmaps?", items);
    sync_kind(&w, "/persistentvolumeclaims?", pvcs);
    assert_int_equal(w.observed, 2);
    rco_loop_virtual_run_for(w.loop, 539 * S);
    assert_int_equal(w.observed, 2);
    rco_loop_virtual_run_for(w.loop, 122 * S);
    assert_int_equal(w.observed, 3);
    assert_string_equal(w.last_key, "a/one");
    world_release(&w);
}

/* More than wait in the queue at once, each with a claim by its name, and a claim without one. */
static void test_A30_the_first_walk_decides_each_key_once(void **state)
{
    enum { OBJECTS = 3000 };
    struct world w;
    rco_autobuf items = RCO_BUF_INIT, claims = RCO_BUF_INIT, text = RCO_BUF_INIT;

    (void)state;
    for (int i = 0; i < OBJECTS; i++) {
        rco_autofree char *name = rco_asprintf("object-%d", i);
        rco_autofree char *cm = cm_json("a", name, "50", "v");
        rco_autofree char *pvc = pvc_json(name, "60", "");

        rco_buf_addf(&items, "%s%s", i ? "," : "", cm);
        rco_buf_addf(&claims, "%s,", pvc);
    }
    rco_autofree char *lost = pvc_json("lost", "61", "");
    rco_buf_adds(&claims, lost);
    world_init(&w, false);
    sync_kind(&w, "/configmaps?", rco_buf_str(&items));
    sync_kind(&w, "/persistentvolumeclaims?", rco_buf_str(&claims));
    rco_loop_virtual_run_for(w.loop, 5 * S);
    assert_int_equal(w.observed, OBJECTS + 1);
    rco_metrics_expose(rco_manager_metrics(w.manager), &text);
    assert_non_null(strstr(rco_buf_str(&text),
                           "workqueue_adds_total{name=\"volume\",controller=\"volume\"} 3001\n"));
    world_release(&w);
}

static void test_A29_undecodable_object_is_left_alone_and_said_so(void **state)
{
    struct world w;

    (void)state;
    synced_world(&w);
    answer_create(&w, "101");
    send_pvc(&w, "ADDED", "101", "");
    unsigned before = w.observed;
    fake_data(
        watch_of(&w, "/configmaps"),
        "{\"type\":\"MODIFIED\",\"object\":{\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"one\","
        "\"namespace\":\"a\",\"resourceVersion\":\"110\"},\"data\":[1]}}\n");
    rco_loop_virtual_run_for(w.loop, 60 * S);
    assert_int_equal(w.observed, before);
    struct rco_http_call *e =
        fake_expect(&w.fake, "POST", "/apis/events.k8s.io/v1/namespaces/a/events");
    assert_non_null(strstr(e->body, "ObjectNotReadable"));
    send_event(watch_of(&w, "/configmaps"), "MODIFIED", "one", "111", "fine");
    rco_loop_virtual_settle(w.loop);
    assert_int_equal(w.observed, before + 1);
    world_release(&w);
}

static void
test_A68_key_that_was_decided_at_two_crashes_is_left_alone_until_it_changes(void **state)
{
    char path[] = "/tmp/rco-crash-XXXXXX";
    struct rco_error err = RCO_ERROR_INIT;
    int fd = mkstemp(path);
    struct world w;
    struct rco_key k = rco_key_of("a", "one");

    (void)state;
    close(fd);
    for (int i = 0; i < 2; i++) {
        g_guard = rco_crash_guard_open(path, &err);
        assert_non_null(g_guard);
        /* The same hash as the manager makes, and no end: the process died here. */
        rco_crash_guard_begin(g_guard, rco_hash("volume", 6, rco_key_hash(&k)));
        rco_crash_guard_close(g_guard);
    }
    g_guard = rco_crash_guard_open(path, &err);
    synced_world(&w);
    assert_int_equal(w.observed, 0);
    assert_non_null(strstr(fake_expect(&w.fake, "POST", "/events")->body, "Quarantined"));
    send_event(watch_of(&w, "/configmaps"), "MODIFIED", "one", "111", "changed");
    rco_loop_virtual_settle(w.loop);
    assert_int_equal(w.observed, 1);
    world_release(&w);
    rco_crash_guard_close(g_guard);
    g_guard = NULL;
    unlink(path);
}

static void test_A70_stop_lets_the_plan_under_way_finish(void **state)
{
    struct world w;

    (void)state;
    synced_world(&w);
    rco_manager_stop(w.manager, on_stopped, &w);
    rco_loop_virtual_run_for(w.loop, 5 * S);
    assert_int_equal(w.stopped, 0);
    answer_create(&w, "101");
    assert_int_equal(w.replies, 1);
    assert_int_equal(w.stopped, 1);
    assert_null(w.fake.open); /* watches too */
    world_release(&w);
}

static void test_A70_stop_gives_up_after_30_s(void **state)
{
    struct world w;

    (void)state;
    synced_world(&w);
    rco_manager_stop(w.manager, on_stopped, &w);
    rco_loop_virtual_run_for(w.loop, 31 * S);
    assert_int_equal(w.stopped, 1);
    world_release(&w);
}

static void lease_answer(struct world *w, const char *method, const char *holder, const char *rv)
{
    rco_autofree char *body = rco_asprintf(
        "{\"kind\":\"Lease\",\"metadata\":{\"name\":\"rco\",\"namespace\":\"op\","
        "\"resourceVersion\":\"%s\"},"
        "\"spec\":{\"holderIdentity\":\"%s\",\"leaseDurationSeconds\":30,\"leaseTransitions\":4}}",
        rv, holder);

    fake_answer(fake_expect(&w->fake, method, "/leases"), 200, body);
    rco_loop_virtual_settle(w->loop);
}

static void test_standby_keeps_caches_warm_and_decides_nothing(void **state)
{
    struct world w;
    rco_autofree char *cm = cm_json("a", "one", "50", "v");

    (void)state;
    world_init(&w, true);
    lease_answer(&w, "GET", "other", "1");
    sync_kind(&w, "/configmaps?", cm);
    sync_kind(&w, "/persistentvolumeclaims?", "");
    rco_loop_virtual_run_for(w.loop, 3 * S);
    assert_true(rco_manager_has_synced(w.manager));
    assert_int_equal(w.observed, 0);
    assert_false(rco_manager_is_leading(w.manager));
    world_release(&w);
}

static void test_A71_lease_is_released_last(void **state)
{
    struct world w;
    rco_autofree char *cm = cm_json("a", "one", "50", "v");

    (void)state;
    world_init(&w, true);
    lease_answer(&w, "GET", "", "1");
    lease_answer(&w, "PATCH", "me", "2");
    sync_kind(&w, "/configmaps?", cm);
    sync_kind(&w, "/persistentvolumeclaims?", "");
    assert_int_equal(patches_of(&w), 1);
    rco_manager_stop(w.manager, on_stopped, &w);
    rco_loop_virtual_run_for(w.loop, S);
    assert_null(fake_find(&w.fake, "PATCH", "/leases")); /* a plan is still under way */
    answer_create(&w, "101");
    assert_non_null(
        strstr(fake_expect(&w.fake, "PATCH", "/leases")->body, "\"holderIdentity\":\"\""));
    assert_int_equal(w.stopped, 0);
    lease_answer(&w, "PATCH", "", "3");
    assert_int_equal(w.stopped, 1);
    world_release(&w);
}

static void test_A93_loss_of_the_lease_ends_the_program_and_fences_writes(void **state)
{
    struct world w;
    rco_autofree char *cm = cm_json("a", "one", "50", "v");

    (void)state;
    world_init(&w, true);
    lease_answer(&w, "GET", "", "1");
    lease_answer(&w, "PATCH", "me", "2");
    sync_kind(&w, "/configmaps?", cm);
    sync_kind(&w, "/persistentvolumeclaims?", "");
    /* The process was stopped for 25 s: the lease may be somebody else's by now. */
    rco_loop_virtual_skip(w.loop, 25 * S);
    fake_fail(fake_expect(&w.fake, "POST", "/persistentvolumeclaims?"), RCO_ETIMEOUT);
    rco_loop_virtual_settle(w.loop);
    assert_int_equal(w.failed, 1);
    assert_false(rco_manager_is_leading(w.manager));
    assert_int_equal(patches_of(&w), 0);
    world_release(&w);
}

static void test_two_managers_in_one_process_share_nothing(void **state)
{
    struct world a, b;

    (void)state;
    synced_world(&a);
    struct setup first = g_setup;
    (void)first;
    answer_create(&a, "101");
    rco_manager_free(a.manager);
    synced_world(&b);
    assert_int_equal(b.replies, 0);
    assert_int_equal(patches_of(&b), 1);
    world_release(&b);
    rco_kube_client_free(a.client);
    fake_release(&a.fake);
    rco_loop_virtual_free(a.loop);
}

static void test_metrics_have_the_names_that_dashboards_know(void **state)
{
    struct world w;
    rco_autobuf text = RCO_BUF_INIT;
    static const char *const want[] = {
        "controller_runtime_reconcile_total{controller=\"volume\",result=\"success\"} 2\n",
        "controller_runtime_reconcile_errors_total{controller=\"volume\"} 0\n",
        "controller_runtime_active_workers{controller=\"volume\"} 0\n",
        "workqueue_depth{name=\"volume\",controller=\"volume\",priority=\"low\"} 0\n",
        "workqueue_adds_total{name=\"volume\",controller=\"volume\"} ",
        "leader_election_master_status{name=\"none\"} 1\n",
        "runtimecloud_writes_total{kind=\"PersistentVolumeClaim\",action=\"create\",code=\"\"} 1\n",
        "runtimecloud_informer_objects{kind=\"ConfigMap\"} 1\n",
        "controller_runtime_reconcile_time_seconds_bucket{controller=\"volume\",le=\"0.005\"} 2\n",
    };

    (void)state;
    synced_world(&w);
    answer_create(&w, "101");
    send_pvc(&w, "ADDED", "101", "");
    rco_metrics_expose(rco_manager_metrics(w.manager), &text);
    for (size_t i = 0; i < RCO_ARRAY_LEN(want); i++)
        if (!strstr(rco_buf_str(&text), want[i]))
            fail_msg("missing: %s in\n%s", want[i], rco_buf_str(&text));
    world_release(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_A31_nothing_is_decided_before_all_caches_are_complete),
        cmocka_unit_test(test_A31_caches_that_do_not_sync_end_the_program),
        cmocka_unit_test(test_A31_a_slow_sync_that_goes_on_is_waited_for),
        cmocka_unit_test(test_reply_comes_after_the_write_was_acknowledged),
        cmocka_unit_test(test_A78_key_waits_until_the_cache_shows_its_own_write),
        cmocka_unit_test(test_A78_bookmark_opens_the_gate_too),
        cmocka_unit_test(test_A78_write_that_never_shows_up_leads_to_a_list),
        cmocka_unit_test(test_outcome_of_a_create_reaches_the_next_observe),
        cmocka_unit_test(test_outcome_of_a_kind_that_is_not_watched_wakes_the_key),
        cmocka_unit_test(test_refused_create_is_told_and_not_repeated_hot),
        cmocka_unit_test(test_A74_A95_conflict_is_decided_again_soon),
        cmocka_unit_test(test_A41_lost_answer_is_read_back_before_the_next_write),
        cmocka_unit_test(test_A41_lost_answer_of_a_write_that_did_not_happen_is_repeated),
        cmocka_unit_test(test_A75_A87_A95_delete_carries_the_uid_and_waits_for_it_to_show),
        cmocka_unit_test(test_A62_failed_observe_backs_off),
        cmocka_unit_test(test_A62_success_forgets_the_failures),
        cmocka_unit_test(test_requeue_after_comes_back),
        cmocka_unit_test(test_A30_sweep_looks_at_unsettled_objects_only),
        cmocka_unit_test(test_A30_the_first_walk_decides_each_key_once),
        cmocka_unit_test(test_A29_undecodable_object_is_left_alone_and_said_so),
        cmocka_unit_test(
            test_A68_key_that_was_decided_at_two_crashes_is_left_alone_until_it_changes),
        cmocka_unit_test(test_A70_stop_lets_the_plan_under_way_finish),
        cmocka_unit_test(test_A70_stop_gives_up_after_30_s),
        cmocka_unit_test(test_standby_keeps_caches_warm_and_decides_nothing),
        cmocka_unit_test(test_A71_lease_is_released_last),
        cmocka_unit_test(test_A93_loss_of_the_lease_ends_the_program_and_fences_writes),
        cmocka_unit_test(test_two_managers_in_one_process_share_nothing),
        cmocka_unit_test(test_metrics_have_the_names_that_dashboards_know),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
