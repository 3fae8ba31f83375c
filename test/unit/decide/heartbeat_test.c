#include "decide/run.h"

#include "api/zz_generated_types.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct rco_run run_in(enum rco_run_state state)
{
    return (struct rco_run){
        .metadata = {.name = "web-5b1d0-v1-b1", .uid = "r"},
        .spec = {.specification_id = "s",
                 .specification_ref = {.name = "web"},
                 .specification_version = 1},
        .status = {.state = state},
    };
}

static const struct rco_depspec spec = {.metadata = {.name = "web", .uid = "s"}};

static void want(enum rco_verdict verdict, const char *why, const struct rco_run *run,
                 const struct rco_depspec *of, enum rco_phase phase)
{
    const char *got = "x";
    assert_int_equal(rco_run_heartbeat(run, of, phase, 0, &got), verdict);
    if (why)
        assert_string_equal(got, why);
    else
        assert_null(got);
}

static void test_what_is_wanted_goes_on(void **state)
{
    struct rco_run planning = run_in(RCO_RUN_STATE_PLANNING),
                   applying = run_in(RCO_RUN_STATE_APPLYING);
    struct rco_run planned = run_in(RCO_RUN_STATE_PLANNED);
    want(RCO_VERDICT_CONTINUE, NULL, &planning, &spec, RCO_PHASE_PLAN);
    want(RCO_VERDICT_CONTINUE, NULL, &planned, &spec, RCO_PHASE_PLAN);
    want(RCO_VERDICT_CONTINUE, NULL, &applying, &spec, RCO_PHASE_APPLY);
}

static void test_a_plan_stops_when_nobody_wants_it(void **state)
{
    struct rco_run run = run_in(RCO_RUN_STATE_PLANNING);
    struct rco_depspec suspended = spec, newer = spec, again = spec;
    suspended.spec.suspend = true;
    newer.status.has_version = true;
    newer.status.version = 2;
    again.metadata.uid = "t";
    want(RCO_VERDICT_CANCEL, "Suspended", &run, &suspended, RCO_PHASE_PLAN);
    want(RCO_VERDICT_CANCEL, "Replaced", &run, &newer, RCO_PHASE_PLAN);
    want(RCO_VERDICT_CANCEL, "SpecificationGone", &run, &again, RCO_PHASE_PLAN);
    want(RCO_VERDICT_CANCEL, "SpecificationGone", &run, NULL, RCO_PHASE_PLAN);
    run.metadata.deletion = 1;
    want(RCO_VERDICT_CANCEL, "Deleted", &run, &spec, RCO_PHASE_PLAN);
}

static void test_only_a_person_stops_an_apply(void **state)
{
    struct rco_run run = run_in(RCO_RUN_STATE_APPLYING);
    struct rco_depspec suspended = spec;
    suspended.spec.suspend = true;
    run.metadata.deletion = 1;
    want(RCO_VERDICT_CONTINUE, NULL, &run, &suspended, RCO_PHASE_APPLY);
    want(RCO_VERDICT_CONTINUE, NULL, &run, NULL, RCO_PHASE_APPLY);
    run.spec.has_cancel = true;
    run.spec.cancel.by = "ann";
    want(RCO_VERDICT_CANCEL, "CancelRequested", &run, &spec, RCO_PHASE_APPLY);
}

static void test_an_ended_run_wants_no_engine(void **state)
{
    struct rco_run run = run_in(RCO_RUN_STATE_FAILED);
    want(RCO_VERDICT_CANCEL, "Ended", &run, &spec, RCO_PHASE_APPLY);
    want(RCO_VERDICT_CANCEL, "Ended", &run, &spec, RCO_PHASE_PLAN);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_wanted_goes_on),
        cmocka_unit_test(test_a_plan_stops_when_nobody_wants_it),
        cmocka_unit_test(test_only_a_person_stops_an_apply),
        cmocka_unit_test(test_an_ended_run_wants_no_engine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
