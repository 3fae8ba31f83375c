#include "git.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void only_plain_https_and_ssh_urls_are_fetched(void **state)
{
    static const char *const good[] = {
        "https://host/a.git",  "https://host.example:8443/group/a",
        "ssh://git@host/a",    "ssh://host:2222/~me/a.git",
        "https://[::1]:443/a", "https://10.0.0.1/a-b/c_d.git",
        "https://h/%61",
    };
    static const char *const bad[] = {
        "",
        "http://host/a",
        "git://host/a",
        "file:///a",
        "ext::sh -c x",
        "host:a",
        "/a",
        "-x",
        "https://",
        "https://host",
        "https://host/",
        "https:///a",
        "https://user@host/a",
        "https://user:pw@host/a",
        "ssh://u:pw@host/a",
        "ssh://@host/a",
        "ssh://-oProxyCommand=x/a",
        "ssh://-o@host/a",
        "https://-h/a",
        "https://host:x/a",
        "https://host:80:80/a",
        "https://h\tost/a",
        "https://host/a\nb",
        "https://host/a b",
        "https://host/a?b",
        "https://host/a#b",
        "https://host/-a",
        "https://host/a;b",
        "https://ho$st/a",
        "HTTPS://host/a",
        "https://[::1/a",
        "https://[x]/a",
        "https://host\\@evil/a",
        "ssh://git@host@evil/a",
    };
    for (size_t i = 0; i < RCO_ARRAY_LEN(good); i++) {
        struct rco_error err = RCO_ERROR_INIT;
        if (rco_git_check_url(good[i], &err) < 0)
            fail_msg("%s: %s", good[i], err.msg);
    }
    for (size_t i = 0; i < RCO_ARRAY_LEN(bad); i++) {
        struct rco_error err = RCO_ERROR_INIT;
        if (rco_git_check_url(bad[i], &err) == 0)
            fail_msg("%s was accepted", bad[i]);
        assert_int_equal(err.code, RCO_EINVALID);
        assert_true(strlen(err.msg) > 10);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(only_plain_https_and_ssh_urls_are_fetched)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
