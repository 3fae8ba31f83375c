#include "kube/credentials.h"

#include "base/file.h"
#include "base/str.h"
#include "loop/loop_virtual.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#define S RCO_NS_PER_S
#define PEM(X) "-----BEGIN CERTIFICATE-----\n" X "\n-----END CERTIFICATE-----\n"

static char dir[] = "/tmp/rco-credentials-test-XXXXXX";

struct world {
    struct rco_loop *loop;
    struct rco_kube_config config;
    struct rco_credentials *c;
    unsigned changed, hopeless;
    char ca[256], cert[256];
};

static int make_dir(void **state)
{
    (void)state;
    return mkdtemp(dir) ? 0 : -1;
}

static int drop_dir(void **state)
{
    static const char *const files[] = {"token", "ca", "cert", "key", "plugin", "out"};

    (void)state;
    for (size_t i = 0; i < RCO_ARRAY_LEN(files); i++) {
        rco_autofree char *path = rco_asprintf("%s/%s", dir, files[i]);
        unlink(path);
    }
    return rmdir(dir);
}

static char *path_of(const char *name)
{
    return rco_asprintf("%s/%s", dir, name);
}

static void write_file(const char *name, const char *text)
{
    rco_autofree char *path = path_of(name);
    struct rco_error err = RCO_ERROR_INIT;

    assert_int_equal(rco_file_write_atomic(path, text, strlen(text), 0700, &err), 0);
}

static void on_changed(void *ctx, const char *ca, const char *cert, const char *key)
{
    struct world *w = ctx;

    (void)key;
    w->changed++;
    snprintf(w->ca, sizeof(w->ca), "%s", rco_str_or_empty(ca));
    snprintf(w->cert, sizeof(w->cert), "%s", rco_str_or_empty(cert));
}

static void on_hopeless(void *ctx)
{
    ((struct world *)ctx)->hopeless++;
}

static void world_init(struct world *w)
{
    const struct rco_credentials_handler handler = {
        .tls_changed = on_changed, .hopeless = on_hopeless, .ctx = w};
    struct rco_error err = RCO_ERROR_INIT;

    memset(w, 0, sizeof(*w));
    w->loop = rco_loop_virtual_new(1);
    write_file("token", "first\n");
    write_file("ca", PEM("one"));
    write_file("cert", PEM("c1"));
    write_file("key", PEM("k1"));
    w->config.token_file = path_of("token");
    w->config.ca_file = path_of("ca");
    w->config.cert_file = path_of("cert");
    w->config.key_file = path_of("key");
    w->c = rco_credentials_new(w->loop, &w->config, &handler, &err);
    if (!w->c)
        fail_msg("%s", err.msg);
}

static void world_release(struct world *w)
{
    rco_credentials_free(w->c);
    rco_kube_config_release(&w->config);
    rco_loop_virtual_free(w->loop);
}

static void test_A51_token_file_is_read_again_within_a_minute(void **state)
{
    struct world w;

    (void)state;
    world_init(&w);
    assert_string_equal(rco_credentials_authorization(w.c), "Bearer first");
    write_file("token", "second");
    assert_string_equal(rco_credentials_authorization(w.c), "Bearer first");
    rco_loop_virtual_run_for(w.loop, 50 * S);
    assert_string_equal(rco_credentials_authorization(w.c), "Bearer second");
    world_release(&w);
}

static void test_A51_unreadable_or_empty_file_keeps_the_old_token(void **state)
{
    static const char *const broken[] = {"", "\n", "two words", "two\nlines"};
    struct world w;
    rco_autofree char *path = path_of("token");

    (void)state;
    world_init(&w);
    for (size_t i = 0; i < RCO_ARRAY_LEN(broken); i++) {
        write_file("token", broken[i]);
        rco_loop_virtual_run_for(w.loop, 60 * S);
        assert_string_equal(rco_credentials_authorization(w.c), "Bearer first");
    }
    unlink(path);
    rco_loop_virtual_run_for(w.loop, 60 * S);
    assert_string_equal(rco_credentials_authorization(w.c), "Bearer first");
    world_release(&w);
}

static void test_A52_refused_token_is_read_again_at_once(void **state)
{
    struct world w;

    (void)state;
    world_init(&w);
    write_file("token", "second");
    rco_credentials_unauthorized(w.c);
    assert_string_equal(rco_credentials_authorization(w.c), "Bearer second");
    world_release(&w);
}

