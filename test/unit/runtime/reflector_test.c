#include "runtime/reflector.h"

#include "api/zz_generated_types.h"
#include "fake.h"

#define KINDS "/configmaps"

struct world {
    struct rco_loop *loop;
    struct fake fake;
    struct rco_kube_client *client;
    struct rco_intern *intern;
    struct rco_store *store;
    struct rco_list_gate *gate;
    struct rco_reflector *r;
    unsigned adds, updates, deletes, synced, progress, bad, good, failed;
    char last_deleted[128], last_deleted_value[64], last_bad[128];
    struct rco_error last_error;
};

static void on_change(void *ctx, const void *old_obj, const void *new_obj)
{
    struct world *w = ctx;
    const struct rco_configmap *o = old_obj;

    if (!old_obj)
        w->adds++;
    else if (new_obj)
        w->updates++;
    else {
        w->deletes++;
        snprintf(w->last_deleted, sizeof(w->last_deleted), "%s", o->metadata.name);
        snprintf(w->last_deleted_value, sizeof(w->last_deleted_value), "%s",
                 rco_str_or_empty(rco_kv_get(o->data, o->n_data, "k")));
    }
}

static void on_synced(void *ctx)
{
    ((struct world *)ctx)->synced++;
}

static void on_progress(void *ctx)
{
    ((struct world *)ctx)->progress++;
}

static void on_bad(void *ctx, const struct rco_key *key, const struct rco_error *err)
{
    struct world *w = ctx;

    w->bad++;
    snprintf(w->last_bad, sizeof(w->last_bad), "%s/%s", key->ns, key->name);
    assert_true(*err->msg);
}

static void on_good(void *ctx, const struct rco_key *key)
{
    (void)key;
    ((struct world *)ctx)->good++;
}

static void on_failed(void *ctx, enum rco_reflector_state state, const struct rco_error *err)
{
    struct world *w = ctx;

    (void)state;
    w->failed++;
    w->last_error = *err;
}

static struct rco_reflector *reflector_of(struct world *w, enum rco_list_mode mode)
{
    const struct rco_reflector_options options = {
        .loop = w->loop,
        .client = w->client,
        .gate = w->gate,
        .store = w->store,
        .scope = {.kind = RCO_KIND_CONFIGMAP, .label_selector = "x=y"},
        .mode = mode,
        .handler = {.synced = on_synced,
                    .progress = on_progress,
                    .undecodable = on_bad,
                    .decodable = on_good,
                    .failed = on_failed,
                    .ctx = w},
    };

    return rco_reflector_new(&options);
}

static void world_init(struct world *w, enum rco_list_mode mode)
{
    memset(w, 0, sizeof(*w));
    w->loop = rco_loop_virtual_new(1);
    fake_init(&w->fake, w->loop);
    w->client = rco_kube_client_new(w->loop, &w->fake.transport, NULL);
    w->intern = rco_intern_new();
    w->store = rco_store_new(RCO_KIND_CONFIGMAP, w->intern);
    rco_store_add_handler(w->store, on_change, w);
    w->gate = rco_list_gate_new(w->loop);
    w->r = reflector_of(w, mode);
    rco_reflector_start(w->r);
    rco_loop_virtual_settle(w->loop);
}

static void world_release(struct world *w)
{
    rco_reflector_free(w->r);
    rco_list_gate_free(w->gate);
    rco_store_free(w->store);
    assert_int_equal(rco_intern_count(w->intern), 0); /* every reference was given back */
    rco_intern_free(w->intern);
    rco_kube_client_free(w->client);
    fake_release(&w->fake);
    rco_loop_virtual_free(w->loop);
}

