#include "options.h"

#include "base/str.h"
#include "base/time.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define PARSE(O, ERR, ...) parse((O), (ERR), (char *const[]){"controller", __VA_ARGS__, NULL})

static int parse(struct rco_options *o, struct rco_error *err, char *const *argv)
{
    const struct rco_options_env env = {.pod_namespace = "runtime-cloud"};
    int argc = 0;

    while (argv[argc])
        argc++;
    *err = RCO_ERROR_INIT;
    return rco_options_parse(argc, argv, &env, o, err);
}

static void defaults_are_those_of_the_design(void **state)
{
    struct rco_options o;
    struct rco_error err;

    assert_int_equal(PARSE(&o, &err, "--gateway-url=https://gw.ns.svc:8443"), 0);
    assert_string_equal(o.ns, "runtime-cloud");
    assert_true(o.leader_elect);
    assert_int_equal(o.lease_duration_ns, 30 * RCO_NS_PER_S);
    assert_int_equal(o.renew_deadline_ns, 20 * RCO_NS_PER_S);
    assert_int_equal(o.retry_period_ns, 4 * RCO_NS_PER_S);
    assert_int_equal(o.gateway.port, 8443);
    assert_null(o.gateway.host);
}

static void values_follow_an_equals_sign_or_stand_alone(void **state)
{
    struct rco_options o;
    struct rco_error err;

    assert_int_equal(PARSE(&o, &err, "--gateway-url", "https://gw", "--leader-elect=false",
                           "--metrics-bind-address=0", "--gateway-bind-address=[::1]:9443",
                           "--log-level=debug", "--leader-elect-lease-duration=45s"),
                     0);
    assert_false(o.leader_elect);
    assert_int_equal(o.metrics.port, -1);
    assert_string_equal(o.gateway.host, "::1");
    assert_int_equal(o.gateway.port, 9443);
    assert_int_equal(o.log_level, RCO_LOG_DEBUG);
    assert_int_equal(o.lease_duration_ns, 45 * RCO_NS_PER_S);
}

static void bad_flags_are_refused_with_their_name(void **state)
{
    static const struct {
        const char *flag, *want;
    } bad[] = {
        {"--no-such-flag", "--no-such-flag"},
        {"stray", "stray"},
        {"--log-level=loud", "--log-level"},
        {"--log-format=xml", "--log-format"},
        {"--leader-elect=maybe", "--leader-elect"},
        {"--metrics-bind-address=80", "--metrics-bind-address"},
        {"--metrics-bind-address=:0", "--metrics-bind-address"},
        {"--metrics-bind-address=:65536", "--metrics-bind-address"},
        {"--gateway-bind-address=0", "--gateway-bind-address"},
        {"--gateway-url=http://gw", "--gateway-url"},
        {"--gateway-url=", "--gateway-url"},
        {"--leader-elect-lease-duration=5", "--leader-elect-lease-duration"},
        {"--leader-elect-lease-duration=20s", "--leader-elect-lease-duration"},
        {"--leader-elect-renew-deadline=4s", "--leader-elect-renew-deadline"},
        {"--leader-elect-renew-deadline=30s", "--leader-elect-lease-duration"},
        {"--leader-elect-retry-period=0s", "--leader-elect-retry-period"},
        {"--leader-elect-lease-duration=30500ms", "whole number of seconds"},
        {"--config", "--config"},
    };

    for (size_t i = 0; i < RCO_ARRAY_LEN(bad); i++) {
        struct rco_options o;
        struct rco_error err;

        assert_int_equal(PARSE(&o, &err, "--gateway-url=https://gw", (char *)bad[i].flag), -1);
        assert_int_equal(err.code, RCO_EINVALID);
        assert_non_null(strstr(err.msg, bad[i].want));
    }
}

static void the_own_namespace_must_be_known(void **state)
{
    const struct rco_options_env env = {0};
    char *const argv[] = {"controller", "--gateway-url=https://gw", NULL};
    struct rco_error err = RCO_ERROR_INIT;
    struct rco_options o;

    assert_int_equal(rco_options_parse(2, argv, &env, &o, &err), -1);
    assert_non_null(strstr(err.msg, "POD_NAMESPACE"));
}

static void help_and_version_need_nothing_else(void **state)
{
    const struct rco_options_env env = {0};
    char *const argv[] = {"controller", "--version", NULL};
    struct rco_error err = RCO_ERROR_INIT;
    struct rco_options o;

    assert_int_equal(rco_options_parse(2, argv, &env, &o, &err), 0);
    assert_true(o.version);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_are_those_of_the_design),
        cmocka_unit_test(values_follow_an_equals_sign_or_stand_alone),
        cmocka_unit_test(bad_flags_are_refused_with_their_name),
        cmocka_unit_test(the_own_namespace_must_be_known),
        cmocka_unit_test(help_and_version_need_nothing_else),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
