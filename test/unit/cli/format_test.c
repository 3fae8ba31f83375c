#include "format.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void json_is(const char *in, const char *want)
{
    rco_autobuf out = RCO_BUF_INIT;
    struct rco_error err = RCO_ERROR_INIT;

    if (rco_format_json(in, strlen(in), &out, &err) < 0)
        fail_msg("%s", err.msg);
    assert_string_equal(rco_buf_str(&out), want);
}

static void yaml_is(const char *in, const char *want)
{
    rco_autobuf out = RCO_BUF_INIT;
    struct rco_error err = RCO_ERROR_INIT;

    if (rco_format_yaml(in, strlen(in), &out, &err) < 0)
        fail_msg("%s", err.msg);
    assert_string_equal(rco_buf_str(&out), want);
}

static void json_is_indented_as_kubectl_does(void **state)
{
    (void)state;
    json_is("{\"a\":1,\"b\":[true,null,-1.5e3],\"c\":{},\"d\":[],\"e\":{\"f\":\"g\"}}",
            "{\n    \"a\": 1,\n    \"b\": [\n        true,\n        null,\n        -1.5e3\n    ],\n"
            "    \"c\": {},\n    \"d\": [],\n    \"e\": {\n        \"f\": \"g\"\n    }\n}\n");
    json_is(" \"x\" ", "\"x\"\n");
}

static void managed_fields_go_and_only_those(void **state)
{
    (void)state;
    json_is("{\"metadata\":{\"managedFields\":[{\"f:x\":{}}],\"name\":\"n\"}}",
            "{\n    \"metadata\": {\n        \"name\": \"n\"\n    }\n}\n");
    json_is("{\"metadata\":{\"name\":\"n\",\"managedFields\":[]}}",
            "{\n    \"metadata\": {\n        \"name\": \"n\"\n    }\n}\n");
    json_is("{\"managedFields\":1}", "{\n    \"managedFields\": 1\n}\n");
    yaml_is("{\"metadata\":{\"managedFields\":[{}],\"name\":\"shop\"}}",
            "metadata:\n  name: shop\n");
}

static void strings_are_decoded_and_written_safely(void **state)
{
    (void)state;
    json_is("\"\\u003cb\\u003e \\u00e9 \\ud83d\\ude00 \\/ \\\\ \\\" \\n\\t\"",
            "\"<b> \xc3\xa9 \xf0\x9f\x98\x80 / \\\\ \\\" \\n\\t\"\n");
    json_is("\"\\u001b[31m\\u0007 \xe2\x80\xae\"", "\"\\u001b[31m\\u0007 \\u202e\"\n");
    json_is("\"lone \\ud800 x\"", "\"lone \xef\xbf\xbd x\"\n");
}

static void yaml_is_in_block_style(void **state)
{
    (void)state;
    yaml_is(
        "{\"a\":1,\"l\":[{\"x\":\"y\",\"z\":[1,[2]]},\"s\"],\"e\":{},\"m\":[],\"o\":{\"p\":{\"q\":"
        "null}}}",
        "a: 1\nl:\n- x: \"y\"\n  z:\n  - 1\n  - - 2\n- s\ne: {}\nm: []\no:\n  p:\n    q: null\n");
    yaml_is("[]", "[]\n");
    yaml_is("[{},[]]", "- {}\n- []\n");
}

static void yaml_strings_that_mean_something_else_are_quoted(void **state)
{
    (void)state;
    yaml_is("[\"true\",\"No\",\"12\",\"\",\"a: b\",\"a #b\",\"~\",\"- x\",\"x:\",\"a\\nb\",\"plain "
            "text\",\"a/b:c\",\"*x\"]",
            "- \"true\"\n- \"No\"\n- \"12\"\n- \"\"\n- \"a: b\"\n- \"a #b\"\n- \"~\"\n- \"- x\"\n- "
            "\"x:\"\n"
            "- \"a\\nb\"\n- plain text\n- a/b:c\n- \"*x\"\n");
    yaml_is("{\"on\":\"x\",\"k.io/a\":\"x\"}", "\"on\": x\nk.io/a: x\n");
}

static void text_that_is_not_json_is_refused(void **state)
{
    static const char *const texts[] = {"",      "{",        "{\"a\"}", "[1,",     "{\"a\":1}x",
                                        "nul",   "\"abc",    "{a:1}",   "\"\\x\"", "\"\\u12\"",
                                        "[1 2]", "\"a\nb\"", "tru\xff"};

    (void)state;
    for (size_t i = 0; i < RCO_ARRAY_LEN(texts); i++) {
        rco_autobuf out = RCO_BUF_INIT;
        struct rco_error err = RCO_ERROR_INIT;

        if (rco_format_json(texts[i], strlen(texts[i]), &out, &err) == 0)
            fail_msg("accepted as JSON: %s", texts[i]);
        if (rco_format_yaml(texts[i], strlen(texts[i]), &out, &err) == 0)
            fail_msg("accepted for YAML: %s", texts[i]);
        assert_int_equal(out.len, 0);
    }
}

static void nesting_is_bounded_and_width_is_not(void **state)
{
    rco_autobuf deep = RCO_BUF_INIT, wide = RCO_BUF_INIT, out = RCO_BUF_INIT;
    struct rco_error err = RCO_ERROR_INIT;

    (void)state;
    for (int i = 0; i < RCO_FORMAT_MAX_DEPTH + 1; i++)
        rco_buf_addc(&deep, '[');
    for (int i = 0; i < RCO_FORMAT_MAX_DEPTH + 1; i++)
        rco_buf_addc(&deep, ']');
    assert_int_equal(rco_format_json(rco_buf_str(&deep), deep.len, &out, &err), -1);
    assert_int_equal(rco_format_json(rco_buf_str(&deep) + 1, deep.len - 2, &out, &err), 0);
    rco_buf_addc(&wide, '[');
    for (int i = 0; i < 1000; i++)
        rco_buf_adds(&wide, "{},");
    rco_buf_adds(&wide, "{}]");
    assert_int_equal(rco_format_yaml(rco_buf_str(&wide), wide.len, &out, &err), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_is_indented_as_kubectl_does),
        cmocka_unit_test(managed_fields_go_and_only_those),
        cmocka_unit_test(strings_are_decoded_and_written_safely),
        cmocka_unit_test(yaml_is_in_block_style),
        cmocka_unit_test(yaml_strings_that_mean_something_else_are_quoted),
        cmocka_unit_test(text_that_is_not_json_is_refused),
        cmocka_unit_test(nesting_is_bounded_and_width_is_not),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