/* A list of ConfigMaps "name:rv:value,..." */
static char *list_json(const char *rv, const char *token, const char *items)
{
    rco_autobuf b = RCO_BUF_INIT;
    rco_autofree char *copy = rco_strdup(items);
    char *save = NULL;
    bool first = true;

    rco_buf_addf(&b,
                 "{\"kind\":\"ConfigMapList\",\"apiVersion\":\"v1\",\"metadata\":{"
                 "\"resourceVersion\":\"%s\",\"continue\":\"%s\"},\"items\":[",
                 rv, token);
    for (char *item = strtok_r(copy, ",", &save); item; item = strtok_r(NULL, ",", &save)) {
        char *save2 = NULL, *name = strtok_r(item, ":", &save2), *irv = strtok_r(NULL, ":", &save2);
        rco_autofree char *object = cm_json("a", name, irv, strtok_r(NULL, ":", &save2));

        rco_buf_adds(&b, first ? "" : ",");
        rco_buf_adds(&b, object);
        first = false;
    }
    rco_buf_adds(&b, "]}");
    return rco_buf_take(&b);
}

static void answer_list(struct world *w, const char *rv, const char *token, const char *items)
{
    rco_autofree char *body = list_json(rv, token, items);
    struct rco_http_call *c = fake_expect(&w->fake, "GET", KINDS "?");

    assert_null(strstr(c->path, "watch="));
    fake_answer(c, 200, body);
    rco_loop_virtual_settle(w->loop);
}

static struct rco_http_call *watch_of(struct world *w)
{
    return fake_expect(&w->fake, "GET", "watch=true");
}

static struct rco_http_call *open_watch(struct world *w)
{
    struct rco_http_call *c = watch_of(w);

    fake_head(c, 200);
    return c;
}

/* The last version has expired: the reflector lists anew. */
static void expire(struct world *w)
{
    assert_false(fake_data(watch_of(w),
                           "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"status\":"
                           "\"Failure\",\"reason\":\"Expired\",\"code\":410}}\n"));
    rco_loop_virtual_settle(w->loop);
}

static const char *value_of(struct world *w, const char *name, struct rco_arena *a)
{
    const struct rco_configmap *c = rco_lister_get(w->store, "a", name, a);

    return c ? rco_kv_get(c->data, c->n_data, "k") : NULL;
}

/* --- lists --- */

static void test_A1_first_list_asks_for_the_most_recent_state(void **state)
{
    struct world w;

    (void)state;
    world_init(&w, RCO_LIST_PAGED);
    struct rco_http_call *c = fake_expect(&w.fake, "GET", KINDS "?");
    assert_null(strstr(c->path, "resourceVersion"));
    assert_non_null(strstr(c->path, "limit=500"));
    assert_non_null(strstr(c->path, "labelSelector=x%3Dy"));
    world_release(&w);
}

static void test_A2_relist_names_the_last_version(void **state)
{
    struct world w;

    (void)state;
    world_init(&w, RCO_LIST_PAGED);
    answer_list(&w, "10", "", "one:5:v");
    open_watch(&w);
    expire(&w);
    struct rco_http_call *c = fake_expect(&w.fake, "GET", KINDS "?");
    assert_non_null(strstr(c->path, "resourceVersion=10&resourceVersionMatch=NotOlderThan"));
    world_release(&w);
}

static void test_A3_expired_list_is_repeated_without_version(void **state)
{
    struct world w;

    (void)state;
    world_init(&w, RCO_LIST_PAGED);
    answer_list(&w, "10", "", "one:5:v");
    open_watch(&w);
    expire(&w);
    fake_status(fake_expect(&w.fake, "GET", "NotOlderThan"), 410, "Expired");
    rco_loop_virtual_settle(w.loop);
    assert_null(strstr(fake_expect(&w.fake, "GET", KINDS "?")->path, "resourceVersion"));
    answer_list(&w, "30", "", "two:20:v");
    assert_int_equal(rco_reflector_state(w.r), RCO_REFLECTOR_WATCHING);
    assert_string_equal(rco_store_rv(w.store), "30");
    world_release(&w);
}

static void test_A4_version_ahead_of_the_server_is_given_up(void **state)
{
    struct world w;

    (void)state;
    world_init(&w, RCO_LIST_PAGED);
    answer_list(&w, "10", "", "");
    open_watch(&w);
    expire(&w);
    fake_answer(fake_expect(&w.fake, "GET", "NotOlderThan"), 504,
                "{\"kind\":\"Status\",\"status\":\"Failure\",\"reason\":\"Timeout\",\"code\":504,"
                "\"message\":\"Too large resource version\",\"details\":{\"retryAfterSeconds\":1,"
                "\"causes\":[{\"reason\":\"ResourceVersionTooLarge\"}]}}");
    rco_loop_virtual_settle(w.loop);
    assert_null(strstr(fake_expect(&w.fake, "GET", KINDS "?")->path, "resourceVersion"));
    world_release(&w);
}

