#include "manager_world.h"

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

/* The other gave its lease back; AGE_S before that something last came from the API server. */
static void elect_after(struct world *w, int64_t age_s)
{
    rco_autofree char *cm = cm_json("a", "one", "50", "v");

    world_init(w, true);
    lease_answer(w, "GET", "other", "1");
    sync_kind(w, "/configmaps?", cm);
    sync_kind(w, "/persistentvolumeclaims?", "");
    watch_of(w, "/configmaps");
    watch_of(w, "/persistentvolumeclaims");
    for (int64_t t = 0; t < age_s; t++) {
        rco_autofree char *rv = rco_asprintf("%d", 10 + (int)t);

        rco_loop_virtual_run_for(w->loop, S);
        if (fake_find(&w->fake, "GET", "/leases"))
            lease_answer(w, "GET", "other", rv);
    }
    while (!fake_find(&w->fake, "PATCH", "/leases")) {
        rco_loop_virtual_run_for(w->loop, 10 * MS);
        if (fake_find(&w->fake, "GET", "/leases"))
            lease_answer(w, "GET", "", "200");
    }
    lease_answer(w, "PATCH", "me", "201");
}

static void test_A31_a_standby_that_follows_leads_at_once(void **state)
{
    struct world w;

    (void)state;
    elect_after(&w, 80);
    assert_int_equal(w.leading, 1);
    assert_null(fake_find(&w.fake, "GET", "limit="));
    world_release(&w);
}

static void test_A31_a_standby_with_old_caches_lists_before_it_leads(void **state)
{
    struct world w;

    (void)state;
    elect_after(&w, 91);
    assert_int_equal(w.leading, 0);
    sync_kind(&w, "limit=500", "");
    assert_int_equal(w.leading, 0);
    assert_int_equal(w.observed, 0);
    sync_kind(&w, "limit=500", "");
    assert_int_equal(w.leading, 1);
    assert_int_equal(w.observed, 0); /* the object is no longer there */
    world_release(&w);
}

static void test_A31_old_caches_are_not_listed_without_end(void **state)
{
    struct world w;
    struct rco_http_call *list;
    unsigned lists = 0;

    (void)state;
    elect_after(&w, 91);
    for (int i = 0; i < 40 && !w.failed; i++) {
        for (; (list = fake_find(&w.fake, "GET", "limit=")); lists++)
            fake_answer(list, 500, "{}");
        rco_loop_virtual_run_for(w.loop, 4 * S);
        if (fake_find(&w.fake, "PATCH", "/leases"))
            lease_answer(&w, "PATCH", "me", "6");
    }
    assert_int_equal(w.leading, 0);
    assert_int_equal(w.failed, 1); /* the other replica may do better */
    assert_non_null(strstr(w.why, "configmaps ("));
    assert_in_range(lists, 4, 20);
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

static void on_errand(void *ctx, const struct rco_execution_report *report)
{
    assert_int_equal(report->result, RCO_EXECUTION_DONE);
    ++*(int *)ctx;
}

/* A plan that is no reconciler's, under way when the stop is asked for. */
static struct rco_errand *begin_errand(struct world *w, struct rco_plan *plan, int *ret_done)
{
    rco_autobuf body = RCO_BUF_INIT;

    world_init(w, true);
    lease_answer(w, "GET", "", "1");
    lease_answer(w, "PATCH", "me", "2");
    sync_kind(w, "/configmaps?", "");
    sync_kind(w, "/persistentvolumeclaims?", "");
    body_of("PersistentVolumeClaim", "a", "one", &body);
    rco_plan_create(plan, RCO_KIND_PVC, "a", "one", &body, RCO_EXISTS_OK);
    return rco_manager_execute(w->manager, plan, on_errand, ret_done);
}

static void test_A71_lease_is_released_after_the_gateway_has_written(void **state)
{
    struct world w;
    rco_autoarena a = RCO_ARENA_INIT;
    struct rco_plan plan;
    int done = 0;

    (void)state;
    rco_plan_init(&plan, &a);
    begin_errand(&w, &plan, &done);
    rco_manager_stop(w.manager, on_stopped, &w);
    rco_loop_virtual_run_for(w.loop, S);
    assert_null(fake_find(&w.fake, "PATCH", "/leases"));
    answer_create(&w, "101");
    assert_int_equal(done, 1);
    lease_answer(&w, "PATCH", "", "3");
    assert_int_equal(w.stopped, 1);
    world_release(&w);
}

static void test_A70_stop_gives_a_write_of_the_gateway_up_after_30_s(void **state)
{
    struct world w;
    rco_autoarena a = RCO_ARENA_INIT;
    struct rco_plan plan;
    struct rco_errand *errand;
    int done = 0;

    (void)state;
    rco_plan_init(&plan, &a);
    errand = begin_errand(&w, &plan, &done);
    rco_manager_stop(w.manager, on_stopped, &w);
    for (int i = 0; i < 36; i++) {
        struct rco_http_call *c = fake_find(&w.fake, "PATCH", "/leases");

        if (c)
            lease_answer(&w, "PATCH", strstr(c->body, "\"holderIdentity\":\"\"") ? "" : "me", "3");
        assert_int_equal(w.stopped, i > 30);
        rco_loop_virtual_run_for(w.loop, S);
    }
    assert_int_equal(w.stopped, 1);
    assert_int_equal(done, 0);
    rco_errand_cancel(errand);
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
        cmocka_unit_test(test_A31_a_standby_that_follows_leads_at_once),
        cmocka_unit_test(test_A31_a_standby_with_old_caches_lists_before_it_leads),
        cmocka_unit_test(test_A31_old_caches_are_not_listed_without_end),
        cmocka_unit_test(test_A71_lease_is_released_last),
        cmocka_unit_test(test_A71_lease_is_released_after_the_gateway_has_written),
        cmocka_unit_test(test_A70_stop_gives_a_write_of_the_gateway_up_after_30_s),
        cmocka_unit_test(test_A93_loss_of_the_lease_ends_the_program_and_fences_writes),
        cmocka_unit_test(test_two_managers_in_one_process_share_nothing),
        cmocka_unit_test(test_metrics_have_the_names_that_dashboards_know),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
