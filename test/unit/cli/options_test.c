#include "options.h"

#include "api/zz_generated_types.h"
#include "base/str.h"
#include "base/time.h"
#include "verbs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct rco_verb *const verbs[] = {&rco_verb_status, &rco_verb_run, &rco_verb_why,
                                               NULL};
static const struct rco_verb root = {
    .name = "x", .args = "", .description = "Root.", .verbs = verbs};

#define MAX_WORDS 12

/* Parses the words of LINE, separated by one space; "''" stands for an empty word. */
static int parse(const char *line, struct rco_parsed *out, struct rco_error *err)
{
    static char copy[400]; /* arguments are borrowed by OUT */
    char *argv[MAX_WORDS + 1] = {(char *)"program"};
    int argc = 1;

    strcpy(copy, line);
    for (char *word = strtok(copy, " "); word && argc < MAX_WORDS; word = strtok(NULL, " "))
        argv[argc++] = strcmp(word, "''") == 0 ? word + 2 : word;
    *err = RCO_ERROR_INIT;
    return rco_options_parse(&root, argc, argv, out, err);
}

static void flags_are_taken_in_every_spelling(void **state)
{
    static const char *const lines[] = {
        "status shop -n team-a -o json -w",
        "-n team-a status shop -ojson --watch",
        "status -n=team-a shop -o=JSON -w",
        "status --namespace=team-a --output json --watch=true -- shop",
        "status -wo json -nteam-a shop",
    };

    (void)state;
    for (size_t i = 0; i < RCO_ARRAY_LEN(lines); i++) {
        struct rco_parsed p;
        struct rco_error err;

        if (parse(lines[i], &p, &err) < 0)
            fail_msg("%s: %s", lines[i], err.msg);
        assert_ptr_equal(p.verb, &rco_verb_status);
        assert_string_equal(p.path, "kubectl runtimecloud status");
        assert_string_equal(p.options.ns, "team-a");
        assert_int_equal(p.options.output, RCO_OUTPUT_JSON);
        assert_true(p.options.watch);
        assert_int_equal(p.options.n_args, 1);
        assert_string_equal(p.options.args[0], "shop");
    }
}

static void words_of_states_are_those_of_the_api(void **state)
{
    (void)state;
    for (int i = 0; rco_option_state_words[i] || rco_run_state_words[i]; i++) {
        assert_non_null(rco_run_state_words[i]);
        assert_non_null(rco_option_state_words[i]);
        assert_string_equal(rco_option_state_words[i], rco_run_state_words[i]);
    }
}

static void values_become_what_they_mean(void **state)
{
    struct rco_parsed p;
    struct rco_error err;

    (void)state;
    assert_int_equal(parse("run list --state failed,Pending --spec shop -A", &p, &err), 0);
    assert_int_equal(p.options.states, 1 << 6 | 1);
    assert_string_equal(p.options.spec, "shop");
    assert_true(p.options.all_namespaces);
    assert_int_equal(parse("run watch x --timeout 1m30s", &p, &err), 0);
    assert_true(p.options.timeout_ns == 90 * RCO_NS_PER_S);
    assert_int_equal(parse("run logs x --phase plan -f", &p, &err), 0);
    assert_int_equal(p.options.phase, 1);
    assert_true(p.options.follow);
    assert_int_equal(parse("status --watch=false", &p, &err), 0);
    assert_false(p.options.watch);
}

