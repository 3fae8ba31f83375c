#include "base/quantity.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

struct row {
    const char *text;
    int64_t want; /* -1 = refused */
};

static void cpu_is_exact_in_millicores(void **state)
{
    static const struct row rows[] = {{"1", 1000},
                                      {"0", 0},
                                      {"0.5", 500},
                                      {"500m", 500},
                                      {"1.001", 1001},
                                      {"2k", 2000000},
                                      {"1e3", 1000000},
                                      {"1E-3", 1},
                                      {"1000u", 1},
                                      {"1000000n", 1},
                                      {"+1", 1000},
                                      {".5", 500},
                                      {"5.", 5000},
                                      {"1099511627776m", INT64_C(1) << 40},
                                      {"1Ki", 1024000},
                                      {"0.0001", -1},
                                      {"1u", -1},
                                      {"1099511627777m", -1},
                                      {"-1", -1},
                                      {"", -1},
                                      {"m", -1},
                                      {"1mm", -1},
                                      {"1 ", -1},
                                      {" 1", -1},
                                      {"1.2.3", -1},
                                      {".", -1},
                                      {"0x1", -1},
                                      {"NaN", -1},
                                      {"1e", -1},
                                      {"1e999", -1},
                                      {"1e22222222222222222222", -1},
                                      {"1e100", -1},
                                      {"999999999999999999999999999999999999", -1},
                                      {"1,5", -1},
                                      {NULL, -1}};
    for (size_t i = 0; i < RCO_ARRAY_LEN(rows); i++) {
        struct rco_error err = RCO_ERROR_INIT;
        int64_t got = -1;
        int rc = rco_quantity_cpu(rows[i].text, &got, &err);
        if (rc != (rows[i].want < 0 ? -1 : 0) || got != rows[i].want)
            fail_msg("cpu %s: got %lld", rows[i].text ? rows[i].text : "NULL", (long long)got);
        assert_int_equal(err.code, rc ? RCO_EINVALID : RCO_OK);
    }
}

static void memory_is_exact_in_bytes(void **state)
{
    static const struct row rows[] = {{"0", 0},
                                      {"1", 1},
                                      {"1k", 1000},
                                      {"1Ki", 1024},
                                      {"1M", 1000000},
                                      {"1Mi", 1048576},
                                      {"1G", 1000000000},
                                      {"1Gi", 1073741824},
                                      {"1T", 1000000000000},
                                      {"1Ti", 1099511627776},
                                      {"1P", 1000000000000000},
                                      {"1Pi", 1125899906842624},
                                      {"1E", 1000000000000000000},
                                      {"1Ei", 1152921504606846976},
                                      {"4Ei", INT64_C(1) << 62},
                                      {"1.5Gi", 1610612736},
                                      {"0.5Ki", 512},
                                      {"2000m", 2},
                                      {"1e9", 1000000000},
                                      {"128974848", 128974848},
                                      {"4611686018427387904", INT64_C(1) << 62},
                                      {"4611686018427387905", -1},
                                      {"5Ei", -1},
                                      {"1500m", -1},
                                      {"0.3", -1},
                                      {"0.1Ki", -1},
                                      {"-1Gi", -1},
                                      {"1gi", -1},
                                      {"1GiB", -1},
                                      {"1KI", -1},
                                      {"1e19", -1},
                                      {"Ki", -1},
                                      {"1e-1", -1},
                                      {"10e-1", 1},
                                      {"0e99", 0}};
    for (size_t i = 0; i < RCO_ARRAY_LEN(rows); i++) {
        struct rco_error err = RCO_ERROR_INIT;
        int64_t got = -1;
        int rc = rco_quantity_bytes(rows[i].text, &got, &err);
        if (rc != (rows[i].want < 0 ? -1 : 0) || got != rows[i].want)
            fail_msg("bytes %s: got %lld", rows[i].text, (long long)got);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cpu_is_exact_in_millicores),
        cmocka_unit_test(memory_is_exact_in_bytes),
    };
    return cmocka_run_group_tests_name("quantity", tests, NULL, NULL);
}