static void test_A20_pages_are_followed_and_no_object_is_lost(void **state)
{
    struct world w;

    (void)state;
    world_init(&w, RCO_LIST_PAGED);
    answer_list(&w, "10", "tok/1", "one:1:v,two:2:v");
    struct rco_http_call *c = fake_expect(&w.fake, "GET", KINDS "?");
    assert_non_null(strstr(c->path, "continue=tok%2F1"));
    assert_null(strstr(c->path, "resourceVersion="));
    assert_int_equal(w.synced, 0);
    answer_list(&w, "10", "", "three:3:v");
    assert_int_equal(w.synced, 1);
    assert_int_equal(rco_lister_size(w.store), 3);
    world_release(&w);
}

static void test_A20_expired_page_token_leads_to_one_list_without_pages(void **state)
{
    struct world w;

    (void)state;
    world_init(&w, RCO_LIST_PAGED);
    answer_list(&w, "10", "tok", "one:1:v");
    fake_status(fake_expect(&w.fake, "GET", "continue="), 410, "Expired");
    rco_loop_virtual_settle(w.loop);
    struct rco_http_call *c = fake_expect(&w.fake, "GET", KINDS "?");
    assert_null(strstr(c->path, "limit="));
    assert_null(strstr(c->path, "continue="));
    answer_list(&w, "20", "", "two:15:v");
    assert_int_equal(rco_lister_size(w.store), 1); /* "one" was of the list that was given up */
    assert_int_equal(w.deletes, 1);
    world_release(&w);
}

static void test_A21_A22_relist_updates_in_place_and_reports_missed_deletions(void **state)
{
    struct world w;
    rco_autoarena a = RCO_ARENA_INIT;

    (void)state;
    world_init(&w, RCO_LIST_PAGED);
    answer_list(&w, "10", "", "one:1:old,two:2:kept,three:3:v");
    open_watch(&w);
    expire(&w);
    rco_autofree char *body = list_json("20", "", "one:15:new,two:2:kept");
    struct rco_http_call *c = fake_expect(&w.fake, "GET", "NotOlderThan");
    fake_head(c, 200);
    body[strlen(body) - 2] = 0; /* the end of the list has not come yet */
    fake_data(c, body);
    assert_string_equal(value_of(&w, "one", &a), "new");
    assert_string_equal(value_of(&w, "three", &a), "v"); /* nothing is missing meanwhile */
    assert_string_equal(rco_store_rv(w.store), "10");
    fake_data(c, "]}");
    fake_end(c);
    assert_int_equal(w.updates, 1); /* "two" is the same: no notification */
    assert_int_equal(w.deletes, 1);
    assert_string_equal(w.last_deleted, "three");
    assert_string_equal(w.last_deleted_value, "v"); /* the last known state */
    assert_string_equal(rco_store_rv(w.store), "20");
    world_release(&w);
}

static void test_failed_relist_removes_nothing(void **state)
{
    struct world w;

    (void)state;
    world_init(&w, RCO_LIST_PAGED);
    answer_list(&w, "10", "", "one:1:v,two:2:v");
    open_watch(&w);
    expire(&w);
    answer_list(&w, "20", "tok", "one:1:v");
    fake_fail(fake_expect(&w.fake, "GET", "continue="), RCO_EUNAVAILABLE);
    assert_int_equal(rco_lister_size(w.store), 2);
    assert_int_equal(w.deletes, 0);
    assert_int_equal(rco_reflector_state(w.r), RCO_REFLECTOR_BACKOFF_LIST);
    rco_loop_virtual_run_for(w.loop, 4 * S);
    answer_list(&w, "30", "", "two:2:v");
    assert_int_equal(w.deletes, 1);
    assert_string_equal(w.last_deleted, "one");
    world_release(&w);
}

