#include "decide/deployment_resolve.h"

#include "tree.h"

static void test_a_prefix_ends_at_a_whole_path_segment(void **state)
{
    static const struct {
        const char *prefix, *url;
        bool want;
    } cases[] = {
        {"https://git.example.com/shop", "https://git.example.com/shop/infra.git", true},
        {"https://git.example.com/shop/", "https://git.example.com/shop/infra.git", true},
        {"https://git.example.com/shop/infra.git", "https://git.example.com/shop/infra.git", true},
        {"https://git.example.com", "https://git.example.com/shop/infra.git", true},
        {"https://git.example.com/shop", "https://git.example.com/shopping/infra.git", false},
        {"https://git.example.com", "https://git.example.com.evil.org/shop", false},
        {"https://git.example.com", "https://git.example.com@evil.org/shop", false},
        {"https://git.example.com", "https://git.example.com:8443/shop", false},
        {"https://git.example.com/shop", "http://git.example.com/shop/infra.git", false},
        {"https://git.example.com/shop/infra", "https://git.example.com/shop/infra.git", false},
        {"HTTPS://Git.Example.com/shop", "https://git.example.com/shop/infra.git", true},
        {"https://git.example.com/Shop", "https://git.example.com/shop/infra.git", false},
        {"https://git.example.com/shop/infra.git", "https://git.example.com", false},
        {"", "https://git.example.com/shop", false},
        {"/", "https://git.example.com/shop", false},
    };
    for (size_t i = 0; i < RCO_ARRAY_LEN(cases); i++)
        if (rco_repository_matches(cases[i].prefix, cases[i].url) != cases[i].want)
            fail_msg("%s and %s", cases[i].prefix, cases[i].url);
}

static void test_secrets_are_allowed_by_name_or_prefix(void **state)
{
    const char *allowed[] = {"shared-*", "token"};
    struct rco_env env = {.metadata = {.name = "dev"}};
    assert_true(rco_env_allows_secret(&env, "dev-token"));
    assert_false(rco_env_allows_secret(&env, "dev"));
    assert_false(rco_env_allows_secret(&env, "developer-token"));
    assert_false(rco_env_allows_secret(&env, "rco-dev-pass-1"));
    env.spec.allowed_secrets = allowed;
    env.spec.n_allowed_secrets = 2;
    assert_true(rco_env_allows_secret(&env, "shared-a"));
    assert_true(rco_env_allows_secret(&env, "token"));
    assert_false(rco_env_allows_secret(&env, "tokens"));
    assert_false(rco_env_allows_secret(&env, "dev-token"));
    env.spec.n_allowed_secrets = 0; /* an empty list allows none, an absent one the default */
    assert_false(rco_env_allows_secret(&env, "dev-token"));
    assert_false(rco_env_allows_secret(&env, NULL));
}

static void test_what_deploys_nothing_makes_no_version(void **state)
{
    char before[RCO_SHA256_HEX], after[RCO_SHA256_HEX];
    struct rco_depspec_spec spec = {.program_ref = "https://h/r//p", .program_version = "a"};
    rco_depspec_version_hash(&spec, before);
    spec.suspend = spec.has_suspend = true;
    spec.wait_policy = RCO_DEPSPEC_WAIT_POLICY_BLOCK;
    spec.deletion_policy = RCO_DELETION_POLICY_RETAIN;
    rco_depspec_version_hash(&spec, after);
    assert_string_equal(before, after);
    spec.program_version = "b";
    rco_depspec_version_hash(&spec, after);
    assert_string_not_equal(before, after);
}

/* An upgrade of the operator must not make runs: how something is executed is no input. */
static void test_how_it_is_executed_is_no_reason_for_a_new_run(void **state)
{
    char before[RCO_SHA256_HEX], after[RCO_SHA256_HEX];
    struct rco_resolved s = {.stack_name = "x", .image = "runner:1", .timeout_seconds = 60};
    rco_resolved_inputs(&s, before);
    s.image = "runner:2";
    s.timeout_seconds = 120;
    s.environment_generation = 9;
    rco_resolved_inputs(&s, after);
    assert_string_equal(before, after);
    struct rco_resolved_config config = {.key = "replicas", .value_hash = "h"};
    s.configs = &config;
    s.n_configs = 1;
    rco_resolved_inputs(&s, after);
    assert_string_not_equal(before, after);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_prefix_ends_at_a_whole_path_segment),
        cmocka_unit_test(test_secrets_are_allowed_by_name_or_prefix),
        cmocka_unit_test(test_what_deploys_nothing_makes_no_version),
        cmocka_unit_test(test_how_it_is_executed_is_no_reason_for_a_new_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
