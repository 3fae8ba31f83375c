#include "plan/plan.h"

#include "api/labels.h"
#include "api/zz_generated_types.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

struct fixture {
    struct rco_arena a;
    struct rco_plan plan;
    const char *finalizers[2];
    struct rco_meta target;
};

static int set_up(void **state)
{
    struct fixture *f = rco_calloc(1, sizeof(*f));
    rco_plan_init(&f->plan, &f->a);
    f->finalizers[0] = "other.io/keep";
    f->finalizers[1] = RCO_FINALIZER_RUN;
    f->target = (struct rco_meta){.name = "x",
                                  .ns = "team",
                                  .uid = "u-1",
                                  .resource_version = "42",
                                  .finalizers = f->finalizers,
                                  .n_finalizers = 2};
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    rco_arena_release(&f->a);
    free(f);
    return 0;
}

static void a_new_plan_asks_for_nothing(void **state)
{
    struct fixture *f = *state;
    assert_null(f->plan.first);
    assert_int_equal(f->plan.n_actions, 0);
    assert_int_equal(f->plan.requeue_after_ns, 0);
    assert_null(f->plan.row);
}

static void actions_stand_in_the_order_in_which_they_were_asked_for(void **state)
{
    struct fixture *f = *state;
    rco_autobuf body = RCO_BUF_INIT;
    rco_buf_adds(&body, "{\"a\":1}");
    struct rco_action *create =
        rco_plan_create(&f->plan, RCO_KIND_JOB, "team", "job", &body, RCO_EXISTS_COMPARE);
    struct rco_action *patch = rco_plan_patch(&f->plan, RCO_KIND_LEASE, &f->target, &body);
    struct rco_action *reply = rco_plan_reply(&f->plan, 9, 200, &body);
    assert_int_equal(f->plan.n_actions, 3);
    assert_ptr_equal(f->plan.first, create);
    assert_ptr_equal(create->next, patch);
    assert_ptr_equal(patch->next, reply);
    assert_null(reply->next);
    assert_int_equal(create->exists, RCO_EXISTS_COMPARE);
    assert_int_equal(reply->mailbox, 9);
    assert_int_equal(reply->http_status, 200);
}

static void arguments_are_copied(void **state)
{
    struct fixture *f = *state;
    char name[] = "job";
    rco_autobuf body = RCO_BUF_INIT;
    rco_buf_adds(&body, "{\"a\":1}");
    struct rco_action *a =
        rco_plan_create(&f->plan, RCO_KIND_JOB, NULL, name, &body, RCO_EXISTS_OK);
    name[0] = '?';
    memset(body.data, '?', body.len);
    assert_string_equal(a->name, "job");
    assert_string_equal(a->body, "{\"a\":1}");
    assert_int_equal(a->body_len, 7);
    assert_null(a->ns);
}

static void A80_a_patch_carries_the_resource_version_it_was_computed_from(void **state)
{
    struct fixture *f = *state;
    rco_autobuf patch = RCO_BUF_INIT;
    rco_buf_adds(&patch, "{\"metadata\":{\"labels\":{\"a\":\"b\"}},\"spec\":{\"suspend\":true}}");
    struct rco_action *a = rco_plan_patch(&f->plan, RCO_KIND_JOB, &f->target, &patch);
    assert_int_equal(a->type, RCO_ACTION_PATCH);
    assert_string_equal(a->resource_version, "42");
    assert_string_equal(a->ns, "team");
    assert_string_equal(a->body,
                        "{\"spec\":{\"suspend\":true},"
                        "\"metadata\":{\"labels\":{\"a\":\"b\"},\"resourceVersion\":\"42\"}}");
}

static void A82_a_status_patch_holds_only_what_differs(void **state)
{
    struct fixture *f = *state;
    struct rco_run_status old = {
        .state = RCO_RUN_STATE_PENDING, .reason = "StackBusy", .logs_ref = "configmap/x"};
    struct rco_run_status next = old;
    next.state = RCO_RUN_STATE_PLANNING;
    next.reason = NULL;
    struct rco_action *a = rco_plan_patch_status(&f->plan, RCO_KIND_RUN, &f->target, &old, &next);
    assert_int_equal(a->type, RCO_ACTION_PATCH_STATUS);
    assert_string_equal(a->body, "{\"status\":{\"state\":\"Planning\",\"reason\":null},"
                                 "\"metadata\":{\"resourceVersion\":\"42\"}}");
}

