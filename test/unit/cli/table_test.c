#include "table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void fill(struct rco_table *t, struct rco_arena *a, const struct rco_style *style)
{
    rco_table_init(t, a);
    rco_table_column(t, "NAME");
    rco_table_column(t, "N");
    rco_table_column(t, "WHY");
    rco_table_row(t);
    rco_table_cell_ink(t, style, RCO_INK_GOOD, "\xc3\xa9t\xc3\xa9");
    rco_table_cell_int(t, true, 12);
    rco_table_cell(t, "a long explanation of it all");
    rco_table_row(t);
    rco_table_cell(t, "longer-name");
    rco_table_cell_int(t, false, 0);
}

static void columns_are_aligned_by_what_is_seen(void **state)
{
    rco_autoarena a = RCO_ARENA_INIT;
    rco_autobuf out = RCO_BUF_INIT;
    const struct rco_style plain = {0};
    struct rco_table t;

    (void)state;
    fill(&t, &a, &plain);
    rco_table_print(&t, &plain, 2, &out);
    assert_string_equal(rco_buf_str(&out),
                        "  NAME         N   WHY\n"
                        "  \xc3\xa9t\xc3\xa9          12  a long explanation of it all\n"
                        "  longer-name  -   -\n");
}

static void colours_do_not_move_columns(void **state)
{
    rco_autoarena a = RCO_ARENA_INIT;
    rco_autobuf out = RCO_BUF_INIT;
    const struct rco_style color = {.color = true};
    struct rco_table t;

    (void)state;
    fill(&t, &a, &color);
    rco_table_print(&t, &color, 0, &out);
    assert_non_null(
        strstr(rco_buf_str(&out), "\033[32m\xc3\xa9t\xc3\xa9\033[0m          12  a long"));
}

static void the_last_column_is_cut_at_the_terminals_width(void **state)
{
    rco_autoarena a = RCO_ARENA_INIT;
    rco_autobuf out = RCO_BUF_INIT;
    const struct rco_style narrow = {.width = 32};
    struct rco_table t;

    (void)state;
    fill(&t, &a, &narrow);
    rco_table_print(&t, &narrow, 0, &out);
    assert_non_null(strstr(rco_buf_str(&out), "12  a long expla...\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_are_aligned_by_what_is_seen),
        cmocka_unit_test(colours_do_not_move_columns),
        cmocka_unit_test(the_last_column_is_cut_at_the_terminals_width),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