static void test_relists_of_different_kinds_take_turns(void **state)
{
    struct world w;

    (void)state;
    world_init(&w, RCO_LIST_PAGED);
    struct rco_store *store2 = rco_store_new(RCO_KIND_PVC, w.intern);
    const struct rco_reflector_options options = {.loop = w.loop,
                                                  .client = w.client,
                                                  .gate = w.gate,
                                                  .store = store2,
                                                  .scope = {.kind = RCO_KIND_PVC}};
    struct rco_reflector *second = rco_reflector_new(&options);
    rco_reflector_start(second);
    rco_loop_virtual_run_for(w.loop, S);
    assert_int_equal(rco_reflector_state(second), RCO_REFLECTOR_GATE);
    assert_null(fake_find(&w.fake, "GET", "persistentvolumeclaims"));
    answer_list(&w, "10", "", "");
    rco_loop_virtual_settle(w.loop);
    fake_expect(&w.fake, "GET", "persistentvolumeclaims");
    rco_reflector_free(second);
    rco_store_free(store2);
    world_release(&w);
}

/* --- watch --- */

static void test_A6_watch_asks_for_bookmarks_and_a_random_timeout(void **state)
{
    struct world w;

    (void)state;
    world_init(&w, RCO_LIST_PAGED);
    answer_list(&w, "10", "", "");
    struct rco_http_call *c = watch_of(&w);
    assert_non_null(strstr(c->path, "allowWatchBookmarks=true"));
    assert_non_null(strstr(c->path, "&resourceVersion=10"));
    int timeout = atoi(strstr(c->path, "timeoutSeconds=") + strlen("timeoutSeconds="));
    assert_in_range(timeout, 300, 600);
    assert_int_equal(c->deadline_ns, timeout * S + 10 * S); /* A35 */
    assert_int_equal(c->silence_ns, 150 * S);
    assert_int_equal(c->lane, RCO_LANE_WATCH);
    world_release(&w);
}

static void test_A9_A10_A26_version_advances_after_each_event_and_bookmark(void **state)
{
    struct world w;
    rco_autoarena a = RCO_ARENA_INIT;

    (void)state;
    world_init(&w, RCO_LIST_PAGED);
    answer_list(&w, "10", "", "one:1:v");
    struct rco_http_call *c = open_watch(&w);
    send_event(c, "ADDED", "two", "11", "x");
    assert_string_equal(rco_store_rv(w.store), "11");
    send_event(c, "MODIFIED", "one", "12", "changed");
    assert_string_equal(rco_store_rv(w.store), "12");
    assert_string_equal(value_of(&w, "one", &a), "changed");
    send_bookmark(c, "99", NULL);
    assert_string_equal(rco_store_rv(w.store), "99");
    world_release(&w);
}

static void test_A12_A13_A14_expired_in_the_stream_leads_to_a_list_from_the_last_version(void **state)
{
    struct world w;

    (void)state;
    world_init(&w, RCO_LIST_PAGED);
    answer_list(&w, "10", "", "one:1:v");
    struct rco_http_call *c = open_watch(&w);
    send_event(c, "MODIFIED", "one", "12", "x");
    assert_false(
        fake_data(c, "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"status\":\"Failure\","
                     "\"reason\":\"Expired\",\"code\":410,\"message\":\"too old\"}}\n"));
    rco_loop_virtual_settle(w.loop);
    fake_expect(&w.fake, "GET", "resourceVersion=12&resourceVersionMatch=NotOlderThan");
    assert_int_equal(rco_lister_size(w.store), 1); /* the Status was not taken for an object */
    world_release(&w);
}

static void test_A13_watch_refused_with_410_does_not_loop_hot(void **state)
{
    struct world w;

    (void)state;
    world_init(&w, RCO_LIST_PAGED);
    answer_list(&w, "10", "", "");
    for (int i = 0; i < 100; i++) {
        struct rco_http_call *c = fake_find(&w.fake, "GET", "watch=true");
        if (c)
            fake_status(c, 410, "Expired");
        else if (fake_find(&w.fake, "GET", KINDS "?"))
            answer_list(&w, "10", "", "");
        rco_loop_virtual_run_for(w.loop, 100 * MS);
    }
    /* 10 s: at most the first at once and then 0.8 s, 1.6 s, 3.2 s, ... */
    assert_in_range(rco_reflector_counters(w.r)->lists, 2, 8);
    world_release(&w);
}

