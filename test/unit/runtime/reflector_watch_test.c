#include "reflector_world.h"

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

static void
test_A12_A13_A14_expired_in_the_stream_leads_to_a_list_from_the_last_version(void **state)
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

static void test_A29_object_without_a_readable_name_is_asked_for_again_once(void **state)
{
    struct world w;
    const char *spoiled = "{\"type\":\"MODIFIED\",\"object\":{\"kind\":\"ConfigMap\",\"metadata\":{"
                          "\"name\":\"o\001e\",\"namespace\":\"a\",\"resourceVersion\":\"14\"}}}\n";

    (void)state;
    world_init(&w, RCO_LIST_PAGED);
    answer_list(&w, "10", "", "one:1:v");
    struct rco_http_call *c = open_watch(&w);
    assert_true(send_event(c, "MODIFIED", "one", "12", "x"));
    assert_false(fake_data(c, spoiled));
    rco_loop_virtual_run_for(w.loop, 2000 * MS);
    assert_non_null(strstr(watch_of(&w)->path, "resourceVersion=12")); /* the change comes again */
    c = open_watch(&w);
    assert_true(fake_data(c, spoiled)); /* it is the object: passed over */
    assert_true(send_event(c, "ADDED", "two", "15", "v"));
    assert_string_equal(rco_store_rv(w.store), "15");
    world_release(&w);
}

static void test_A29_list_with_an_unreadable_object_is_asked_for_again_once(void **state)
{
    const char *list =
        "{\"kind\":\"ConfigMapList\",\"metadata\":{\"resourceVersion\":\"30\"},\"items\":[{"
        "\"metadata\":{\"name\":[]}}]}";
    struct world w;

    (void)state;
    world_init(&w, RCO_LIST_PAGED);
    fake_answer(fake_expect(&w.fake, "GET", KINDS "?"), 200, list);
    rco_loop_virtual_run_for(w.loop, 2000 * MS);
    assert_int_equal(w.failed, 1);
    fake_answer(fake_expect(&w.fake, "GET", KINDS "?"), 200, list);
    rco_loop_virtual_settle(w.loop);
    assert_int_equal(w.failed, 1);
    assert_non_null(watch_of(&w));
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
        cmocka_unit_test(test_A8_A35_silence_is_no_error),
        cmocka_unit_test(test_A9_A10_A26_version_advances_after_each_event_and_bookmark),
        cmocka_unit_test(test_A11_initial_events_do_not_move_the_version),
        cmocka_unit_test(
            test_A12_A13_A14_expired_in_the_stream_leads_to_a_list_from_the_last_version),
        cmocka_unit_test(test_A13_watch_refused_with_410_does_not_loop_hot),
        cmocka_unit_test(test_A15_clean_end_goes_on_without_a_list),
        cmocka_unit_test(test_A16_cut_in_the_middle_of_an_event_resumes_before_it),
        cmocka_unit_test(test_A17_very_short_watch_backs_off),
        cmocka_unit_test(test_A18_overload_retries_the_watch_and_never_lists),
        cmocka_unit_test(test_A19_backoff_doubles_to_30_s_with_jitter_and_is_forgotten),
        cmocka_unit_test(test_A23_streaming_list_ends_with_its_mark_and_goes_on_as_the_watch),
        cmocka_unit_test(test_A24_refused_streaming_list_falls_back_for_this_round),
        cmocka_unit_test(test_A24_overload_is_no_reason_to_fall_back),
        cmocka_unit_test(test_A25_streaming_list_without_end_mark_is_given_up_for_good),
        cmocka_unit_test(test_A27_deletion_removes_and_advances),
        cmocka_unit_test(test_A28_unknown_event_types_are_passed_over),
        cmocka_unit_test(test_A29_undecodable_object_stops_nothing_and_keeps_its_last_state),
        cmocka_unit_test(test_A29_object_without_a_readable_name_is_asked_for_again_once),
        cmocka_unit_test(test_A29_list_with_an_unreadable_object_is_asked_for_again_once),
        cmocka_unit_test(test_relist_on_request_reads_the_most_recent_state),
        cmocka_unit_test(test_stop_is_silent_and_start_goes_on),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
