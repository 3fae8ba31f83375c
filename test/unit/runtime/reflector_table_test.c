#include "runtime/reflector_table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void test_there_is_one_row_at_most_for_a_state_and_an_input(void **state)
{
    size_t n;
    const struct rco_reflector_row *rows = rco_reflector_rows(&n);

    (void)state;
    for (size_t i = 0; i < n; i++)
        assert_ptr_equal(rco_reflector_row(rows[i].state, rows[i].input), &rows[i]);
}

static void test_every_state_can_be_left_and_stopped(void **state)
{
    (void)state;
    for (int s = RCO_REFLECTOR_STOPPED + 1; s < RCO_REFLECTOR_STATE_COUNT; s++) {
        const struct rco_reflector_row *row =
            rco_reflector_row((enum rco_reflector_state)s, RCO_REFLECTOR_STOP);

        assert_non_null(row);
        assert_int_equal(row->next, RCO_REFLECTOR_STOPPED);
        assert_true(row->effects & RCO_REFLECTOR_LEAVE);
    }
}

static void test_who_waits_has_failed_and_is_woken_by_the_timer(void **state)
{
    size_t n;
    const struct rco_reflector_row *rows = rco_reflector_rows(&n);

    (void)state;
    for (size_t i = 0; i < n; i++) {
        if (!(rows[i].effects & RCO_REFLECTOR_WAIT))
            continue;
        assert_true(rows[i].effects & RCO_REFLECTOR_COUNT);
        assert_non_null(rco_reflector_row(rows[i].next, RCO_REFLECTOR_TIMER));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_there_is_one_row_at_most_for_a_state_and_an_input),
        cmocka_unit_test(test_every_state_can_be_left_and_stopped),
        cmocka_unit_test(test_who_waits_has_failed_and_is_woken_by_the_timer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