static void mistakes_are_named_with_what_was_meant(void **state)
{
    static const struct {
        const char *line, *want;
    } rows[] = {
        {"statsu", "did you mean \"kubectl runtimecloud status\"?"},
        {"frobnicate", "one of: status, run, why"},
        {"run lsit", "did you mean \"kubectl runtimecloud run list\"?"},
        {"status --namspace x",
         "unknown flag --namspace for \"kubectl runtimecloud status\"; did you mean --namespace?"},
        {"status --follow", "unknown flag --follow"},
        {"status -x", "unknown flag -x"},
        {"status -wx", "unknown flag -x"},
        {"--watch status", "unknown flag --watch for \"kubectl runtimecloud\""},
        {"status -n", "--namespace needs a value"},
        {"status -n Team", "\"Team\" cannot be the value of --namespace"},
        {"status -n ''", "cannot be the value of --namespace"},
        {"status --context ''", "--context must not be empty"},
        {"status -o jsn", "did you mean json?"},
        {"status --watch=maybe", "--watch takes no value"},
        {"status a b", "\"b\" is one argument too many"},
        {"status ''", "must not be empty"},
        {"run list --state Faild", "did you mean Failed?"},
        {"run list --state Failed,", "is not a value of --state"},
        {"run watch x --timeout soon", "\"soon\" is not a value of --timeout"},
        {"run", "needs a command: one of list, show, logs, watch"},
        {"why", "needs NAME | KIND/NAME"},
        {"''", "unknown command \"\""},
    };

    (void)state;
    for (size_t i = 0; i < RCO_ARRAY_LEN(rows); i++) {
        struct rco_parsed p;
        struct rco_error err;

        if (parse(rows[i].line, &p, &err) == 0)
            fail_msg("accepted: %s", rows[i].line);
        if (!strstr(err.msg, rows[i].want))
            fail_msg("%s: %s", rows[i].line, err.msg);
        assert_non_null(p.verb);
    }
}

static void help_needs_nothing_else(void **state)
{
    struct rco_parsed p;
    struct rco_error err;
    rco_autobuf out = RCO_BUF_INIT;

    (void)state;
    assert_int_equal(parse("why -h", &p, &err), 0);
    assert_int_equal(parse("run --help", &p, &err), 0);
    rco_options_help(&p, &out);
    assert_non_null(strstr(rco_buf_str(&out), "Usage: kubectl runtimecloud run COMMAND [flags]\n"));
    assert_int_equal(parse("-h", &p, &err), 0);
}

/* Every example in the help is a command line that parses. */
static void check_examples(const struct rco_verb *v)
{
    for (size_t i = 0; v->examples && v->examples[i]; i += 2) {
        struct rco_parsed p;
        struct rco_error err;

        assert_non_null(v->examples[i + 1]);
        if (parse(v->examples[i + 1], &p, &err) < 0)
            fail_msg("example \"%s\": %s", v->examples[i + 1], err.msg);
    }
    for (size_t i = 0; v->verbs && v->verbs[i]; i++)
        check_examples(v->verbs[i]);
}

static void every_example_is_a_valid_command(void **state)
{
    (void)state;
    for (size_t i = 0; verbs[i]; i++)
        check_examples(verbs[i]);
}

static void targets_are_named_in_every_way_kubectl_knows(void **state)
{
    static const struct {
        const char *text;
        enum rco_target_kind kind;
        const char *name;
    } rows[] = {
        {"shop", RCO_TARGET_SPEC, "shop"},          {"depspec/shop", RCO_TARGET_SPEC, "shop"},
        {"Environment/dev", RCO_TARGET_ENV, "dev"}, {"renv/dev", RCO_TARGET_ENV, "dev"},
        {"prun/a-b.c", RCO_TARGET_RUN, "a-b.c"},    {"provisioningrun/x", RCO_TARGET_RUN, "x"},
    };
    static const char *const bad[] = {"pod/x", "Shop", "a/b/c", "env/", "/x", "..", "a b"};
    struct rco_target t;
    struct rco_error err = RCO_ERROR_INIT;

    (void)state;
    for (size_t i = 0; i < RCO_ARRAY_LEN(rows); i++) {
        assert_int_equal(rco_target_parse(rows[i].text, &t, &err), 0);
        assert_int_equal(t.kind, rows[i].kind);
        assert_string_equal(t.name, rows[i].name);
    }
    for (size_t i = 0; i < RCO_ARRAY_LEN(bad); i++)
        if (rco_target_parse(bad[i], &t, &err) == 0)
            fail_msg("accepted: %s", bad[i]);
    assert_int_equal(rco_target_parse("enviroment/dev", &t, &err), -1);
    assert_non_null(strstr(err.msg, "did you mean environment?"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flags_are_taken_in_every_spelling),
        cmocka_unit_test(words_of_states_are_those_of_the_api),
        cmocka_unit_test(values_become_what_they_mean),
        cmocka_unit_test(mistakes_are_named_with_what_was_meant),
        cmocka_unit_test(help_needs_nothing_else),
        cmocka_unit_test(every_example_is_a_valid_command),
        cmocka_unit_test(targets_are_named_in_every_way_kubectl_knows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
