/* Actions that look at the API server before they go on. */
#include "executor_world.h"

/* Plans the deletion of what stands under the name x, if it is the ConfigMap with "v". */
static void plan_delete_same(struct world *w)
{
    const struct rco_meta x = {.ns = "a", .name = "x", .uid = "uid-x", .resource_version = "33"};
    rco_autofree char *text = cm_json("a", "x", "33", "v");
    rco_autobuf body = RCO_BUF_INIT;

    rco_buf_adds(&body, text);
    rco_plan_delete_same(&w->plan, RCO_KIND_CONFIGMAP, &x, &body);
    plan_reply(w);
    run(w);
}

static void test_A76_what_is_not_recorded_is_compared_before_it_is_deleted(void **state)
{
    struct world w;

    (void)state;
    world_init(&w);
    plan_delete_same(&w);
    ok(&w, "GET", "/configmaps/x", "x", "33");
    assert_non_null(strstr(fake_expect(&w.fake, "DELETE", "/configmaps/x")->body, "uid-x"));
    ok(&w, "DELETE", "/configmaps/x", "x", "34");
    assert_int_equal(w.result, RCO_EXECUTION_DONE);
    assert_int_equal(w.replies, 1);
    world_release(&w);
}

static void test_A76_foreign_object_under_our_name_is_not_deleted(void **state)
{
    struct world w;
    rco_autofree char *body = cm_json("a", "x", "33", "something else");

    (void)state;
    world_init(&w);
    plan_delete_same(&w);
    fake_answer(fake_expect(&w.fake, "GET", "/configmaps/x"), 200, body);
    rco_loop_virtual_settle(w.loop);
    assert_int_equal(w.result, RCO_EXECUTION_REFUSED);
    assert_int_equal(w.outcomes.items[0].type, RCO_OUTCOME_FOREIGN);
    assert_string_equal(w.outcomes.items[0].message, "data.k: differs");
    assert_int_equal(w.writes, 0);
    assert_int_equal(w.replies, 0);
    world_release(&w);
}

static void test_what_is_gone_before_the_comparison_is_decided_anew(void **state)
{
    struct world w;

    (void)state;
    world_init(&w);
    plan_delete_same(&w);
    refuse(&w, "GET", "/configmaps/x", 404, "NotFound");
    assert_int_equal(w.result, RCO_EXECUTION_CONFLICT);
    assert_int_equal(w.writes, 0);
    world_release(&w);
}

static void test_comparison_that_outlasts_the_lease_deletes_nothing(void **state)
{
    struct world w;

    (void)state;
    world_init(&w);
    plan_delete_same(&w);
    w.forbidden = true;
    ok(&w, "GET", "/configmaps/x", "x", "33");
    assert_int_equal(w.result, RCO_EXECUTION_FENCED);
    assert_int_equal(w.writes, 0);
    world_release(&w);
}

/* Plans a reply for when the ConfigMap x is really gone; the object that ok() shows has this uid.
 */
static void plan_absent(struct world *w)
{
    rco_autofree char *uid =
        rco_asprintf("00000000-0000-4000-8000-%012x", (unsigned)(rco_hash("x", 1, 7) & 0xffffff));
    rco_plan_require_absent(&w->plan, RCO_KIND_CONFIGMAP, "a", "x", uid);
    plan_reply(w);
    run(w);
}

/* Plans a reply for when the ConfigMap x still has VERSION; it is found to have 33. */
static void plan_current(struct world *w, const char *version)
{
    const struct rco_meta x = {.ns = "a", .name = "x", .uid = "uid-x", .resource_version = version};
    rco_plan_require_current(&w->plan, RCO_KIND_CONFIGMAP, &x);
    plan_reply(w);
    run(w);
    ok(w, "GET", "/configmaps/x", "x", "33");
}

static void test_A78_a_decision_on_the_present_version_goes_on(void **state)
{
    struct world w;

    (void)state;
    world_init(&w);
    plan_current(&w, "33");
    assert_int_equal(w.result, RCO_EXECUTION_DONE);
    assert_int_equal(w.replies, 1);
    world_release(&w);
}

static void test_A78_a_decision_on_an_older_version_is_made_anew(void **state)
{
    struct world w;

    (void)state;
    world_init(&w);
    plan_current(&w, "32");
    assert_int_equal(w.result, RCO_EXECUTION_CONFLICT);
    assert_int_equal(w.replies, 0);
    assert_non_null(w.gate);
    world_release(&w);
}

static void test_A78_what_the_api_server_does_not_know_is_gone(void **state)
{
    struct world w;

    (void)state;
    world_init(&w);
    plan_absent(&w);
    refuse(&w, "GET", "/configmaps/x", 404, "NotFound");
    assert_int_equal(w.result, RCO_EXECUTION_DONE);
    assert_int_equal(w.replies, 1);
    assert_int_equal(w.writes, 0);
    world_release(&w);
}

static void test_A78_what_only_the_cache_misses_is_waited_for(void **state)
{
    struct world w;

    (void)state;
    world_init(&w);
    plan_absent(&w);
    ok(&w, "GET", "/configmaps/x", "x", "33");
    assert_int_equal(w.result, RCO_EXECUTION_CONFLICT);
    assert_int_equal(w.replies, 0);
    assert_non_null(w.gate);
    world_release(&w);
}

static void test_A78_a_namesake_is_not_what_was_looked_for(void **state)
{
    struct world w;

    (void)state;
    world_init(&w);
    rco_plan_require_absent(&w.plan, RCO_KIND_CONFIGMAP, "a", "x", "uid-of-another");
    plan_reply(&w);
    run(&w);
    ok(&w, "GET", "/configmaps/x", "x", "33");
    assert_int_equal(w.result, RCO_EXECUTION_DONE);
    assert_int_equal(w.replies, 1);
    world_release(&w);
}

static void test_A78_whether_it_is_gone_is_asked_again_after_an_error(void **state)
{
    struct world w;

    (void)state;
    world_init(&w);
    plan_absent(&w);
    refuse(&w, "GET", "/configmaps/x", 403, "Forbidden");
    assert_int_equal(w.result, RCO_EXECUTION_RETRY);
    assert_int_equal(w.replies, 0);
    world_release(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_A76_what_is_not_recorded_is_compared_before_it_is_deleted),
        cmocka_unit_test(test_A76_foreign_object_under_our_name_is_not_deleted),
        cmocka_unit_test(test_what_is_gone_before_the_comparison_is_decided_anew),
        cmocka_unit_test(test_comparison_that_outlasts_the_lease_deletes_nothing),
        cmocka_unit_test(test_A78_a_decision_on_the_present_version_goes_on),
        cmocka_unit_test(test_A78_a_decision_on_an_older_version_is_made_anew),
        cmocka_unit_test(test_A78_what_the_api_server_does_not_know_is_gone),
        cmocka_unit_test(test_A78_what_only_the_cache_misses_is_waited_for),
        cmocka_unit_test(test_A78_a_namesake_is_not_what_was_looked_for),
        cmocka_unit_test(test_A78_whether_it_is_gone_is_asked_again_after_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