static void test_A53_five_minutes_of_401_are_hopeless(void **state)
{
    struct world w;

    (void)state;
    world_init(&w);
    for (int i = 0; i < 29; i++) {
        rco_credentials_unauthorized(w.c);
        rco_loop_virtual_run_for(w.loop, 10 * S);
    }
    assert_int_equal(w.hopeless, 0);
    rco_credentials_accepted(w.c); /* it works again: the count begins anew */
    for (int i = 0; i < 29; i++) {
        rco_credentials_unauthorized(w.c);
        rco_loop_virtual_run_for(w.loop, 10 * S);
    }
    assert_int_equal(w.hopeless, 0);
    rco_loop_virtual_run_for(w.loop, 20 * S);
    rco_credentials_unauthorized(w.c);
    rco_credentials_unauthorized(w.c);
    assert_int_equal(w.hopeless, 1);
    world_release(&w);
}

static void test_A54_changed_ca_is_told_within_five_minutes(void **state)
{
    struct world w;

    (void)state;
    world_init(&w);
    rco_loop_virtual_run_for(w.loop, 301 * S);
    assert_int_equal(w.changed, 0);
    write_file("ca", PEM("two"));
    rco_loop_virtual_run_for(w.loop, 300 * S);
    assert_int_equal(w.changed, 1);
    assert_string_equal(w.ca, PEM("two"));
    assert_string_equal(rco_credentials_ca(w.c), PEM("two"));
    world_release(&w);
}

static void test_A54_empty_or_broken_ca_changes_nothing(void **state)
{
    struct world w;
    rco_autofree char *path = path_of("ca");

    (void)state;
    world_init(&w);
    write_file("ca", "");
    rco_loop_virtual_run_for(w.loop, 300 * S);
    write_file("ca", "garbage");
    rco_loop_virtual_run_for(w.loop, 300 * S);
    unlink(path);
    rco_loop_virtual_run_for(w.loop, 300 * S);
    assert_int_equal(w.changed, 0);
    assert_string_equal(rco_credentials_ca(w.c), PEM("one"));
    write_file("ca", PEM("three"));
    rco_loop_virtual_run_for(w.loop, 300 * S);
    assert_int_equal(w.changed, 1);
    world_release(&w);
}

static void test_A55_changed_client_certificate_is_told(void **state)
{
    struct world w;

    (void)state;
    world_init(&w);
    write_file("cert", PEM("c2"));
    write_file("key", PEM("k2"));
    rco_loop_virtual_run_for(w.loop, 301 * S);
    assert_int_equal(w.changed, 1);
    assert_string_equal(w.cert, PEM("c2"));
    world_release(&w);
}

static void test_start_with_unusable_files_says_which(void **state)
{
    struct rco_loop *loop = rco_loop_virtual_new(1);
    struct rco_kube_config c = {.token_file = "/does/not/exist"};
    struct rco_kube_config d = {.ca_file = "/does/not/exist/either"};
    struct rco_error err = RCO_ERROR_INIT;

    (void)state;
    assert_null(rco_credentials_new(loop, &c, NULL, &err));
    assert_non_null(strstr(err.msg, "/does/not/exist"));
    assert_null(rco_credentials_new(loop, &d, NULL, &err));
    assert_non_null(strstr(err.msg, "/does/not/exist/either"));
    rco_loop_virtual_free(loop);
}

/* --- plugins --- */

#define CREDENTIAL                                                                                 \
    "{\"apiVersion\":\"client.authentication.k8s.io/v1\",\"kind\":\"ExecCredential\",\"status\":"

static int run_plugin(const char *script, char **args, struct rco_exec_credential *out,
                      struct rco_error *err)
{
    rco_autofree char *plugin = path_of("plugin");
    rco_autofree char *text = rco_asprintf("#!/bin/sh\n%s\n", script);
    char *none[] = {NULL}, *pairs[] = {"OWN=yes", NULL};
    char *environment[] = {"PATH=/usr/bin:/bin", "OWN=no", "OTHER=kept", NULL};
    struct rco_kube_exec x = {.api_version = "client.authentication.k8s.io/v1",
                              .command = plugin,
                              .args = args ? args : none,
                              .env = pairs,
                              .install_hint = "Get it from the moon.",
                              .provide_cluster_info = true};
    struct rco_kube_config c = {.server = "https://api", .ca_pem = "CA", .exec = &x};

