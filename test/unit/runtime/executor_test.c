#include "executor_world.h"

static void test_empty_plan_is_done(void **state)
{
    struct world w;

    (void)state;
    world_init(&w);
    run(&w);
    assert_int_equal(w.done, 1);
    assert_int_equal(w.result, RCO_EXECUTION_DONE);
    assert_int_equal(w.fake.started, 0);
    world_release(&w);
}

static void test_actions_go_one_after_the_other_in_order(void **state)
{
    struct world w;

    (void)state;
    world_init(&w);
    plan_create(&w, RCO_KIND_CONFIGMAP, "first", RCO_EXISTS_REPORT);
    plan_patch(&w);
    plan_reply(&w);
    run(&w);
    assert_int_equal(w.fake.started, 1);
    struct rco_http_call *c = fake_expect(&w.fake, "POST", "/api/v1/namespaces/a/configmaps?");
    assert_non_null(strstr(c->path, "fieldManager=runtime-cloud"));
    assert_non_null(strstr(c->path, "fieldValidation=Warn"));
    assert_true(c->deadline_ns <= 10 * S);
    ok(&w, "POST", "/configmaps", "first", "10");
    assert_int_equal(w.fake.started, 2);
    c = fake_expect(&w.fake, "PATCH", "/provisioningruns/run?");
    assert_string_equal(c->content_type, "application/merge-patch+json");
    assert_non_null(strstr(c->body, "\"resourceVersion\":\"70\"")); /* A74 */
    assert_int_equal(w.replies, 0);
    ok(&w, "PATCH", "/provisioningruns/run", "run", "80");
    assert_int_equal(w.replies, 1);
    assert_int_equal(w.result, RCO_EXECUTION_DONE);
    assert_int_equal(w.writes, 2);
    assert_int_equal(w.outcomes.n, 1);
    assert_int_equal(w.outcomes.items[0].type, RCO_OUTCOME_CREATED);
    assert_int_equal(rco_gate_kinds(w.gate), 1u << RCO_KIND_CONFIGMAP | 1u << RCO_KIND_RUN);
    world_release(&w);
}

static void test_first_failure_stops_the_plan_and_the_reply(void **state)
{
    struct world w;

    (void)state;
    world_init(&w);
    plan_patch(&w);
    plan_create(&w, RCO_KIND_CONFIGMAP, "second", RCO_EXISTS_REPORT);
    plan_reply(&w);
    run(&w);
    refuse(&w, "PATCH", "/provisioningruns/run", 409, "Conflict");
    assert_int_equal(w.result, RCO_EXECUTION_CONFLICT);
    assert_string_equal(w.failed, "run");
    assert_int_equal(w.replies, 0);
    assert_null(fake_find(&w.fake, "POST", ""));
    assert_string_equal(w.last_code, "Conflict");
    world_release(&w);
}

static void test_A65_results_of_patches(void **state)
{
    const struct {
        int status;
        const char *reason;
        enum rco_execution_result want;
    } rows[] = {
        {404, "NotFound", RCO_EXECUTION_CONFLICT},
        {409, "Conflict", RCO_EXECUTION_CONFLICT},
        {403, "Forbidden", RCO_EXECUTION_RETRY},
        {422, "Invalid", RCO_EXECUTION_TERMINAL},
        {400, "BadRequest", RCO_EXECUTION_TERMINAL},
        {401, "Unauthorized", RCO_EXECUTION_RETRY},
        {429, "TooManyRequests", RCO_EXECUTION_RETRY},
        {503, "ServiceUnavailable", RCO_EXECUTION_RETRY},
    };

    (void)state;
    for (size_t i = 0; i < RCO_ARRAY_LEN(rows); i++) {
        struct world w;

        world_init(&w);
        plan_patch(&w);
        run(&w);
        refuse(&w, "PATCH", "", rows[i].status, rows[i].reason);
        assert_int_equal(w.done, 1);
        assert_int_equal(w.result, rows[i].want);
        assert_false(w.ambiguous);
        world_release(&w);
    }
}

