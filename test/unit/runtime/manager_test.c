#include "manager_world.h"

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
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
