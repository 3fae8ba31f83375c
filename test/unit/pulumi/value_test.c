#include "pulumi/value.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct rco_value *parse(struct rco_arena *a, const char *json)
{
    struct rco_error err = RCO_ERROR_INIT;
    struct rco_value *v = NULL;
    if (rco_value_parse(json, strlen(json), a, &v, &err) < 0)
        fail_msg("%s: %s", json, err.msg);
    return v;
}

static void canonical_is(const char *json, const char *want)
{
    rco_autoarena a = RCO_ARENA_INIT;
    rco_autobuf out = RCO_BUF_INIT;
    rco_value_canonical(parse(&a, json), &out);
    assert_string_equal(rco_buf_str(&out), want);
}

static void canonical_form_sorts_members_and_keeps_numbers(void **state)
{
    canonical_is(" { \"b\" : 1.50, \"a\" : [ true , null, -0.1e+5 ] } ",
                 "{\"a\":[true,null,-0.1e+5],\"b\":1.50}");
    canonical_is("18446744073709551617", "18446744073709551617");
    canonical_is("{}", "{}");
    canonical_is("[]", "[]");
    canonical_is("{\"a\":{\"z\":1,\"y\":2}}", "{\"a\":{\"y\":2,\"z\":1}}");
}

static void strings_have_one_spelling(void **state)
{
    canonical_is("\"\\u0041\\/\\u00e9\\n\\u001f\"", "\"A/\xc3\xa9\\n\\u001f\"");
    canonical_is("\"\\ud83d\\ude00\"", "\"\xf0\x9f\x98\x80\"");
    canonical_is("\"\\ud83d x\"", "\"\xef\xbf\xbd x\""); /* a lone surrogate */
    canonical_is("\"\\\"\\\\\"", "\"\\\"\\\\\"");
}

static void what_is_not_json_is_refused(void **state)
{
    static const char *const bad[] = {
        "",
        " ",
        "{",
        "}",
        "[1,]",
        "{\"a\":1,}",
        "{a:1}",
        "nul",
        "01",
        "1.",
        ".5",
        "+1",
        "1e",
        "-",
        "\"",
        "\"\\x\"",
        "\"\\u12\"",
        "\"\n\"",
        "'a'",
        "[1] 2",
        "{\"a\" 1}",
        "\"\xff\"",
        "\"\xc0\x80\"",
        "\"\xed\xa0\x80\"",
        "\"\xf4\x90\x80\x80\"",
        "NaN",
        "{\"a\":1,\"a\":2}",
    };
    for (size_t i = 0; i < RCO_ARRAY_LEN(bad); i++) {
        rco_autoarena a = RCO_ARENA_INIT;
        struct rco_error err = RCO_ERROR_INIT;
        struct rco_value *v;
        if (rco_value_parse(bad[i], strlen(bad[i]), &a, &v, &err) == 0)
            fail_msg("%s was accepted", bad[i]);
        assert_int_equal(err.code, RCO_EINVALID);
    }
}

static void duplicates_are_found_in_large_objects_too(void **state)
{
    rco_autoarena a = RCO_ARENA_INIT;
    rco_autobuf text = RCO_BUF_INIT;
    struct rco_error err = RCO_ERROR_INIT;
    struct rco_value *v;
    for (int twice = 0; twice < 2; twice++) {
        rco_buf_clear(&text);
        for (int i = 0; i < 100; i++)
            rco_buf_addf(&text, "%s\"k%d\":%d", i ? "," : "{", twice && i == 99 ? 3 : i, i);
        rco_buf_addc(&text, '}');
        assert_int_equal(rco_value_parse(text.data, text.len, &a, &v, &err), twice ? -1 : 0);
    }
}

static void depth_is_capped(void **state)
{
    rco_autoarena a = RCO_ARENA_INIT;
    struct rco_error err = RCO_ERROR_INIT;
    struct rco_value *v;
    char deep[2 * RCO_VALUE_MAX_DEPTH + 3];
    size_t n = RCO_VALUE_MAX_DEPTH;
    memset(deep, '[', n);
    memset(deep + n, ']', n);
    assert_int_equal(rco_value_parse(deep, 2 * n, &a, &v, &err), 0);
    n++;
    memset(deep, '[', n);
    memset(deep + n, ']', n);
    assert_int_equal(rco_value_parse(deep, 2 * n, &a, &v, &err), -1);
    assert_int_equal(err.code, RCO_ETOOBIG);
}

static void members_are_read_by_type(void **state)
{
    rco_autoarena a = RCO_ARENA_INIT;
    struct rco_value *v =
        parse(&a, "{\"s\":\"x\",\"n\":7,\"f\":1.5,\"b\":true,\"z\":\"a\\u0000b\"}");
    assert_string_equal(rco_value_text(v, "s"), "x");
    assert_null(rco_value_text(v, "n"));
    assert_null(rco_value_text(v, "z")); /* a NUL would end it early */
    assert_int_equal(rco_value_int(v, "n", -1), 7);
    assert_int_equal(rco_value_int(v, "f", -1), -1);
    assert_int_equal(rco_value_int(v, "s", -1), -1);
    assert_true(rco_value_bool(v, "b"));
    assert_false(rco_value_bool(v, "s"));
    assert_null(rco_value_get(NULL, "s"));
    assert_null(rco_value_get(rco_value_get(v, "s"), "s"));
}

static void equality_ignores_the_order_of_members(void **state)
{
    rco_autoarena a = RCO_ARENA_INIT;
    assert_true(
        rco_value_equal(parse(&a, "{\"a\":1,\"b\":[2]}"), parse(&a, "{\"b\":[2],\"a\":1}")));
    assert_false(rco_value_equal(parse(&a, "{\"a\":1}"), parse(&a, "{\"a\":2}")));
    assert_false(rco_value_equal(parse(&a, "[1,2]"), parse(&a, "[2,1]")));
    assert_true(rco_value_equal(NULL, NULL));
    assert_false(rco_value_equal(parse(&a, "null"), NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(canonical_form_sorts_members_and_keeps_numbers),
        cmocka_unit_test(strings_have_one_spelling),
        cmocka_unit_test(what_is_not_json_is_refused),
        cmocka_unit_test(duplicates_are_found_in_large_objects_too),
        cmocka_unit_test(depth_is_capped),
        cmocka_unit_test(members_are_read_by_type),
        cmocka_unit_test(equality_ignores_the_order_of_members),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
