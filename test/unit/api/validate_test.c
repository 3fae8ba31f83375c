#include "api/validate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void good(const char *ref, const char *repository, const char *path)
{
    rco_autoarena a = RCO_ARENA_INIT;
    struct rco_error err = RCO_ERROR_INIT;
    struct rco_program_ref out;
    if (rco_program_ref_parse(ref, &a, &out, &err) < 0)
        fail_msg("%s: %s", ref, err.msg);
    assert_string_equal(out.repository, repository);
    assert_string_equal(out.path, path);
}

static void bad(const char *ref, const char *want)
{
    rco_autoarena a = RCO_ARENA_INIT;
    struct rco_error err = RCO_ERROR_INIT;
    struct rco_program_ref out;
    if (rco_program_ref_parse(ref, &a, &out, &err) == 0)
        fail_msg("%s was accepted", ref);
    if (!strstr(err.msg, want))
        fail_msg("%s: \"%s\" does not contain \"%s\"", ref, err.msg, want);
    if (strstr(err.msg, "hunter2"))
        fail_msg("the message repeats the password: %s", err.msg);
}

static void a_program_reference_is_taken_apart(void **state)
{
    rco_autoarena a = RCO_ARENA_INIT;
    struct rco_error err = RCO_ERROR_INIT;
    struct rco_program_ref out;
    const char *ref = "SSH://git@Git.Example.COM:2222/team/./infra.git//envs/./dev/";
    assert_int_equal(rco_program_ref_parse(ref, &a, &out, &err), 0);
    assert_string_equal(out.scheme, "ssh");
    assert_string_equal(out.user, "git");
    assert_string_equal(out.host, "git.example.com");
    assert_string_equal(out.port, "2222");
    assert_string_equal(out.repository, "ssh://git@git.example.com:2222/team/infra.git");
    assert_string_equal(out.path, "envs/dev");
    good("https://git.example.com/team/infra.git//environments/dev",
         "https://git.example.com/team/infra.git", "environments/dev");
    good("https://git.example.com/r//.", "https://git.example.com/r", ".");
    good("https://[fd00::1]:8443/Team/R//a", "https://[fd00::1]:8443/Team/R", "a");
    good("https://127.0.0.1/r//a..b/c", "https://127.0.0.1/r", "a..b/c");
}

static void references_that_would_surprise_are_refused_with_the_reason(void **state)
{
    bad(NULL, "<repository URL>//<path>");
    bad("", "<repository URL>//<path>");
    bad("git@host:team/infra.git//dev", "<repository URL>//<path>");
    bad("http://git.example.com/r//a", "must begin with https:// or ssh://");
    bad("file:///srv/r//a", "must begin with https:// or ssh://");
    bad("ext::sh -c x://y//z", "must not contain spaces");
    bad("https://user:hunter2@host/r//a", "must not carry a password");
    bad("ssh://git:hunter2@host/r//a", "must not carry a password");
    bad("https://user@host/r//a", "must not carry a user name");
    bad("ssh://-oProxyCommand=x@host/r//a", "user name");
    bad("ssh://-oProxyCommand/r//a", "must name a host");
    bad("https:///r//a", "must name a host");
    bad("https://host//a", "must name a repository");
    bad("https://host", "must name a repository");
    bad("https://host/r", "must have //");
    bad("https://host/r//", "must have //");
    bad("https://host/r///a", "exactly one //");
    bad("https://host/r//a//b", "exactly one //");
    bad("https://host/r//../a", "'..'");
    bad("https://host/r//a/..", "'..'");
    bad("https://host/../r//a", "'..'");
    bad("https://host/r//a?ref=x", "must not contain");
    bad("https://host/r//a#x", "must not contain");
    bad("https://host/r//%2e%2e/a", "must not contain");
    bad("https://host/r//a\\b", "must not contain");
    bad("https://host/r//a\nb", "must not contain");
    bad("https://host:port/r//a", "port");
    char longer[RCO_PROGRAM_REF_MAX + 64] = "https://host/r//";
    memset(longer + 16, 'a', RCO_PROGRAM_REF_MAX);
    bad(longer, "too long");
}

static void only_full_commit_ids_are_commits(void **state)
{
    assert_true(rco_is_commit("0123456789abcdef0123456789abcdef01234567"));
    assert_true(rco_is_commit("0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"));
    assert_false(rco_is_commit("0123456789ABCDEF0123456789abcdef01234567"));
    assert_false(rco_is_commit("0123456789abcdef0123456789abcdef0123456"));
    assert_false(rco_is_commit("main"));
    assert_false(rco_is_commit(""));
    assert_false(rco_is_commit(NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_reference_is_taken_apart),
        cmocka_unit_test(references_that_would_surprise_are_refused_with_the_reason),
        cmocka_unit_test(only_full_commit_ids_are_commits),
    };
    return cmocka_run_group_tests_name("validate", tests, NULL, NULL);
}
