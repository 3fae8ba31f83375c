#include "kube/path.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void expect_path(enum rco_kind kind, const char *ns, const char *name, const char *sub,
                        const char *want)
{
    rco_autopath p = RCO_PATH_INIT;
    struct rco_error err = RCO_ERROR_INIT;

    assert_int_equal(rco_path_kind(&p, kind, ns, name, sub, &err), 0);
    assert_string_equal(rco_path_str(&p), want);
}

static void test_paths_of_kinds(void **state)
{
    (void)state;
    expect_path(RCO_KIND_POD, "a", "p", NULL, "/api/v1/namespaces/a/pods/p");
    expect_path(RCO_KIND_POD, NULL, NULL, NULL, "/api/v1/pods");
    expect_path(RCO_KIND_JOB, "a", NULL, NULL, "/apis/batch/v1/namespaces/a/jobs");
    expect_path(RCO_KIND_NAMESPACE, NULL, "a", NULL, "/api/v1/namespaces/a");
    expect_path(RCO_KIND_LEASE, "a", "l", NULL,
                "/apis/coordination.k8s.io/v1/namespaces/a/leases/l");
    expect_path(RCO_KIND_TOKENREVIEW, NULL, NULL, NULL,
                "/apis/authentication.k8s.io/v1/tokenreviews");
    expect_path(RCO_KIND_POD, "a", "p", "status", "/api/v1/namespaces/a/pods/p/status");
    expect_path(RCO_KIND_NAMESPACE, "ignored", "a", NULL, "/api/v1/namespaces/a");
}

static void test_names_cannot_leave_their_segment(void **state)
{
    (void)state;
    expect_path(RCO_KIND_POD, "a/../../x", "p?q#r%2f", NULL,
                "/api/v1/namespaces/a%2F..%2F..%2Fx/pods/p%3Fq%23r%252f");
    expect_path(RCO_KIND_POD, "\xc3\xa9", "\r\nHost: x", NULL,
                "/api/v1/namespaces/%C3%A9/pods/%0D%0AHost%3A%20x");
}

static void test_impossible_paths_are_refused(void **state)
{
    static const struct {
        const char *ns, *name, *sub;
    } rows[] = {{NULL, "p", NULL}, {"", "p", NULL},   {"a", "", NULL}, {"a", "..", NULL},
                {"a", ".", NULL},  {"..", "p", NULL}, {"a", "p", ".."}};

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        rco_autopath p = RCO_PATH_INIT;
        struct rco_error err = RCO_ERROR_INIT;

        assert_int_equal(
            rco_path_kind(&p, RCO_KIND_POD, rows[i].ns, rows[i].name, rows[i].sub, &err), -1);
        assert_int_equal(err.code, RCO_EINVALID);
    }
}

static void test_query_parameters_are_escaped_and_joined(void **state)
{
    rco_autopath p = RCO_PATH_INIT;

    (void)state;
    rco_path_literal(&p, "/x");
    rco_path_query(&p, "labelSelector", "a=b,c in (d,e)");
    rco_path_query(&p, "empty", "");
    rco_path_query(&p, "none", NULL);
    rco_path_query_int(&p, "limit", 500);
    assert_string_equal(rco_path_str(&p),
                        "/x?labelSelector=a%3Db%2Cc%20in%20%28d%2Ce%29&limit=500");
    rco_path_literal(&p, "/y?z=1");
    rco_path_query(&p, "a", "b&c=d");
    assert_string_equal(rco_path_str(&p), "/y?z=1&a=b%26c%3Dd");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_paths_of_kinds),
        cmocka_unit_test(test_names_cannot_leave_their_segment),
        cmocka_unit_test(test_impossible_paths_are_refused),
        cmocka_unit_test(test_query_parameters_are_escaped_and_joined),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
