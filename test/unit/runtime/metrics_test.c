#include "runtime/metrics.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void expect_text(struct rco_metrics *m, const char *want)
{
    rco_autobuf out = RCO_BUF_INIT;

    rco_metrics_expose(m, &out);
    assert_string_equal(rco_buf_str(&out), want);
}

static void test_counters_and_gauges_are_printed_with_labels(void **state)
{
    struct rco_metrics *m = rco_metrics_new();
    const struct rco_metric_spec a = {
        .name = "a_total", .help = "Counts a.", .type = RCO_METRIC_COUNTER, .labels = {"x", "y"}};
    const struct rco_metric_spec g = {.name = "g", .help = "A gauge.", .type = RCO_METRIC_GAUGE};
    struct rco_metric *f = rco_metrics_add(m, &a);

    (void)state;
    assert_ptr_equal(rco_metrics_add(m, &a), f);
    rco_series_inc(rco_metric_series(f, "1", "2"));
    rco_series_add(rco_metric_series(f, "1", "2"), 2);
    rco_series_inc(rco_metric_series(f, "q\"\\\n", NULL));
    rco_series_set(rco_metric_with(rco_metrics_add(m, &g), NULL), 0.25);
    expect_text(m, "# HELP a_total Counts a.\n# TYPE a_total counter\n"
                   "a_total{x=\"1\",y=\"2\"} 3\n"
                   "a_total{x=\"q\\\"\\\\\\n\",y=\"\"} 1\n"
                   "# HELP g A gauge.\n# TYPE g gauge\ng 0.25\n");
    rco_metrics_free(m);
}

static void test_histogram_buckets_add_up(void **state)
{
    static const double bounds[] = {0.1, 1, 10};
    const struct rco_metric_spec h = {.name = "h",
                                      .help = "A histogram.",
                                      .type = RCO_METRIC_HISTOGRAM,
                                      .labels = {"l"},
                                      .bounds = bounds,
                                      .n_bounds = 3};
    struct rco_metrics *m = rco_metrics_new();
    struct rco_series *s = rco_metric_series(rco_metrics_add(m, &h), "v");

    (void)state;
    rco_series_observe(s, 0.1); /* le is inclusive */
    rco_series_observe(s, 0.5);
    rco_series_observe(s, 100);
    assert_int_equal(rco_series_count(s), 3);
    expect_text(m, "# HELP h A histogram.\n# TYPE h histogram\n"
                   "h_bucket{l=\"v\",le=\"0.1\"} 1\nh_bucket{l=\"v\",le=\"1\"} 2\n"
                   "h_bucket{l=\"v\",le=\"10\"} 2\nh_bucket{l=\"v\",le=\"+Inf\"} 3\n"
                   "h_sum{l=\"v\"} 100.6\nh_count{l=\"v\"} 3\n");
    rco_metrics_free(m);
}

static void test_label_sets_are_bounded(void **state)
{
    const struct rco_metric_spec a = {
        .name = "a", .help = "A.", .type = RCO_METRIC_COUNTER, .labels = {"x"}};
    struct rco_metrics *m = rco_metrics_new();
    struct rco_metric *f = rco_metrics_add(m, &a);
    rco_autobuf out = RCO_BUF_INIT;
    char v[32];
    unsigned lines = 0;

    (void)state;
    for (int i = 0; i < RCO_METRIC_SERIES_MAX + 500; i++) {
        snprintf(v, sizeof(v), "%d", i);
        rco_series_inc(rco_metric_series(f, v));
    }
    assert_int_equal((int)rco_series_value(rco_metric_series(f, "other")), 500);
    rco_metrics_expose(m, &out);
    for (const char *p = rco_buf_str(&out); *p; p++)
        lines += *p == '\n';
    assert_int_equal(lines, 2 + RCO_METRIC_SERIES_MAX + 1);
    rco_metrics_free(m);
}

static void collect(void *ctx)
{
    rco_series_set(ctx, 7);
}

static void test_collectors_run_before_the_text_and_can_be_taken_away(void **state)
{
    const struct rco_metric_spec g = {.name = "g", .help = "G.", .type = RCO_METRIC_GAUGE};
    struct rco_metrics *m = rco_metrics_new();
    struct rco_series *s = rco_metric_with(rco_metrics_add(m, &g), NULL);

    (void)state;
    rco_metrics_on_collect(m, collect, s);
    expect_text(m, "# HELP g G.\n# TYPE g gauge\ng 7\n");
    rco_metrics_off_collect(m, s);
    rco_series_set(s, 1);
    expect_text(m, "# HELP g G.\n# TYPE g gauge\ng 1\n");
    rco_metric_reset(rco_metrics_add(m, &g));
    expect_text(m, "");
    rco_metrics_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counters_and_gauges_are_printed_with_labels),
        cmocka_unit_test(test_histogram_buckets_add_up),
        cmocka_unit_test(test_label_sets_are_bounded),
        cmocka_unit_test(test_collectors_run_before_the_text_and_can_be_taken_away),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
