#include "reflector_world.h"

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

static void test_list_that_is_expired_again_waits(void **state)
{
    struct world w;

    (void)state;
    world_init(&w, RCO_LIST_PAGED);
    fake_status(fake_expect(&w.fake, "GET", KINDS "?"), 410, "Expired");
    rco_loop_virtual_settle(w.loop);
    fake_status(fake_expect(&w.fake, "GET", KINDS "?"), 410, "Expired");
    rco_loop_virtual_settle(w.loop);
    assert_int_equal(rco_reflector_state(w.r), RCO_REFLECTOR_BACKOFF_LIST);
    world_release(&w);
}

/* Found by test/models/reflector.pml. */
static void test_relist_after_half_a_list_takes_nothing_back(void **state)
{
    struct world w;

    (void)state;
    world_init(&w, RCO_LIST_PAGED);
    answer_list(&w, "10", "", "one:1:old");
    open_watch(&w);
    expire(&w);
    answer_list(&w, "20", "tok", "one:15:new");
    fake_fail(fake_expect(&w.fake, "GET", "continue="), RCO_EUNAVAILABLE);
    rco_loop_virtual_run_for(w.loop, 4 * S);
    /* "Not older than 10" could bring "old" again, from a server that lags. */
    assert_null(strstr(fake_expect(&w.fake, "GET", KINDS "?")->path, "resourceVersion"));
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_A1_first_list_asks_for_the_most_recent_state),
        cmocka_unit_test(test_A2_relist_names_the_last_version),
        cmocka_unit_test(test_A3_expired_list_is_repeated_without_version),
        cmocka_unit_test(test_A4_version_ahead_of_the_server_is_given_up),
        cmocka_unit_test(test_A6_watch_asks_for_bookmarks_and_a_random_timeout),
        cmocka_unit_test(test_A20_pages_are_followed_and_no_object_is_lost),
        cmocka_unit_test(test_A20_expired_page_token_leads_to_one_list_without_pages),
        cmocka_unit_test(test_A21_A22_relist_updates_in_place_and_reports_missed_deletions),
        cmocka_unit_test(test_failed_relist_removes_nothing),
        cmocka_unit_test(test_list_that_is_expired_again_waits),
        cmocka_unit_test(test_relist_after_half_a_list_takes_nothing_back),
        cmocka_unit_test(test_relists_of_different_kinds_take_turns),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
