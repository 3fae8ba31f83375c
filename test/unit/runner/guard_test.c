#include "guard.h"

#include "bundle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define HEAD "error: the stack is currently locked by %s lock(s). Either wait or delete it.\n"
#define LOCK(HOST)                                                                                 \
    "  file:///s/x.json?no_tmp_dir=true: created by engine@" HOST                                  \
    " (pid 12) at 2026-11-30T06:00:00Z\n"

static bool holders(const char *number, const char *lines, struct rco_arena *a,
                    struct rco_lock_holders *ret)
{
    rco_autobuf text = RCO_BUF_INIT;
    rco_buf_addf(&text, HEAD, number);
    rco_buf_adds(&text, lines);
    return rco_guard_lock_holders(rco_buf_str(&text), a, ret);
}

static void every_holder_of_a_lock_is_read(void **state)
{
    rco_autoarena a = RCO_ARENA_INIT;
    struct rco_lock_holders h;
    assert_true(holders("1", LOCK("rco-aaa-a-x1x1x"), &a, &h));
    assert_int_equal(h.n, 1);
    assert_string_equal(h.hosts[0], "rco-aaa-a-x1x1x");
    assert_true(holders("2", LOCK("pod-1") LOCK("my laptop.local"), &a, &h));
    assert_int_equal(h.n, 2);
    assert_string_equal(h.hosts[1], "my laptop.local");
}

static void a_refusal_that_cannot_be_read_whole_clears_nothing(void **state)
{
    rco_autoarena a = RCO_ARENA_INIT;
    struct rco_lock_holders h;
    assert_false(holders("2", LOCK("pod-1"), &a, &h));
    assert_false(holders("1", "", &a, &h));
    assert_false(holders("0", "", &a, &h));
    assert_false(holders("x", LOCK("pod-1"), &a, &h));
    assert_false(holders("99999999999999999999", LOCK("pod-1"), &a, &h));
    assert_false(holders("1", "  x: created by engine (pid 1) at y\n", &a, &h));
    assert_false(holders("1", "  x: created by engine@ (pid 1) at y\n", &a, &h));
    assert_false(holders("1", "  x: created by engine@pod-1\n (pid 1)\n", &a, &h));
    assert_false(rco_guard_lock_holders("error: something else", &a, &h));
}

static void a_bundle_comes_back_as_it_was(void **state)
{
    rco_autobuf out = RCO_BUF_INIT;
    struct rco_error err = RCO_ERROR_INIT;
    const char *plan, *manifest;
    size_t n, m;
    rco_bundle_write("{\"a\":\n1}", 8, "f x y\n", 6, &out);
    assert_int_equal(rco_bundle_read(&out, &plan, &n, &manifest, &m, &err), 0);
    assert_true(n == 8 && memcmp(plan, "{\"a\":\n1}", 8) == 0);
    assert_true(m == 6 && memcmp(manifest, "f x y\n", 6) == 0);
    for (size_t cut = 0; cut < out.len; cut++) {
        struct rco_buf part = {.data = out.data, .len = cut};
        assert_int_equal(rco_bundle_read(&part, &plan, &n, &manifest, &m, &err), -1);
    }
}

static void changed_outputs_are_read_from_the_plan_file(void **state)
{
#define PLAN(DIFF)                                                                                 \
    "{\"resourcePlans\":{\"urn\":{\"goal\":{\"type\":\"pulumi:pulumi:Stack\",\"outputDiff\":" DIFF \
    "}}}}"
    static const char same[] = PLAN("{}"), other[] = PLAN("{\"updates\":{\"a\":1}}");
    static const char resource[] = "{\"resourcePlans\":{\"urn\":{\"goal\":{\"type\":\"k:Pod\","
                                   "\"outputDiff\":{\"adds\":{}}}}}}";
    assert_false(rco_bundle_changes_outputs(same, strlen(same)));
    assert_true(rco_bundle_changes_outputs(other, strlen(other)));
    assert_false(rco_bundle_changes_outputs(resource, strlen(resource)));
    assert_true(rco_bundle_changes_outputs("not json", 8));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_holder_of_a_lock_is_read),
        cmocka_unit_test(a_refusal_that_cannot_be_read_whole_clears_nothing),
        cmocka_unit_test(a_bundle_comes_back_as_it_was),
        cmocka_unit_test(changed_outputs_are_read_from_the_plan_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
