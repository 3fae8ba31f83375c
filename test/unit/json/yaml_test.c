#include "json/yaml.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void check(const char *yaml, const char *want)
{
    rco_autobuf out = RCO_BUF_INIT;
    struct rco_error err = RCO_ERROR_INIT;
    if (rco_yaml_to_json(yaml, strlen(yaml), &out, &err) < 0)
        fail_msg("%s\n%s", err.msg, yaml);
    assert_string_equal(out.data, want);
}

static void refuse(const char *yaml, const char *want)
{
    rco_autobuf out = RCO_BUF_INIT;
    struct rco_error err = RCO_ERROR_INIT;
    if (rco_yaml_to_json(yaml, strlen(yaml), &out, &err) == 0)
        fail_msg("accepted: %s", yaml);
    if (!strstr(err.msg, want))
        fail_msg("\"%s\" does not contain \"%s\"", err.msg, want);
    assert_int_equal(out.len, 0);
}

static void yaml_becomes_the_json_that_means_the_same(void **state)
{
    check("a: 1\nb:\n- x\n- {c: d, e: [1, 2.5]}\nf: {}\ng: []\nh:\n",
          "{\"a\":1,\"b\":[\"x\",{\"c\":\"d\",\"e\":[1,2.5]}],\"f\":{},\"g\":[],\"h\":null}");
    check("- - 1\n  - - 2\n- a:\n    b:\n      - c\n", "[[1,[2]],{\"a\":{\"b\":[\"c\"]}}]");
    check("text: |\n  a \"quote\"\n  b\nfolded: >-\n  c\n  d\n",
          "{\"text\":\"a \\\"quote\\\"\\nb\\n\",\"folded\":\"c d\"}");
    check("plain", "\"plain\"");
    check("", "null");
    check("# nothing\n", "null");
    check("---\na: b\n...\n", "{\"a\":\"b\"}");
    check("1: one\ntrue: yes\n", "{\"1\":\"one\",\"true\":\"yes\"}");
}

static void plain_scalars_have_the_types_of_yaml_1_2(void **state)
{
    check("[yes, no, on, off, y, n]", "[\"yes\",\"no\",\"on\",\"off\",\"y\",\"n\"]");
    check("[true, False, TRUE, null, ~, Null]", "[true,false,true,null,null,null]");
    check("['true', \"1\", '']", "[\"true\",\"1\",\"\"]");
    check("[0, -1, 1.5e3, 01, 0x1f, 1_000, .5, 1., -, +1, .nan, 2026-11-30, 1e, 12:30]",
          "[0,-1,1.5e3,\"01\",\"0x1f\",\"1_000\",\".5\",\"1.\",\"-\",\"+1\",\".nan\",\"2026-11-"
          "30\",\"1e\","
          "\"12:30\"]");
}

static void what_can_blow_up_or_surprise_is_refused_with_its_line(void **state)
{
    refuse("a: &x 1\nb: 2\n", "line 1, column 4: anchors");
    refuse("a: 1\nb: *x\n", "line 2");
    refuse("a: &x [1]\nb: [*x, *x]\n", "anchors");
    refuse("a: !!str 1\n", "line 1, column 4: tags");
    refuse("a: !Ref x\n", "tags");
    refuse("<<: {a: 1}\n", "merge keys");
    refuse("? [a]\n: b\n", "a key must be text");
    refuse("a: b: c\n", "line 1");
    refuse("a: [1\n", "line 2");
    refuse("a: \"x\n", "line");
    refuse("\tb: 1\n", "line 1");
    refuse("a: \"\\0\"\n", "NUL");
    refuse("a: 1\n---\nb: 2\n", "line 3: a second document");
    refuse("a: \xff\xfe\n", "line");
}

static void deep_nesting_is_refused(void **state)
{
    rco_autobuf yaml = RCO_BUF_INIT;
    for (int i = 0; i < RCO_YAML_MAX_DEPTH; i++)
        rco_buf_addc(&yaml, '[');
    for (int i = 0; i < RCO_YAML_MAX_DEPTH; i++)
        rco_buf_addc(&yaml, ']');
    check(yaml.data, yaml.data);
    rco_buf_clear(&yaml);
    for (int i = 0; i < 100000; i++)
        rco_buf_adds(&yaml, i % 2 ? "{a: " : "[");
    refuse(yaml.data, "is nested too deeply");
}

static int note_document(void *ctx, size_t index, size_t line, const char *json, size_t n,
                         struct rco_error *err)
{
    rco_buf_addf(ctx, "%zu@%zu:%.*s;", index, line, (int)n, json);
    return index == 2 ? rco_error_set(err, RCO_ECANCELLED, "enough") : 0;
}

static void documents_come_one_by_one_without_the_empty_ones(void **state)
{
    rco_autobuf out = RCO_BUF_INIT;
    struct rco_error err = RCO_ERROR_INIT;
    const char *yaml = "---\na: 1\n---\n# nothing\n---\n- 2\n---\n";
    assert_int_equal(rco_yaml_each(yaml, strlen(yaml), note_document, &out, &err), 0);
    assert_string_equal(out.data, "0@2:{\"a\":1};1@6:[2];");
    yaml = "1\n---\n2\n---\n3\n---\n4\n";
    assert_int_equal(rco_yaml_each(yaml, strlen(yaml), note_document, &out, &err), -1);
    assert_int_equal(err.code, RCO_ECANCELLED);
}

struct conf {
    const char *name;
    int64_t n;
    bool has_n;
};

static const struct rco_field conf_fields[] = {
    {.name = "name", .type = RCO_FIELD_STRING, .offset = offsetof(struct conf, name)},
    {.name = "n",
     .type = RCO_FIELD_INT,
     .offset = offsetof(struct conf, n),
     .aux_offset = offsetof(struct conf, has_n)},
};
static const struct rco_schema conf_schema = {"conf", sizeof(struct conf), conf_fields, 2};

static void a_configuration_is_decoded_and_typing_mistakes_are_named(void **state)
{
    rco_autoarena a = RCO_ARENA_INIT;
    struct rco_error err = RCO_ERROR_INIT;
    struct conf c;
    const char *yaml = "name: x\nn: 3\nnaem: y\n";
    assert_int_equal(rco_yaml_decode(&conf_schema, yaml, strlen(yaml), &a, &c, &err), 0);
    assert_string_equal(c.name, "x");
    assert_true(c.has_n && c.n == 3);
    assert_int_equal(rco_yaml_decode_strict(&conf_schema, yaml, strlen(yaml), &a, &c, &err), -1);
    assert_non_null(strstr(err.msg, ".naem is not a known field"));
    assert_int_equal(rco_yaml_decode_strict(&conf_schema, "", 0, &a, &c, &err), 0);
    assert_null(c.name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(yaml_becomes_the_json_that_means_the_same),
        cmocka_unit_test(plain_scalars_have_the_types_of_yaml_1_2),
        cmocka_unit_test(what_can_blow_up_or_surprise_is_refused_with_its_line),
        cmocka_unit_test(deep_nesting_is_refused),
        cmocka_unit_test(documents_come_one_by_one_without_the_empty_ones),
        cmocka_unit_test(a_configuration_is_decoded_and_typing_mistakes_are_named),
    };
    return cmocka_run_group_tests_name("yaml", tests, NULL, NULL);
}