static void test_A45_results_of_creates(void **state)
{
    const struct {
        int status;
        const char *reason;
        enum rco_execution_result want;
        int outcome; /* -1 = none */
    } rows[] = {
        {403, "Forbidden", RCO_EXECUTION_REFUSED, RCO_OUTCOME_REFUSED},
        {422, "Invalid", RCO_EXECUTION_REFUSED, RCO_OUTCOME_REFUSED},
        {413, "RequestEntityTooLarge", RCO_EXECUTION_REFUSED, RCO_OUTCOME_REFUSED},
        {404, "NotFound", RCO_EXECUTION_REFUSED, RCO_OUTCOME_REFUSED}, /* no such namespace */
        {409, "AlreadyExists", RCO_EXECUTION_REFUSED, RCO_OUTCOME_EXISTS},
        {409, "Conflict", RCO_EXECUTION_CONFLICT, -1},
        {429, "TooManyRequests", RCO_EXECUTION_RETRY, -1},
        {503, "ServiceUnavailable", RCO_EXECUTION_RETRY, -1},
    };

    (void)state;
    for (size_t i = 0; i < RCO_ARRAY_LEN(rows); i++) {
        struct world w;

        world_init(&w);
        plan_create(&w, RCO_KIND_CONFIGMAP, "x", RCO_EXISTS_REPORT);
        run(&w);
        refuse(&w, "POST", "", rows[i].status, rows[i].reason);
        assert_int_equal(w.result, rows[i].want);
        assert_int_equal(w.outcomes.n, rows[i].outcome >= 0);
        if (rows[i].outcome >= 0)
            assert_int_equal(w.outcomes.items[0].type, rows[i].outcome);
        world_release(&w);
    }
}

static void test_content_addressed_name_that_is_taken_counts_as_written(void **state)
{
    struct world w;

    (void)state;
    world_init(&w);
    plan_create(&w, RCO_KIND_SECRET, "chunk", RCO_EXISTS_OK);
    plan_reply(&w);
    run(&w);
    refuse(&w, "POST", "/secrets", 409, "AlreadyExists");
    assert_int_equal(w.result, RCO_EXECUTION_DONE);
    assert_int_equal(w.replies, 1);
    world_release(&w);
}

static void test_A76_taken_name_is_compared_with_what_was_sent(void **state)
{
    struct world w;

    (void)state;
    world_init(&w);
    plan_create(&w, RCO_KIND_CONFIGMAP, "x", RCO_EXISTS_COMPARE);
    plan_reply(&w);
    run(&w);
    refuse(&w, "POST", "", 409, "AlreadyExists");
    ok(&w, "GET", "/configmaps/x", "x", "33");
    assert_int_equal(w.result, RCO_EXECUTION_DONE);
    assert_int_equal(w.outcomes.items[0].type, RCO_OUTCOME_SAME);
    assert_true(*w.outcomes.items[0].uid);
    assert_int_equal(w.replies, 1);
    assert_non_null(w.gate);
    world_release(&w);
}

static void test_A76_foreign_object_under_our_name_stops_the_plan(void **state)
{
    struct world w;
    rco_autofree char *body = cm_json("a", "x", "33", "something else");

    (void)state;
    world_init(&w);
    plan_create(&w, RCO_KIND_CONFIGMAP, "x", RCO_EXISTS_COMPARE);
    plan_reply(&w);
    run(&w);
    refuse(&w, "POST", "", 409, "AlreadyExists");
    fake_answer(fake_expect(&w.fake, "GET", "/configmaps/x"), 200, body);
    rco_loop_virtual_settle(w.loop);
    assert_int_equal(w.result, RCO_EXECUTION_REFUSED);
    assert_int_equal(w.outcomes.items[0].type, RCO_OUTCOME_FOREIGN);
    assert_string_equal(w.outcomes.items[0].message, "data.k: differs");
    assert_int_equal(w.replies, 0);
    world_release(&w);
}

