/* The three decisions together, in a world of their own: the main path with its number of writes, and a
 * random walk of what users, nodes and runners do, after each step of which plans must reach a fixed
 * point and break no rule. */
#include "machine.h"

#include <unistd.h>

static void check_transition(struct world *w, const struct rco_run *before,
                             const struct rco_run *after)
{
    enum rco_run_state from = before->status.state, to = after->status.state;
    if (from != to && !rco_run_state_may_become(from, to))
        fail_msg("row %s: %s must not become %s", w->plan.row, rco_run_state_name(from),
                 rco_run_state_name(to));
    /* P1 and P5, as the CRD's rules say them. */
    if (to == RCO_RUN_STATE_PLANNED || to == RCO_RUN_STATE_APPLYING || to == RCO_RUN_STATE_APPLIED)
        assert_true(after->status.has_plan_receipt);
    if (to == RCO_RUN_STATE_APPLIED)
        assert_true(after->status.has_apply_receipt);
    if (before->status.has_plan_receipt)
        assert_true(rco_codec_equal(&rco_plan_receipt_schema, &before->status.plan_receipt,
                                    &after->status.plan_receipt));
    if (before->status.has_apply_receipt)
        assert_true(rco_codec_equal(&rco_apply_receipt_schema, &before->status.apply_receipt,
                                    &after->status.apply_receipt));
    if (before->status.completed_at)
        assert_int_equal(before->status.completed_at, after->status.completed_at);
    assert_true(after->status.observed_generation == after->metadata.generation);
}

static void test_main_path_needs_at_most_32_writes(void **state)
{
    struct machine m;
    machine_init(&m);
    m.w.transition = check_transition;
    world_settle(&m.w); /* the Environment becomes ready */
    const struct rco_env *env = world_get(&m.w, RCO_KIND_ENV, "team-a", "dev");
    assert_true(rco_streq(env->status.conditions[0].status, "True"));

    m.w.writes = 0;
    machine_add_spec(&m, "web");
    machine_run(&m);

    const struct rco_depspec *spec = world_get(&m.w, RCO_KIND_DEPSPEC, "team-a", "web");
    const struct rco_run *run = machine_newest_run(&m);
    assert_string_equal(rco_run_state_name(run->status.state), "Applied");
    assert_string_equal(spec->status.conditions[0].status, "True");
    assert_int_equal(spec->status.applied_version, 1);
    assert_string_equal(spec->status.last_run.uid, run->metadata.uid);
    /* Uploads are the gateway's: plan, log, diff; log, outputs, state. */
    const unsigned uploads = 6, want = 24;
    assert_int_equal(m.w.writes, want);
    assert_true(m.w.writes + uploads <= 32);
    /* Nothing is left but the claim of the specification, without an engine. */
    for (size_t i = 0; i < m.w.n_objects; i++)
        if (!m.w.objects[i].gone)
            assert_true(m.w.objects[i].kind != RCO_KIND_JOB && m.w.objects[i].kind != RCO_KIND_POD);
    world_release(&m.w);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_main_path_needs_at_most_32_writes),
};

int main(void)
{
    return cmocka_run_group_tests(tests, NULL, NULL);
}
