#include "runner.h"

#include "base/file.h"
#include "base/str.h"
#include "json/codec.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define JOB(REST)                                                                                  \
    "{\"protocol\":1,\"namespace\":\"team\",\"run\":\"r\",\"runUid\":\"u\",\"stack\":\"dev\","     \
    "\"program\":{\"repository\":\"https://h/a\",\"commit\":\"c\"},\"backend\":{\"url\":\"file://" \
    "/s\"}" REST "}"

static void a_job_is_read_and_what_must_be_there_is_named(void **state)
{
    static const struct {
        const char *text, *part;
    } rows[] = {
        {NULL, "RCO_JOB is not set"},
        {"", "RCO_JOB is not set"},
        {"x", "RCO_JOB"},
        {"{\"protocol\":1}", ".namespace is missing"},
        {JOB(""), ".phase is neither"},
        {JOB(",\"phase\":\"destroy\""), ".phase is neither"},
        {JOB(",\"phase\":\"apply\""), "without .expected"},
        {"{\"protocol\":2,\"namespace\":\"t\",\"run\":\"r\",\"runUid\":\"u\",\"stack\":\"d\","
         "\"phase\":\"plan\",\"program\":"
         "{\"repository\":\"x\",\"commit\":\"c\"},\"backend\":{\"url\":\"u\"}}",
         "protocol 2"},
    };
    for (size_t i = 0; i < RCO_ARRAY_LEN(rows); i++) {
        struct rco_runner r = {0};
        struct rco_error err = RCO_ERROR_INIT;
        assert_int_equal(rco_runner_load_job(&r, rows[i].text, &err), -1);
        if (!strstr(err.msg, rows[i].part))
            fail_msg("%s, wanted %s", err.msg, rows[i].part);
        rco_arena_release(&r.arena);
    }
    struct rco_runner r = {0};
    struct rco_error err = RCO_ERROR_INIT;
    if (rco_runner_load_job(
            &r, JOB(",\"phase\":\"apply\",\"expected\":{\"commit\":\"c\"},\"new\":[1]"), &err) < 0)
        fail_msg("%s", err.msg);
    assert_string_equal(r.job.expected.commit, "c");
    rco_arena_release(&r.arena);
}

static void summary_of(struct rco_runner_summary *s, struct rco_runner_summary *ret,
                       struct rco_arena *a)
{
    char path[] = "/tmp/rco-summary-XXXXXX";
    close(mkstemp(path));
    struct rco_runner r = {.termination_log = path,
                           .container = RCO_RUNNER_SUMMARY_CONTAINER_REPORT};
    struct rco_error err = RCO_ERROR_INIT;
    rco_autobuf text = RCO_BUF_INIT;
    rco_runner_write_summary(&r, s);
    assert_int_equal(rco_file_read(path, RCO_RUNNER_MAX_SUMMARY, &text, &err), 0);
    if (rco_codec_decode(&rco_runner_summary_schema, text.data, text.len, a, ret, &err) < 0)
        fail_msg("%s", err.msg);
    unlink(path);
}

static void a_summary_always_fits_a_termination_message(void **state)
{
    rco_autoarena a = RCO_ARENA_INIT;
    static char log[100000];
    static struct rco_plan_resource resources[20];
    static struct rco_plan_type types[200];
    char urn[900];
    for (size_t i = 0; i < sizeof(log) - 1; i++)
        log[i] = i % 50 == 49 ? '\n' : 'l';
    memset(urn, 'u', sizeof(urn));
    urn[899] = '\0';
    for (size_t i = 0; i < 20; i++)
        resources[i] = (struct rco_plan_resource){.urn = urn, .op = "create"};
    for (size_t i = 0; i < 200; i++)
        types[i] = (struct rco_plan_type){
            .type = "kubernetes:core/v1:ConfigMap", .adds = 1, .has_adds = true};
    struct rco_runner_summary s = {.ok = true,
                                   .log = log,
                                   .has_receipt = true,
                                   .receipt = {.adds = 7,
                                               .has_adds = true,
                                               .operations_digest = "d",
                                               .resources = resources,
                                               .n_resources = 20,
                                               .types = types,
                                               .n_types = 200}};
    struct rco_runner_summary got = {0};
    summary_of(&s, &got, &a);
    assert_int_equal(got.receipt.adds, 7);
    assert_string_equal(got.receipt.operations_digest, "d");
    assert_true(got.receipt.truncated && got.receipt.n_resources == 0);
    s = (struct rco_runner_summary){.log = log};
    summary_of(&s, &got, &a);
    assert_true(strlen(got.log) > 1000 && strlen(got.log) <= 2000);
    assert_string_equal(got.log + strlen(got.log) - 4, log + sizeof(log) - 5);
    assert_int_equal(got.log[0], 'l'); /* whole lines */
}

static void texts_are_cut_between_characters(void **state)
{
    char out[6];
    rco_text_cut(out, sizeof(out), "abc");
    assert_string_equal(out, "abc");
    rco_text_cut(out, sizeof(out), "abcdefgh");
    assert_string_equal(out, "abcde");
    rco_text_cut(out, sizeof(out), "abcd\xc3\xa9x");
    assert_string_equal(out, "abcd");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_is_read_and_what_must_be_there_is_named),
        cmocka_unit_test(a_summary_always_fits_a_termination_message),
        cmocka_unit_test(texts_are_cut_between_characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