static void test_name_that_became_free_again_is_decided_anew(void **state)
{
    struct world w;

    (void)state;
    world_init(&w);
    plan_create(&w, RCO_KIND_CONFIGMAP, "x", RCO_EXISTS_COMPARE);
    run(&w);
    refuse(&w, "POST", "", 409, "AlreadyExists");
    refuse(&w, "GET", "/configmaps/x", 404, "NotFound");
    assert_int_equal(w.result, RCO_EXECUTION_CONFLICT);
    world_release(&w);
}

static void test_A75_delete_has_preconditions_and_gone_is_fine(void **state)
{
    struct world w;

    (void)state;
    world_init(&w);
    rco_plan_delete(&w.plan, RCO_KIND_RUN, &target);
    plan_reply(&w);
    run(&w);
    assert_non_null(strstr(fake_expect(&w.fake, "DELETE", "/provisioningruns/run")->body,
                           "\"preconditions\":{\"uid\":\"uid-1\""));
    refuse(&w, "DELETE", "", 404, "NotFound");
    assert_int_equal(w.result, RCO_EXECUTION_DONE);
    assert_int_equal(w.replies, 1);
    world_release(&w);
}

static void test_A75_delete_of_a_recreated_namesake_is_a_conflict(void **state)
{
    struct world w;

    (void)state;
    world_init(&w);
    rco_plan_delete(&w.plan, RCO_KIND_RUN, &target);
    run(&w);
    refuse(&w, "DELETE", "", 409, "Conflict");
    assert_int_equal(w.result, RCO_EXECUTION_CONFLICT);
    world_release(&w);
}

static void test_A41_ambiguous_write_is_read_back(void **state)
{
    static const enum rco_code codes[] = {RCO_ETIMEOUT, RCO_EUNAVAILABLE, RCO_EINTERNAL};

    (void)state;
    for (size_t i = 0; i < RCO_ARRAY_LEN(codes); i++) {
        struct world w;

        world_init(&w);
        plan_patch(&w);
        plan_reply(&w);
        run(&w);
        fake_fail(fake_expect(&w.fake, "PATCH", ""), codes[i]);
        rco_loop_virtual_settle(w.loop);
        assert_int_equal(w.done, 0);
        ok(&w, "GET", "/provisioningruns/run", "run", "90");
        assert_int_equal(w.result, RCO_EXECUTION_RETRY);
        assert_true(w.ambiguous);
        assert_non_null(w.gate); /* version 90 must show first */
        assert_int_equal(w.replies, 0);
        world_release(&w);
    }
}

static void test_A41_etcd_timeout_is_ambiguous_too(void **state)
{
    struct world w;

    (void)state;
    world_init(&w);
    plan_create(&w, RCO_KIND_CONFIGMAP, "x", RCO_EXISTS_REPORT);
    run(&w);
    refuse(&w, "POST", "", 500, "InternalError");
    refuse(&w, "GET", "/configmaps/x", 404, "NotFound");
    assert_int_equal(w.result, RCO_EXECUTION_RETRY);
    assert_true(w.ambiguous);
    assert_null(w.gate);
    world_release(&w);
}

static void test_ambiguous_create_of_a_secret_reads_nothing(void **state)
{
    struct world w;

    (void)state;
    world_init(&w);
    plan_create(&w, RCO_KIND_SECRET, "x", RCO_EXISTS_REPORT);
    run(&w);
    fake_fail(fake_expect(&w.fake, "POST", ""), RCO_ETIMEOUT);
    rco_loop_virtual_settle(w.loop);
    assert_int_equal(w.result, RCO_EXECUTION_RETRY);
    assert_int_equal(w.fake.started, 1); /* the operator may not get Secrets */
    world_release(&w);
}

