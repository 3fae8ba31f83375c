#include "runtime/selector.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void test_selectors_as_the_api_server_reads_them(void **state)
{
    static const struct rco_kv labels[] = {
        {"app.kubernetes.io/managed-by", "runtime-cloud"}, {"empty", ""}, {"tier", "web"}};
    static const struct {
        const char *selector;
        bool want;
    } rows[] = {
        {NULL, true},
        {"", true},
        {"tier=web", true},
        {"tier==web", true},
        {"tier = web", true},
        {"tier=db", false},
        {"tier!=db", true},
        {"tier!=web", false},
        {"nothere!=x", true},
        {"tier", true},
        {"nothere", false},
        {"!nothere", true},
        {"!tier", false},
        {"empty=", true},
        {"empty", true},
        {"app.kubernetes.io/managed-by=runtime-cloud,tier=web", true},
        {"app.kubernetes.io/managed-by=runtime-cloud,!tier", false},
        {"tier in (db,web)", true},
        {"tier in (db, cache)", false},
        {"tier notin (db)", true},
        {"tier notin (db,web),empty", false},
        {"nothere notin (a)", true},
        {"nothere in (a)", false},
        {"tier in (db,web), app.kubernetes.io/managed-by", true},
        {"tier in db", false},
        {"tier in (db", false},
        {"=x", false},
        {"tier=web,", false},
        {"tier~web", false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (rco_selector_matches(rows[i].selector, labels, 3) != rows[i].want)
            fail_msg("%s: want %d", rows[i].selector, rows[i].want);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_selectors_as_the_api_server_reads_them),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