static void test_A15_clean_end_goes_on_without_a_list(void **state)
{
    struct world w;

    (void)state;
    world_init(&w, RCO_LIST_PAGED);
    answer_list(&w, "10", "", "one:1:v");
    struct rco_http_call *c = open_watch(&w);
    send_event(c, "MODIFIED", "one", "15", "x");
    fake_end(c);
    rco_loop_virtual_settle(w.loop);
    assert_non_null(strstr(watch_of(&w)->path, "resourceVersion=15"));
    assert_int_equal(rco_reflector_counters(w.r)->lists, 1);
    assert_int_equal(w.failed, 0);
    world_release(&w);
}

static void test_A16_cut_in_the_middle_of_an_event_resumes_before_it(void **state)
{
    struct world w;
    rco_autoarena a = RCO_ARENA_INIT;

    (void)state;
    world_init(&w, RCO_LIST_PAGED);
    answer_list(&w, "10", "", "one:1:v");
    struct rco_http_call *c = open_watch(&w);
    send_event(c, "MODIFIED", "one", "15", "x");
    fake_data(
        c,
        "{\"type\":\"MODIFIED\",\"object\":{\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"one\"");
    fake_fail(c, RCO_EUNAVAILABLE);
    rco_loop_virtual_settle(w.loop);
    assert_non_null(strstr(watch_of(&w)->path, "resourceVersion=15"));
    assert_string_equal(value_of(&w, "one", &a), "x");
    world_release(&w);
}

static void test_A8_A35_silence_is_no_error(void **state)
{
    struct world w;

    (void)state;
    world_init(&w, RCO_LIST_PAGED);
    answer_list(&w, "10", "", "");
    struct rco_http_call *c = open_watch(&w);
    rco_loop_virtual_run_for(w.loop, 150 * S);
    fake_fail(c, RCO_ETIMEOUT);
    rco_loop_virtual_settle(w.loop);
    assert_non_null(strstr(watch_of(&w)->path, "resourceVersion=10"));
    assert_int_equal(w.failed, 0);
    world_release(&w);
}

static void test_A17_very_short_watch_backs_off(void **state)
{
    struct world w;

    (void)state;
    world_init(&w, RCO_LIST_PAGED);
    answer_list(&w, "10", "", "");
    fake_end(open_watch(&w));
    rco_loop_virtual_run_for(w.loop, 700 * MS);
    assert_int_equal(rco_reflector_state(w.r), RCO_REFLECTOR_BACKOFF_WATCH);
    assert_null(fake_find(&w.fake, "GET", "watch=true"));
    rco_loop_virtual_run_for(w.loop, S);
    watch_of(&w);
    world_release(&w);
}

static void test_A18_overload_retries_the_watch_and_never_lists(void **state)
{
    struct world w;

    (void)state;
    world_init(&w, RCO_LIST_PAGED);
    answer_list(&w, "10", "", "");
    fake_answer_with(watch_of(&w),
                     &(struct rco_http_response){.status = 429, .retry_after_ms = 7000}, "{}");
    rco_loop_virtual_run_for(w.loop, 6900 * MS);
    assert_null(fake_find(&w.fake, "GET", KINDS)); /* Retry-After is obeyed */
    rco_loop_virtual_run_for(w.loop, 200 * MS);
    fake_fail(watch_of(&w), RCO_EUNAVAILABLE); /* refused */
    rco_loop_virtual_run_for(w.loop, 10 * S);
    watch_of(&w);
    assert_int_equal(rco_reflector_counters(w.r)->lists, 1);
    world_release(&w);
}