static void test_A93_nothing_is_written_without_the_lease(void **state)
{
    struct world w;

    (void)state;
    world_init(&w);
    w.forbidden = true;
    plan_patch(&w);
    plan_reply(&w);
    run(&w);
    assert_int_equal(w.result, RCO_EXECUTION_FENCED);
    assert_int_equal(w.fake.started, 0);
    assert_int_equal(w.replies, 0);
    world_release(&w);
}

static void test_A93_lease_is_asked_before_each_write(void **state)
{
    struct world w;

    (void)state;
    world_init(&w);
    w.writes_allowed = 1;
    plan_patch(&w);
    plan_create(&w, RCO_KIND_CONFIGMAP, "x", RCO_EXISTS_REPORT);
    run(&w);
    ok(&w, "PATCH", "", "run", "71");
    assert_int_equal(w.result, RCO_EXECUTION_FENCED);
    assert_null(fake_find(&w.fake, "POST", ""));
    world_release(&w);
}

static void test_cancelled_execution_is_silent(void **state)
{
    struct world w;

    (void)state;
    world_init(&w);
    plan_patch(&w);
    struct rco_execution *x = rco_executor_run(w.executor, &w.plan, on_done, &w);
    rco_loop_virtual_settle(w.loop);
    rco_execution_cancel(x);
    assert_null(w.fake.open);
    rco_loop_virtual_run_for(w.loop, 60 * S);
    assert_int_equal(w.done, 0);
    world_release(&w);
}

static void test_outcomes_replace_and_are_bounded(void **state)
{
    struct rco_outcomes o = {0};
    char name[16];

    (void)state;
    rco_outcomes_put(&o, &(struct rco_outcome){.kind = RCO_KIND_JOB, .name = "x", .uid = "1"});
    rco_outcomes_put(&o, &(struct rco_outcome){.kind = RCO_KIND_JOB, .name = "x", .uid = "2"});
    rco_outcomes_put(&o, &(struct rco_outcome){.kind = RCO_KIND_POD, .name = "x", .uid = "3"});
    assert_int_equal(o.n, 2);
    assert_string_equal(o.items[0].uid, "2");
    for (int i = 0; i < 200; i++) {
        snprintf(name, sizeof(name), "n%d", i);
        rco_outcomes_put(&o, &(struct rco_outcome){.kind = RCO_KIND_JOB, .name = name});
    }
    assert_int_equal(o.n, RCO_OUTCOMES_MAX);
    assert_string_equal(o.items[RCO_OUTCOMES_MAX - 1].name, "n199");
    rco_outcomes_release(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_empty_plan_is_done),
        cmocka_unit_test(test_actions_go_one_after_the_other_in_order),
        cmocka_unit_test(test_first_failure_stops_the_plan_and_the_reply),
        cmocka_unit_test(test_A65_results_of_patches),
        cmocka_unit_test(test_A45_results_of_creates),
        cmocka_unit_test(test_content_addressed_name_that_is_taken_counts_as_written),
        cmocka_unit_test(test_A76_taken_name_is_compared_with_what_was_sent),
        cmocka_unit_test(test_A76_foreign_object_under_our_name_stops_the_plan),
        cmocka_unit_test(test_name_that_became_free_again_is_decided_anew),
        cmocka_unit_test(test_A75_delete_has_preconditions_and_gone_is_fine),
        cmocka_unit_test(test_A75_delete_of_a_recreated_namesake_is_a_conflict),
        cmocka_unit_test(test_A41_ambiguous_write_is_read_back),
        cmocka_unit_test(test_A41_etcd_timeout_is_ambiguous_too),
        cmocka_unit_test(test_ambiguous_create_of_a_secret_reads_nothing),
        cmocka_unit_test(test_A93_nothing_is_written_without_the_lease),
        cmocka_unit_test(test_A93_lease_is_asked_before_each_write),
        cmocka_unit_test(test_cancelled_execution_is_silent),
        cmocka_unit_test(test_outcomes_replace_and_are_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