    write_file("plugin", text);
    return rco_kube_exec_run(&c, environment, out, err);
}

static void test_A56_plugin_gives_a_token_and_gets_argv_and_environment(void **state)
{
    struct rco_exec_credential e = {0};
    struct rco_error err = RCO_ERROR_INIT;
    rco_autofree char *out = path_of("out");
    rco_autofree char *script =
        rco_asprintf("printf '%%s|%%s|%%s|%%s|%%s' \"$#\" \"$1\" \"$OWN\" \"$OTHER\" "
                     "\"$KUBERNETES_EXEC_INFO\" > %s\n"
                     "echo '" CREDENTIAL
                     "{\"token\":\"tok\",\"expirationTimestamp\":\"2027-01-01T00:00:00Z\"}}'",
                     out);
    char *args[] = {"a b; $(touch /nope)", NULL};
    rco_autobuf text = RCO_BUF_INIT;

    (void)state;
    if (run_plugin(script, args, &e, &err) < 0)
        fail_msg("%s", err.msg);
    assert_string_equal(e.token, "tok");
    assert_int_equal(e.expires, INT64_C(1798761600) * RCO_US_PER_S);
    assert_int_equal(rco_file_read(out, 10000, &text, &err), 0);
    assert_true(rco_str_has_prefix(rco_buf_str(&text),
                                   "1|a b; $(touch /nope)|yes|kept|{\"kind\":\"ExecCredential\""));
    assert_non_null(strstr(rco_buf_str(&text), "\"certificate-authority-data\":\"Q0E=\""));
    assert_non_null(strstr(rco_buf_str(&text), "\"interactive\":false"));
    rco_exec_credential_release(&e);
}

static void test_A56_faulty_plugins_are_told_apart(void **state)
{
    static const struct {
        const char *script, *want;
    } rows[] = {
        {"exit 3", "exit code 3. Get it from the moon."},
        {"kill -9 $$", "signal 9"},
        {"echo nonsense", "answer of credential plugin"},
        {"echo "
         "'{\"apiVersion\":\"client.authentication.k8s.io/"
         "v1beta1\",\"kind\":\"ExecCredential\",\"status\":"
         "{\"token\":\"t\"}}'",
         "v1beta1 instead of"},
        {"echo '" CREDENTIAL "{}}'", "neither a token nor a certificate"},
        {"echo '" CREDENTIAL "{\"clientCertificateData\":\"c\"}}'", "without key"},
        {"head -c 300000 /dev/zero", "credential plugin"},
    };

    (void)state;
    for (size_t i = 0; i < RCO_ARRAY_LEN(rows); i++) {
        struct rco_exec_credential e = {0};
        struct rco_error err = RCO_ERROR_INIT;

        assert_int_equal(run_plugin(rows[i].script, NULL, &e, &err), -1);
        if (!strstr(err.msg, rows[i].want))
            fail_msg("%s: %s", rows[i].script, err.msg);
        assert_null(e.token);
    }
}

static void test_A57_controller_does_not_run_plugins(void **state)
{
    struct rco_loop *loop = rco_loop_virtual_new(1);
    struct rco_kube_exec x = {.command = "get-token"};
    struct rco_kube_config c = {.source = "file", .exec = &x};
    struct rco_error err = RCO_ERROR_INIT;

    (void)state;
    assert_null(rco_credentials_new(loop, &c, NULL, &err));
    assert_non_null(strstr(err.msg, "get-token"));
    rco_loop_virtual_free(loop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_A51_token_file_is_read_again_within_a_minute),
        cmocka_unit_test(test_A51_unreadable_or_empty_file_keeps_the_old_token),
        cmocka_unit_test(test_A52_refused_token_is_read_again_at_once),
        cmocka_unit_test(test_A53_five_minutes_of_401_are_hopeless),
        cmocka_unit_test(test_A54_changed_ca_is_told_within_five_minutes),
        cmocka_unit_test(test_A54_empty_or_broken_ca_changes_nothing),
        cmocka_unit_test(test_A55_changed_client_certificate_is_told),
        cmocka_unit_test(test_start_with_unusable_files_says_which),
        cmocka_unit_test(test_A56_plugin_gives_a_token_and_gets_argv_and_environment),
        cmocka_unit_test(test_A56_faulty_plugins_are_told_apart),
        cmocka_unit_test(test_A57_controller_does_not_run_plugins),
    };

    return cmocka_run_group_tests(tests, make_dir, drop_dir);
}