static void test_A19_backoff_doubles_to_30_s_with_jitter_and_is_forgotten(void **state)
{
    struct world w;
    rco_mono last;
    int64_t waits[12];
    bool differ = false;

    (void)state;
    world_init(&w, RCO_LIST_PAGED);
    last = rco_loop_now(w.loop);
    for (int i = 0; i < 12; i++) {
        fake_fail(fake_expect(&w.fake, "GET", KINDS), RCO_EUNAVAILABLE);
        while (!fake_find(&w.fake, "GET", KINDS))
            rco_loop_virtual_run_for(w.loop, 10 * MS);
        waits[i] = rco_loop_now(w.loop) - last;
        last = rco_loop_now(w.loop);
    }
    for (int i = 0; i < 12; i++) {
        int64_t base = i < 6 ? (800 * MS) << i : 30 * S;

        if (base > 30 * S)
            base = 30 * S;
        assert_in_range(waits[i], base, 2 * base + 20 * MS);
        differ = differ || (i > 6 && llabs(waits[i] - waits[i - 1]) > 100 * MS);
    }
    assert_true(differ); /* the jitter is not ignored */
    answer_list(&w, "10", "", "");
    open_watch(&w);
    rco_loop_virtual_run_for(w.loop, 121 * S);
    fake_fail(watch_of(&w), RCO_EUNAVAILABLE);
    rco_loop_virtual_settle(w.loop);
    fake_fail(watch_of(&w), RCO_EUNAVAILABLE); /* the resumed watch is refused */
    rco_loop_virtual_run_for(w.loop, 1700 * MS);
    watch_of(&w);
    world_release(&w);
}

static void test_A27_deletion_removes_and_advances(void **state)
{
    struct world w;

    (void)state;
    world_init(&w, RCO_LIST_PAGED);
    answer_list(&w, "10", "", "one:1:v,two:2:v");
    struct rco_http_call *c = open_watch(&w);
    send_event(c, "DELETED", "one", "20", "v");
    assert_false(rco_lister_has(w.store, "a", "one"));
    assert_string_equal(rco_store_rv(w.store), "20");
    assert_int_equal(w.deletes, 1);
    send_event(c, "DELETED", "never-seen", "21", "v");
    assert_int_equal(w.deletes, 1);
    assert_string_equal(rco_store_rv(w.store), "21");
    world_release(&w);
}

static void test_A28_unknown_event_types_are_passed_over(void **state)
{
    struct world w;

    (void)state;
    world_init(&w, RCO_LIST_PAGED);
    answer_list(&w, "10", "", "");
    struct rco_http_call *c = open_watch(&w);
    assert_true(send_event(c, "SURPRISE", "one", "11", "v"));
    assert_true(send_event(c, "ADDED", "two", "12", "v"));
    assert_int_equal(rco_lister_size(w.store), 1);
    assert_int_equal(rco_reflector_counters(w.r)->skipped_events, 1);
    world_release(&w);
}

static void test_A29_undecodable_object_stops_nothing_and_keeps_its_last_state(void **state)
{
    struct world w;
    rco_autoarena a = RCO_ARENA_INIT;
    const char *bad =
        "{\"type\":\"MODIFIED\",\"object\":{\"kind\":\"ConfigMap\",\"metadata\":{\"name\":"
        "\"one\",\"namespace\":\"a\",\"resourceVersion\":\"14\"},\"data\":[1,2]}}\n";

    (void)state;
    world_init(&w, RCO_LIST_PAGED);
    answer_list(&w, "10", "", "one:1:v");
    struct rco_http_call *c = open_watch(&w);
    assert_true(fake_data(c, bad));
    assert_int_equal(w.bad, 1);
    assert_string_equal(w.last_bad, "a/one");
    assert_string_equal(value_of(&w, "one", &a), "v");
    assert_string_equal(rco_store_rv(w.store), "14");
    assert_true(send_event(c, "ADDED", "two", "15", "v"));
    assert_true(rco_lister_has(w.store, "a", "two"));
    /* Also through a relist it is not taken for deleted. */
    expire(&w);
    fake_answer(fake_expect(&w.fake, "GET", "NotOlderThan"), 200,
                "{\"kind\":\"ConfigMapList\",\"metadata\":{\"resourceVersion\":\"30\"},\"items\":[{"
                "\"metadata\":{\"name\":\"one\",\"namespace\":\"a\",\"resourceVersion\":\"14\"},"
                "\"data\":[1]}]}");
    assert_true(rco_lister_has(w.store, "a", "one"));
    assert_false(rco_lister_has(w.store, "a", "two"));
    rco_loop_virtual_settle(w.loop);
    c = open_watch(&w);
    send_event(c, "MODIFIED", "one", "31", "fine");
    assert_int_equal(w.good, 1);
    world_release(&w);
}

