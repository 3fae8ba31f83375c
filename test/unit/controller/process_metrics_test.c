#include "process_metrics.h"

#include "base/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The value of the line "NAME VALUE" of an exposition. */
static double value_of(const struct rco_buf *text, const char *name)
{
    rco_autofree char *start = rco_asprintf("\n%s ", name);
    const char *at = strstr(rco_buf_str(text), start);

    if (!at)
        fail_msg("no %s in\n%s", name, rco_buf_str(text));
    return strtod(at + strlen(start), NULL);
}

static void the_process_shows_what_it_uses(void **state)
{
    struct rco_metrics *metrics = rco_metrics_new();
    struct rco_process_metrics process;
    rco_autobuf text = RCO_BUF_INIT;
    double now = (double)rco_clock_wall() / 1e6;

    (void)state;
    rco_process_metrics_add(&process, metrics);
    for (volatile int i = 0; i < 10000000; i++)
        ;
    rco_metrics_expose(metrics, &text);
    assert_true(value_of(&text, "process_cpu_seconds_total") > 0.001);
    assert_true(value_of(&text, "process_resident_memory_bytes") > 1e6);
    assert_true(value_of(&text, "process_virtual_memory_bytes") >
                value_of(&text, "process_resident_memory_bytes"));
    assert_true(value_of(&text, "process_open_fds") >= 3);
    assert_true(value_of(&text, "process_max_fds") > value_of(&text, "process_open_fds"));
    assert_true(value_of(&text, "process_start_time_seconds") >= now - 1 &&
                value_of(&text, "process_start_time_seconds") <= now + 60);
    assert_non_null(strstr(rco_buf_str(&text), "# TYPE process_cpu_seconds_total counter\n"));
    rco_metrics_free(metrics);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_process_shows_what_it_uses),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
