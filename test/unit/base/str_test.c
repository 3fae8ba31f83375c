#include "base/str.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void null_equals_null_only(void **state)
{
    assert_true(rco_streq(NULL, NULL));
    assert_false(rco_streq(NULL, ""));
    assert_false(rco_streq("", NULL));
    assert_true(rco_streq("a", "a"));
    assert_true(rco_str_empty(NULL) && rco_str_empty("") && !rco_str_empty(" "));
    assert_string_equal(rco_str_or_empty(NULL), "");
}

static void prefixes_and_suffixes_are_found(void **state)
{
    assert_true(rco_str_has_prefix("abc", "ab") && rco_str_has_prefix("abc", ""));
    assert_false(rco_str_has_prefix("ab", "abc") || rco_str_has_prefix(NULL, "a"));
    assert_true(rco_str_has_suffix("abc", "bc") && rco_str_has_suffix("abc", "abc"));
    assert_false(rco_str_has_suffix("bc", "abc") || rco_str_has_suffix(NULL, "a"));
}

static void hex_goes_both_ways(void **state)
{
    unsigned char bytes[4] = {0x00, 0x9f, 0xa0, 0xff}, back[4];
    char text[9];
    rco_hex_encode(bytes, 4, text);
    assert_string_equal(text, "009fa0ff");
    assert_true(rco_hex_decode("009FA0ff", back, 4));
    assert_memory_equal(back, bytes, 4);
    assert_false(rco_hex_decode("009fa0f", back, 4));
    assert_false(rco_hex_decode("009fa0ff0", back, 4));
    assert_false(rco_hex_decode("009fa0fg", back, 4));
    assert_false(rco_hex_decode("", back, 4));
    assert_true(rco_is_lower_hex("09af", 4));
    assert_false(rco_is_lower_hex("09AF", 4) || rco_is_lower_hex("09af", 3) ||
                 rco_is_lower_hex(NULL, 0));
}

static void numbers_are_exact_or_refused(void **state)
{
    struct rco_error err = RCO_ERROR_INIT;
    int64_t v = 7;
    static const char *const bad[] = {
        "",    "-",   "+5",  " 5", "5 ", "0x5", "9223372036854775808", "-9223372036854775809",
        "1e3", "--1", "1.0", NULL};
    assert_true(rco_parse_int64("9223372036854775807", &v, &err) == 0 && v == INT64_MAX);
    assert_true(rco_parse_int64("-9223372036854775808", &v, &err) == 0 && v == INT64_MIN);
    assert_true(rco_parse_int64("-5", &v, &err) == 0 && v == -5);
    assert_true(rco_parse_int64("007", &v, &err) == 0 && v == 7);
    for (size_t i = 0; i < RCO_ARRAY_LEN(bad); i++)
        if (rco_parse_int64(bad[i], &v, &err) == 0)
            fail_msg("%s was accepted", bad[i] ? bad[i] : "NULL");
    assert_int_equal(v, 7);
}

static void names_are_checked_as_kubernetes_does(void **state)
{
    char longest[256];
    memset(longest, 'a', sizeof(longest));
    longest[63] = '\0';
    assert_true(rco_is_dns_label(longest));
    longest[63] = 'a';
    longest[64] = '\0';
    assert_false(rco_is_dns_label(longest));
    assert_true(rco_is_dns_label("a") && rco_is_dns_label("0a-b9"));
    assert_false(rco_is_dns_label("") || rco_is_dns_label("-a") || rco_is_dns_label("a-") ||
                 rco_is_dns_label("A") || rco_is_dns_label("a.b") || rco_is_dns_label("a_b") ||
                 rco_is_dns_label(NULL));
    assert_true(rco_is_dns_subdomain("a.b-c.d") && rco_is_dns_subdomain("a"));
    assert_false(rco_is_dns_subdomain("a..b") || rco_is_dns_subdomain(".a") ||
                 rco_is_dns_subdomain("a.") || rco_is_dns_subdomain("") ||
                 rco_is_dns_subdomain("a.-b"));
    for (int i = 0; i < 254; i++)
        longest[i] = i % 2 ? '.' : 'a';
    longest[254] = '\0';
    assert_false(rco_is_dns_subdomain(longest));
    longest[253] = '\0';
    assert_true(rco_is_dns_subdomain(longest));
}

static void globs_match_and_stay_fast(void **state)
{
    static const struct {
        const char *pattern, *text;
        bool want;
    } rows[] = {{"", "", true},
                {"", "a", false},
                {"*", "", true},
                {"*", "anything", true},
                {"a*c", "abbbc", true},
                {"a*c", "abbb", false},
                {"a?c", "abc", true},
                {"a?c", "ac", false},
                {"*.io/*", "our.io/x", true},
                {"a**b", "ab", true},
                {"*a*b*", "xaxbx", true},
                {"*ab", "aab", true},
                {"?", "", false},
                {"[a]", "a", false},
                {"a\\*", "a*", false},
                {"kubernetes:*:Secret", "kubernetes:core/v1:Secret", true}};
    for (size_t i = 0; i < RCO_ARRAY_LEN(rows); i++)
        if (rco_glob_match(rows[i].pattern, rows[i].text) != rows[i].want)
            fail_msg("%s on %s", rows[i].pattern, rows[i].text);
    char text[4001];
    memset(text, 'a', 4000);
    text[4000] = '\0';
    assert_false(rco_glob_match("a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b", text));
}

static void resource_versions_are_ordered_by_length_and_digits(void **state)
{
    int order = 9;
    assert_true(rco_rv_compare("9", "10", &order) == 0 && order < 0);
    assert_true(rco_rv_compare("123", "122", &order) == 0 && order > 0);
    assert_true(rco_rv_compare("99999999999999999999999", "99999999999999999999999", &order) == 0 &&
                order == 0);
    order = 9;
    static const char *const bad[] = {"", "0", "01", "-1", "1a", "a", NULL};
    for (size_t i = 0; i < RCO_ARRAY_LEN(bad); i++) {
        assert_int_equal(rco_rv_compare(bad[i], "1", &order), -1);
        assert_int_equal(rco_rv_compare("1", bad[i], &order), -1);
    }
    assert_int_equal(order, 9);
}

static void a_value_is_found_among_pairs(void **state)
{
    const struct rco_kv kv[] = {{"a", "1"}, {"b", "2"}};
    assert_string_equal(rco_kv_get(kv, 2, "b"), "2");
    assert_null(rco_kv_get(kv, 2, "c"));
    assert_null(rco_kv_get(NULL, 0, "a"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(null_equals_null_only),
        cmocka_unit_test(prefixes_and_suffixes_are_found),
        cmocka_unit_test(hex_goes_both_ways),
        cmocka_unit_test(numbers_are_exact_or_refused),
        cmocka_unit_test(names_are_checked_as_kubernetes_does),
        cmocka_unit_test(globs_match_and_stay_fast),
        cmocka_unit_test(resource_versions_are_ordered_by_length_and_digits),
        cmocka_unit_test(a_value_is_found_among_pairs),
    };
    return cmocka_run_group_tests_name("str", tests, NULL, NULL);
}
