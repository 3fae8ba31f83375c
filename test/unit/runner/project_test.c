#include "project.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static int parse(const char *text, struct rco_arena *a, struct rco_project *ret,
                 struct rco_error *err)
{
    return rco_project_parse("Pulumi.yaml", text, strlen(text), a, ret, err);
}

static void name_and_runtime_are_read_in_their_forms(void **state)
{
    static const struct {
        const char *text, *name, *runtime, *settings;
    } rows[] = {
        {"name: shop\nruntime: yaml\n", "shop", "yaml", ""},
        {"# c\nruntime: yaml # c\nname: \"a-b.c_D\"  \ndescription: name: x\n", "a-b.c_D", "yaml",
         ""},
        {"name: 'x'\r\nruntime:\r\n  name: nodejs\r\n  options:\r\n    name: no\r\n", "x", "nodejs",
         ""},
        {"name: x\nruntime:\n\n  # c\n  options:\n    a: 1\n  name: python\n", "x", "python", ""},
        {"name: x\nruntime: {name: go, options: {a: b}}\n", "x", "go", ""},
        {"\"name\": x\n\"runtime\": {\"name\": \"go\"}\n", "x", "go", ""},
        {"name: x\nruntime: yaml\nstackConfigDir: stacks\nresources:\n  name:\n    type: a\n", "x",
         "yaml", "stacks"},
        {"name: x\nruntime: yaml\nvariables:\n  a: |\n    name: other\n  b: &anchor 1\n", "x",
         "yaml", ""},
    };
    for (size_t i = 0; i < RCO_ARRAY_LEN(rows); i++) {
        rco_autoarena a = RCO_ARENA_INIT;
        struct rco_error err = RCO_ERROR_INIT;
        struct rco_project p;
        if (parse(rows[i].text, &a, &p, &err) < 0)
            fail_msg("row %zu: %s", i, err.msg);
        assert_string_equal(p.name, rows[i].name);
        assert_string_equal(p.runtime, rows[i].runtime);
        assert_string_equal(p.settings_dir, rows[i].settings);
    }
}

static void files_without_a_valid_name_or_runtime_are_refused(void **state)
{
    static const char *const bad[] = {
        "",
        "runtime: yaml\n",
        "name: x\n",
        "name: a b\nruntime: yaml\n",
        "name:\nruntime: yaml\n",
        "name: ../x\nruntime: yaml\n",
        "  name: x\n  runtime: yaml\n",
        "name: x\nruntime:\nresources:\n  name: y\n",
        "names: x\nruntime: yaml\n",
        "{",
        "name: \xff\nruntime: yaml\n",
    };
    for (size_t i = 0; i < RCO_ARRAY_LEN(bad); i++) {
        rco_autoarena a = RCO_ARENA_INIT;
        struct rco_error err = RCO_ERROR_INIT;
        struct rco_project p;
        if (parse(bad[i], &a, &p, &err) == 0)
            fail_msg("%s was accepted", bad[i]);
        assert_int_equal(err.code, RCO_EINVALID);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(name_and_runtime_are_read_in_their_forms),
        cmocka_unit_test(files_without_a_valid_name_or_runtime_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