/* --- streaming lists --- */

static void test_A23_streaming_list_ends_with_its_mark_and_goes_on_as_the_watch(void **state)
{
    struct world w;

    (void)state;
    world_init(&w, RCO_LIST_STREAMING);
    struct rco_http_call *c = open_watch(&w);
    assert_non_null(strstr(c->path, "sendInitialEvents=true&resourceVersionMatch=NotOlderThan"));
    assert_null(strstr(c->path, "resourceVersion="));
    send_event(c, "ADDED", "one", "9", "v");
    send_event(c, "ADDED", "two", "5", "v");
    send_bookmark(c, "8", "{\"k8s.io/initial-events-end\":\"false\"}"); /* the value counts */
    send_bookmark(c, "8", NULL);
    assert_int_equal(w.synced, 0);
    send_bookmark(c, "12", INITIAL_END);
    assert_int_equal(w.synced, 1);
    assert_string_equal(rco_store_rv(w.store), "12");
    assert_int_equal(rco_reflector_state(w.r), RCO_REFLECTOR_WATCHING);
    send_event(c, "MODIFIED", "two", "13", "x");
    assert_string_equal(rco_store_rv(w.store), "13");
    assert_int_equal(w.fake.started, 1);
    world_release(&w);
}

static void test_A11_initial_events_do_not_move_the_version(void **state)
{
    struct world w;

    (void)state;
    world_init(&w, RCO_LIST_STREAMING);
    struct rco_http_call *c = open_watch(&w);
    send_event(c, "ADDED", "one", "900", "v");
    assert_string_equal(rco_store_rv(w.store), "");
    fake_fail(c, RCO_EUNAVAILABLE);
    rco_loop_virtual_settle(w.loop);
    /* Nothing may be resumed from 900: "two" at 5 would be lost. */
    struct rco_http_call *again = fake_expect(&w.fake, "GET", KINDS "?");
    assert_null(strstr(again->path, "900"));
    world_release(&w);
}

static void test_A24_refused_streaming_list_falls_back_for_this_round(void **state)
{
    struct world w;

    (void)state;
    world_init(&w, RCO_LIST_STREAMING);
    fake_status(watch_of(&w), 422, "Invalid");
    rco_loop_virtual_settle(w.loop);
    answer_list(&w, "10", "", "one:1:v");
    assert_int_equal(w.synced, 1);
    open_watch(&w);
    expire(&w);
    assert_non_null(strstr(watch_of(&w)->path, "sendInitialEvents"));
    world_release(&w);
}

static void test_A24_overload_is_no_reason_to_fall_back(void **state)
{
    struct world w;

    (void)state;
    world_init(&w, RCO_LIST_STREAMING);
    fake_status(watch_of(&w), 429, "TooManyRequests");
    rco_loop_virtual_run_for(w.loop, 2 * S);
    assert_non_null(strstr(fake_expect(&w.fake, "GET", KINDS)->path, "sendInitialEvents"));
    world_release(&w);
}

static void test_A25_streaming_list_without_end_mark_is_given_up_for_good(void **state)
{
    struct world w;

    (void)state;
    world_init(&w, RCO_LIST_STREAMING);
    struct rco_http_call *c = open_watch(&w);
    rco_loop_virtual_run_for(w.loop, 50 * S);
    send_event(c, "ADDED", "one", "9", "v");
    for (int i = 0; i < 5; i++) {
        rco_loop_virtual_run_for(w.loop, 11 * S);
        send_bookmark(c, "9", NULL); /* is no progress */
        assert_int_equal(rco_reflector_state(w.r), RCO_REFLECTOR_STREAMING);
    }
    rco_loop_virtual_run_for(w.loop, 6 * S);
    assert_int_equal(w.last_error.code, RCO_ETIMEOUT);
    answer_list(&w, "10", "", "one:9:v");
    assert_int_equal(w.synced, 1);
    open_watch(&w);
    expire(&w);
    assert_null(strstr(fake_expect(&w.fake, "GET", KINDS)->path, "sendInitialEvents"));
    assert_int_equal(rco_reflector_counters(w.r)->fallbacks, 1);
    world_release(&w);
}

