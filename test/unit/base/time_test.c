#include "base/time.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

static void times_are_read(void **state)
{
    static const struct {
        const char *text;
        int64_t want;
    } rows[] = {{"1970-01-01T00:00:01Z", 1000000},
                {"2026-11-30T06:40:24Z", 1796020824000000},
                {"2026-11-30T06:40:24.5Z", 1796020824500000},
                {"2026-11-30T06:40:24.123456Z", 1796020824123456},
                {"2026-11-30T06:40:24.123456789Z", 1796020824123456},
                {"2026-11-30T08:40:24+02:00", 1796020824000000},
                {"2026-11-29T22:10:24-08:30", 1796020824000000},
                {"2026-11-30t06:40:24z", 1796020824000000},
                {"2024-02-29T00:00:00Z", 1709164800000000},
                {"2000-02-29T12:00:00Z", 951825600000000},
                {"2016-12-31T23:59:60Z", 1483228799999999},
                {"9999-12-31T23:59:59Z", 253402300799000000}};
    for (size_t i = 0; i < RCO_ARRAY_LEN(rows); i++) {
        struct rco_error err = RCO_ERROR_INIT;
        rco_wall got = 0;
        if (rco_wall_parse(rows[i].text, &got, &err) < 0 || got != rows[i].want)
            fail_msg("%s: got %lld, want %lld", rows[i].text, (long long)got,
                     (long long)rows[i].want);
    }
}

static void what_is_no_time_is_refused(void **state)
{
    static const char *const bad[] = {"",
                                      "now",
                                      "2026-11-30",
                                      "2026-11-30T06:40:24",
                                      "2026-11-30 06:40:24Z",
                                      "2026-13-01T00:00:00Z",
                                      "2026-00-01T00:00:00Z",
                                      "2026-11-31T00:00:00Z",
                                      "2026-02-29T00:00:00Z",
                                      "1900-02-29T00:00:00Z",
                                      "2100-02-29T00:00:00Z",
                                      "2026-11-30T24:00:00Z",
                                      "2026-11-30T06:60:00Z",
                                      "2026-11-30T06:40:61Z",
                                      "2026-11-30T06:40:24.Z",
                                      "2026-11-30T06:40:24Zx",
                                      "2026-11-30T06:40:24+2:00",
                                      "2026-11-30T06:40:24+24:00",
                                      "2026-11-30T06:40:24+02:60",
                                      "26-11-30T06:40:24Z",
                                      "+2026-11-30T06:40:24Z",
                                      "1969-12-31T23:59:59Z",
                                      "2026-11-3OT06:40:24Z",
                                      "2026-11-30T06:40:24.1234567890123456789Z",
                                      NULL};
    for (size_t i = 0; i < RCO_ARRAY_LEN(bad); i++) {
        struct rco_error err = RCO_ERROR_INIT;
        rco_wall got = 7;
        if (rco_wall_parse(bad[i], &got, &err) == 0)
            fail_msg("%s was accepted", bad[i] ? bad[i] : "NULL");
        assert_int_equal(err.code, RCO_EINVALID);
        assert_int_equal(got, 7);
    }
}

/* gmtime_r of the C library as the oracle, over days with all leap cases. */
static void times_are_written_as_the_c_library_would(void **state)
{
    for (int64_t day = 0; day < 2932896; day += 13) {
        time_t s = (time_t)(day * 86400 + (day * 7919) % 86400);
        struct tm tm;
        char want[64], got[RCO_TIME_STR_MAX];
        gmtime_r(&s, &tm);
        strftime(want, sizeof(want), "%Y-%m-%dT%H:%M:%SZ", &tm);
        rco_wall_format((rco_wall)s * RCO_US_PER_S, got);
        assert_string_equal(got, want);
        rco_wall back;
        struct rco_error err;
        assert_int_equal(rco_wall_parse(got, &back, &err), 0);
        assert_true(back == (rco_wall)s * RCO_US_PER_S);
    }
}

static void microseconds_are_written_where_they_belong(void **state)
{
    char out[RCO_TIME_STR_MAX];
    rco_wall_format_micro(1796020824000007, out);
    assert_string_equal(out, "2026-11-30T06:40:24.000007Z");
    rco_wall_format(1796020824999999, out);
    assert_string_equal(out, "2026-11-30T06:40:24Z");
}

static void durations_are_read(void **state)
{
    static const struct {
        const char *text;
        int64_t want; /* nanoseconds, -1 = refused */
    } rows[] = {{"0", 0},
                {"0s", 0},
                {"1s", 1000000000},
                {"1h30m", 5400000000000},
                {"2.5s", 2500000000},
                {"850ms", 850000000},
                {"1h2m3s4ms", 3723004000000},
                {"1.5h", 5400000000000},
                {"90m", 5400000000000},
                {"87840h", 87840 * INT64_C(3600000000000)},
                {"87841h", -1},
                {"", -1},
                {"1", -1},
                {"s", -1},
                {"-1s", -1},
                {"+1s", -1},
                {"1d", -1},
                {"1S", -1},
                {"1 s", -1},
                {"1s ", -1},
                {"1.s", -1},
                {".5s", -1},
                {"1us", -1},
                {"99999999999999999999h", -1},
                {"9223372036854775807h", -1},
                {"1h-1m", -1},
                {NULL, -1}};
    for (size_t i = 0; i < RCO_ARRAY_LEN(rows); i++) {
        struct rco_error err = RCO_ERROR_INIT;
        int64_t got = -1;
        int rc = rco_duration_parse(rows[i].text, &got, &err);
        if (rc != (rows[i].want < 0 ? -1 : 0) || got != rows[i].want)
            fail_msg("%s: got %lld", rows[i].text ? rows[i].text : "NULL", (long long)got);
    }
}

static void durations_are_written_for_people(void **state)
{
    static const struct {
        int64_t ns;
        const char *want;
    } rows[] = {{0, "0ms"},
                {850000000, "850ms"},
                {42000000000, "42s"},
                {72000000000, "1m12s"},
                {3720000000000, "1h2m"},
                {3600000000000, "1h"},
                {3601000000000, "1h1s"},
                {-5, "0ms"}};
    for (size_t i = 0; i < RCO_ARRAY_LEN(rows); i++) {
        char out[RCO_TIME_STR_MAX];
        rco_duration_format(rows[i].ns, out);
        assert_string_equal(out, rows[i].want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_are_read),
        cmocka_unit_test(what_is_no_time_is_refused),
        cmocka_unit_test(times_are_written_as_the_c_library_would),
        cmocka_unit_test(microseconds_are_written_where_they_belong),
        cmocka_unit_test(durations_are_read),
        cmocka_unit_test(durations_are_written_for_people),
    };
    return cmocka_run_group_tests_name("time", tests, NULL, NULL);
}