static void A81_A83_an_equal_status_is_not_written(void **state)
{
    struct fixture *f = *state;
    struct rco_condition c = {.type = "Ready",
                              .status = "True",
                              .reason = "x",
                              .message = "y",
                              .last_transition_time = 1700000000000000};
    struct rco_condition same = c;
    same.last_transition_time += 999999; /* the server keeps whole seconds */
    struct rco_run_status old = {.conditions = &c, .n_conditions = 1};
    struct rco_run_status next = {.conditions = &same, .n_conditions = 1};
    assert_null(rco_plan_patch_status(&f->plan, RCO_KIND_RUN, &f->target, &old, &next));
    assert_int_equal(f->plan.n_actions, 0);
}

static void a_delete_carries_the_uid_as_precondition(void **state)
{
    struct fixture *f = *state;
    struct rco_action *a = rco_plan_delete(&f->plan, RCO_KIND_POD, &f->target);
    assert_int_equal(a->type, RCO_ACTION_DELETE);
    assert_string_equal(a->uid, "u-1");
    assert_string_equal(a->name, "x");
}

static void an_event_says_what_it_regards(void **state)
{
    struct fixture *f = *state;
    struct rco_action *a =
        rco_plan_event(&f->plan, RCO_KIND_RUN, &f->target, "Warning", "Failed", "why");
    assert_int_equal(a->kind, RCO_KIND_RUN);
    assert_string_equal(a->regarding_uid, "u-1");
    assert_string_equal(a->event_type, "Warning");
    assert_string_equal(a->note, "why");
}

static void A85_finalizers_of_others_are_kept(void **state)
{
    struct fixture *f = *state;
    struct rco_action *a =
        rco_plan_remove_finalizer(&f->plan, RCO_KIND_RUN, &f->target, RCO_FINALIZER_RUN);
    assert_string_equal(
        a->body, "{\"metadata\":{\"finalizers\":[\"other.io/keep\"],\"resourceVersion\":\"42\"}}");
    a = rco_plan_add_finalizer(&f->plan, RCO_KIND_RUN, &f->target, RCO_FINALIZER_ENGINE);
    assert_string_equal(a->body,
                        "{\"metadata\":{\"finalizers\":[\"other.io/keep\",\"runtimecloud.io/run\","
                        "\"runtimecloud.io/engine\"],\"resourceVersion\":\"42\"}}");
    f->target.finalizers = &f->finalizers[1];
    f->target.n_finalizers = 1;
    a = rco_plan_remove_finalizer(&f->plan, RCO_KIND_RUN, &f->target, RCO_FINALIZER_RUN);
    assert_string_equal(a->body, "{\"metadata\":{\"finalizers\":[],\"resourceVersion\":\"42\"}}");
}

static void A86_finalizers_that_are_as_they_should_be_are_not_written(void **state)
{
    struct fixture *f = *state;
    assert_null(rco_plan_add_finalizer(&f->plan, RCO_KIND_RUN, &f->target, RCO_FINALIZER_RUN));
    assert_null(
        rco_plan_remove_finalizer(&f->plan, RCO_KIND_RUN, &f->target, RCO_FINALIZER_ENGINE));
    f->target.deletion = 1;
    assert_null(rco_plan_add_finalizer(&f->plan, RCO_KIND_RUN, &f->target, RCO_FINALIZER_ENGINE));
    assert_int_equal(f->plan.n_actions, 0);
}

static void the_smallest_requeue_wins(void **state)
{
    struct fixture *f = *state;
    rco_plan_requeue(&f->plan, 5 * RCO_NS_PER_S);
    rco_plan_requeue(&f->plan, 9 * RCO_NS_PER_S);
    assert_true(f->plan.requeue_after_ns == 5 * RCO_NS_PER_S);
    rco_plan_requeue(&f->plan, 2 * RCO_NS_PER_S);
    assert_true(f->plan.requeue_after_ns == 2 * RCO_NS_PER_S);
    rco_plan_requeue(&f->plan, -7); /* already due: at once, not never */
    assert_true(f->plan.requeue_after_ns == 1);
}

#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_new_plan_asks_for_nothing),
        TEST(actions_stand_in_the_order_in_which_they_were_asked_for),
        TEST(arguments_are_copied),
        TEST(A80_a_patch_carries_the_resource_version_it_was_computed_from),
        TEST(A82_a_status_patch_holds_only_what_differs),
        TEST(A81_A83_an_equal_status_is_not_written),
        TEST(a_delete_carries_the_uid_as_precondition),
        TEST(an_event_says_what_it_regards),
        TEST(A85_finalizers_of_others_are_kept),
        TEST(A86_finalizers_that_are_as_they_should_be_are_not_written),
        TEST(the_smallest_requeue_wins),
    };
    return cmocka_run_group_tests_name("plan", tests, NULL, NULL);
}