/* --- life --- */

static void test_relist_on_request_reads_the_most_recent_state(void **state)
{
    struct world w;

    (void)state;
    world_init(&w, RCO_LIST_PAGED);
    answer_list(&w, "10", "", "one:1:v");
    open_watch(&w);
    rco_reflector_relist(w.r);
    rco_loop_virtual_settle(w.loop);
    assert_null(strstr(fake_expect(&w.fake, "GET", KINDS "?")->path, "resourceVersion"));
    answer_list(&w, "40", "", "one:35:v");
    assert_string_equal(rco_store_rv(w.store), "40");
    world_release(&w);
}

static void test_stop_is_silent_and_start_goes_on(void **state)
{
    struct world w;

    (void)state;
    world_init(&w, RCO_LIST_PAGED);
    answer_list(&w, "10", "", "one:1:v");
    open_watch(&w);
    rco_reflector_stop(w.r);
    assert_null(w.fake.open);
    rco_loop_virtual_run_for(w.loop, 700 * S);
    assert_null(w.fake.open);
    rco_reflector_start(w.r);
    rco_loop_virtual_settle(w.loop);
    fake_expect(&w.fake, "GET", "resourceVersion=10");
    assert_int_equal(rco_lister_size(w.store), 1);
    world_release(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_A1_first_list_asks_for_the_most_recent_state),
        cmocka_unit_test(test_A2_relist_names_the_last_version),
        cmocka_unit_test(test_A3_expired_list_is_repeated_without_version),
        cmocka_unit_test(test_A4_version_ahead_of_the_server_is_given_up),
        cmocka_unit_test(test_A6_watch_asks_for_bookmarks_and_a_random_timeout),
        cmocka_unit_test(test_A8_A35_silence_is_no_error),
        cmocka_unit_test(test_A9_A10_A26_version_advances_after_each_event_and_bookmark),
        cmocka_unit_test(test_A11_initial_events_do_not_move_the_version),
        cmocka_unit_test(test_A12_A13_A14_expired_in_the_stream_leads_to_a_list_from_the_last_version),
        cmocka_unit_test(test_A13_watch_refused_with_410_does_not_loop_hot),
        cmocka_unit_test(test_A15_clean_end_goes_on_without_a_list),
        cmocka_unit_test(test_A16_cut_in_the_middle_of_an_event_resumes_before_it),
        cmocka_unit_test(test_A17_very_short_watch_backs_off),
        cmocka_unit_test(test_A18_overload_retries_the_watch_and_never_lists),
        cmocka_unit_test(test_A19_backoff_doubles_to_30_s_with_jitter_and_is_forgotten),
        cmocka_unit_test(test_A20_pages_are_followed_and_no_object_is_lost),
        cmocka_unit_test(test_A20_expired_page_token_leads_to_one_list_without_pages),
        cmocka_unit_test(test_A21_A22_relist_updates_in_place_and_reports_missed_deletions),
        cmocka_unit_test(test_A23_streaming_list_ends_with_its_mark_and_goes_on_as_the_watch),
        cmocka_unit_test(test_A24_refused_streaming_list_falls_back_for_this_round),
        cmocka_unit_test(test_A24_overload_is_no_reason_to_fall_back),
        cmocka_unit_test(test_A25_streaming_list_without_end_mark_is_given_up_for_good),
        cmocka_unit_test(test_A27_deletion_removes_and_advances),
        cmocka_unit_test(test_A28_unknown_event_types_are_passed_over),
        cmocka_unit_test(test_A29_undecodable_object_stops_nothing_and_keeps_its_last_state),
        cmocka_unit_test(test_failed_relist_removes_nothing),
        cmocka_unit_test(test_relists_of_different_kinds_take_turns),
        cmocka_unit_test(test_relist_on_request_reads_the_most_recent_state),
        cmocka_unit_test(test_stop_is_silent_and_start_goes_on),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
