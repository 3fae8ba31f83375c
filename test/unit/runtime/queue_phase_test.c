#include "runtime/queue_phase.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void test_A61_what_comes_while_a_key_runs_is_run_again(void **state)
{
    (void)state;
    assert_int_equal(rco_queue_next(RCO_QUEUE_RUNNING, RCO_QUEUE_ADD), RCO_QUEUE_AGAIN);
    assert_int_equal(rco_queue_next(RCO_QUEUE_AGAIN, RCO_QUEUE_ADD), RCO_QUEUE_AGAIN);
    assert_int_equal(rco_queue_next(RCO_QUEUE_AGAIN, RCO_QUEUE_DONE), RCO_QUEUE_READY);
    assert_int_equal(rco_queue_next(RCO_QUEUE_AGAIN, RCO_QUEUE_DONE_LAST), RCO_QUEUE_IDLE);
}

static void test_only_a_key_that_waits_is_taken(void **state)
{
    (void)state;
    for (int p = 0; p < RCO_QUEUE_PHASE_COUNT; p++) {
        enum rco_queue_phase want =
            p == RCO_QUEUE_READY ? RCO_QUEUE_RUNNING : RCO_QUEUE_PHASE_COUNT;

        assert_int_equal(rco_queue_next((enum rco_queue_phase)p, RCO_QUEUE_TAKE), want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_A61_what_comes_while_a_key_runs_is_run_again),
        cmocka_unit_test(test_only_a_key_that_waits_is_taken),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
