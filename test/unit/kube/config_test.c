#include "kube/config.h"

#include "base/file.h"
#include "base/str.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#define HEAD "apiVersion: v1\nkind: Config\ncurrent-context: main\n"
#define CONTEXTS                                                                                   \
    "contexts:\n- name: main\n  context: {cluster: c, user: u, namespace: team}\n"                 \
    "- name: other\n  context: {cluster: c, user: nobody}\n"
#define CLUSTER "clusters:\n- name: c\n  cluster:\n    server: https://10.0.0.1:6443/\n"
#define USER "users:\n- name: u\n  user:\n"

static char dir[] = "/tmp/rco-config-test-XXXXXX";

static int make_dir(void **state)
{
    (void)state;
    return mkdtemp(dir) ? 0 : -1;
}

static int drop_dir(void **state)
{
    (void)state;
    static const char *const files[] = {"a", "b", "token", "ca.crt", "namespace"};

    for (size_t i = 0; i < RCO_ARRAY_LEN(files); i++) {
        rco_autofree char *path = rco_asprintf("%s/%s", dir, files[i]);
        unlink(path);
    }
    return rmdir(dir);
}

static char *write_file(const char *name, const char *text)
{
    char *path = rco_asprintf("%s/%s", dir, name);
    struct rco_error err = RCO_ERROR_INIT;

    assert_int_equal(rco_file_write_atomic(path, text, strlen(text), 0600, &err), 0);
    return path;
}

static int parse(const char *yaml, const char *context, enum rco_kube_trust trust,
                 struct rco_kube_config *out, struct rco_error *err)
{
    const struct rco_kubeconfig_options o = {.context = context, .trust = trust};

    return rco_kube_config_parse(yaml, strlen(yaml), "file.yaml", &o, out, err);
}

static void expect_error(const char *yaml, const char *context, enum rco_kube_trust trust,
                         enum rco_code code, const char *part)
{
    rco_autokubeconfig c = RCO_KUBE_CONFIG_INIT;
    struct rco_error err = RCO_ERROR_INIT;

    assert_int_equal(parse(yaml, context, trust, &c, &err), -1);
    if (err.code != code || !strstr(err.msg, part))
        fail_msg("code %d: %s; want %d %s", err.code, err.msg, code, part);
    assert_null(c.server);
}

static void test_token_and_inline_certificates(void **state)
{
    rco_autokubeconfig c = RCO_KUBE_CONFIG_INIT;
    struct rco_error err = RCO_ERROR_INIT;

    (void)state;
    if (parse(HEAD CONTEXTS CLUSTER
              "    certificate-authority-data: Q0EK\n    tls-server-name: api\n    proxy-url: "
              "http://p:1\n" USER
              "    token: abc\n    client-certificate-data: Q0VSVA==\n    client-key-data: S0VZ\n",
              NULL, RCO_KUBE_TRUST_OWN, &c, &err) < 0)
        fail_msg("%s", err.msg);
    assert_string_equal(c.server, "https://10.0.0.1:6443");
    assert_string_equal(c.ns, "team");
    assert_string_equal(c.ca_pem, "CA\n");
    assert_string_equal(c.cert_pem, "CERT");
    assert_string_equal(c.key_pem, "KEY");
    assert_string_equal(c.token, "abc");
    assert_string_equal(c.tls_server_name, "api");
    assert_string_equal(c.proxy_url, "http://p:1");
    assert_false(c.insecure);
}

static void test_files_are_relative_to_the_kubeconfig(void **state)
{
    rco_autokubeconfig c = RCO_KUBE_CONFIG_INIT;
    struct rco_error err = RCO_ERROR_INIT;
    rco_autofree char *path =
        write_file("a", HEAD CONTEXTS CLUSTER "    certificate-authority: ca.crt\n" USER
                                              "    tokenFile: /abs/token\n    token: literal\n");
    rco_autofree char *want = rco_asprintf("%s/ca.crt", dir);
    const struct rco_kubeconfig_options o = {.paths = path};

    (void)state;
    assert_int_equal(rco_kube_config_load(&o, &c, &err), 0);
    assert_string_equal(c.ca_file, want);
    assert_string_equal(c.token_file, "/abs/token");
    assert_null(c.token); /* the file that is rotated wins */
    assert_string_equal(c.source, path);
}

static void test_list_of_files_is_merged_first_wins(void **state)
{
    rco_autokubeconfig c = RCO_KUBE_CONFIG_INIT;
    struct rco_error err = RCO_ERROR_INIT;
    rco_autofree char *a = write_file("a", HEAD CONTEXTS);
    rco_autofree char *b =
        write_file("b", "current-context: other\n" CLUSTER USER "    token: t\n");
    rco_autofree char *paths = rco_asprintf("%s:/does/not/exist:%s", a, b);
    const struct rco_kubeconfig_options o = {.paths = paths};

    (void)state;
    if (rco_kube_config_load(&o, &c, &err) < 0)
        fail_msg("%s", err.msg);
    assert_string_equal(c.token, "t");
    assert_string_equal(c.ns, "team");
}

static void test_a_missing_file_is_named(void **state)
{
    rco_autokubeconfig c = RCO_KUBE_CONFIG_INIT;
    struct rco_error err = RCO_ERROR_INIT;
    const struct rco_kubeconfig_options o = {.paths = "/does/not/exist"};

    (void)state;
    assert_int_equal(rco_kube_config_load(&o, &c, &err), -1);
    assert_non_null(strstr(err.msg, "/does/not/exist"));
}

static void test_exec_plugin_is_read_as_argv(void **state)
{
    rco_autokubeconfig c = RCO_KUBE_CONFIG_INIT;
    struct rco_error err = RCO_ERROR_INIT;

    (void)state;
    if (parse(HEAD CONTEXTS CLUSTER USER
              "    exec:\n      apiVersion: client.authentication.k8s.io/v1\n      command: "
              "get-token\n"
              "      args: [\"--a b\", \"$(x)\"]\n      env:\n      - {name: N, value: v}\n"
              "      provideClusterInfo: true\n",
              NULL, RCO_KUBE_TRUST_OWN, &c, &err) < 0)
        fail_msg("%s", err.msg);
    assert_string_equal(c.exec->command, "get-token");
    assert_string_equal(c.exec->args[0], "--a b");
    assert_string_equal(c.exec->args[1], "$(x)");
    assert_null(c.exec->args[2]);
    assert_string_equal(c.exec->env[0], "N=v");
    assert_true(c.exec->provide_cluster_info);
}

static void test_broken_files_name_file_and_field(void **state)
{
    (void)state;
    expect_error("a: [", NULL, RCO_KUBE_TRUST_OWN, RCO_EINVALID, "kubeconfig file.yaml");
    expect_error("clusters: 5\n", NULL, RCO_KUBE_TRUST_OWN, RCO_EINVALID, "clusters");
    expect_error("", NULL, RCO_KUBE_TRUST_OWN, RCO_EINVALID, "current-context: not set");
    expect_error(HEAD CLUSTER, NULL, RCO_KUBE_TRUST_OWN, RCO_ENOTFOUND,
                 "contexts: there is no \"main\"");
    expect_error(HEAD CONTEXTS CLUSTER, "nope", RCO_KUBE_TRUST_OWN, RCO_ENOTFOUND, "\"nope\"");
    expect_error(HEAD CONTEXTS, NULL, RCO_KUBE_TRUST_OWN, RCO_ENOTFOUND,
                 "contexts[main].cluster: there is no cluster \"c\"");
    expect_error(HEAD CONTEXTS CLUSTER, "other", RCO_KUBE_TRUST_OWN, RCO_ENOTFOUND,
                 "contexts[other].user: there is no user \"nobody\"");
    expect_error(HEAD CONTEXTS "clusters:\n- name: c\n  cluster: {server: \"10.0.0.1\"}\n" USER
                               "    token: t\n",
                 NULL, RCO_KUBE_TRUST_OWN, RCO_EINVALID,
                 "clusters[c].server: must begin with https://");
    expect_error(HEAD CONTEXTS "clusters:\n- name: c\n  cluster: {}\n" USER "    token: t\n", NULL,
                 RCO_KUBE_TRUST_OWN, RCO_EINVALID, "clusters[c].server: missing");
    expect_error(HEAD CONTEXTS CLUSTER "    certificate-authority-data: \"%%%\"\n" USER
                                       "    token: t\n",
                 NULL, RCO_KUBE_TRUST_OWN, RCO_EINVALID,
                 "clusters[c].certificate-authority-data: is not base64");
    expect_error(HEAD CONTEXTS CLUSTER USER "    client-certificate-data: Q0VSVA==\n", NULL,
                 RCO_KUBE_TRUST_OWN, RCO_EINVALID, "go together");
    expect_error(HEAD CONTEXTS CLUSTER USER "    exec: {apiVersion: x/v9, command: c}\n", NULL,
                 RCO_KUBE_TRUST_OWN, RCO_EINVALID, "users[u].exec.apiVersion");
    expect_error(HEAD CONTEXTS CLUSTER USER "    username: a\n    password: canary\n", NULL,
                 RCO_KUBE_TRUST_OWN, RCO_EINVALID, "users[u].username");
}

static void test_A59_impersonation_is_refused_and_never_ignored(void **state)
{
    (void)state;
    expect_error(HEAD CONTEXTS CLUSTER USER "    token: t\n    as: somebody\n", NULL,
                 RCO_KUBE_TRUST_OWN, RCO_EINVALID, "users[u].as");
    expect_error(HEAD CONTEXTS CLUSTER USER "    token: t\n    as: \"\"\n", NULL,
                 RCO_KUBE_TRUST_OWN, RCO_EINVALID, "users[u].as");
    expect_error(HEAD CONTEXTS CLUSTER USER "    token: t\n    as-groups: [g]\n", NULL,
                 RCO_KUBE_TRUST_OWN, RCO_EINVALID, "users[u].as");
}

static void test_A58_a_file_of_somebody_else_can_do_nothing_here(void **state)
{
    static const struct {
        const char *cluster, *user, *want;
    } rows[] = {
        {"", "    exec: {apiVersion: client.authentication.k8s.io/v1, command: /bin/true}\n",
         "users[u].exec"},
        {"", "    auth-provider: {name: gcp}\n", "users[u].auth-provider"},
        {"", "    tokenFile: /etc/shadow\n", "users[u].tokenFile"},
        {"", "    client-certificate: /x\n    client-key: /y\n", "users[u].client-certificate"},
        {"    certificate-authority: /x\n", "    token: t\n", "clusters[c].certificate-authority"},
        {"    insecure-skip-tls-verify: true\n", "    token: t\n",
         "clusters[c].insecure-skip-tls-verify"},
        {"    proxy-url: http://evil\n", "    token: t\n", "clusters[c].proxy-url"},
    };
    rco_autokubeconfig c = RCO_KUBE_CONFIG_INIT;
    struct rco_error err = RCO_ERROR_INIT;

    (void)state;
    for (size_t i = 0; i < RCO_ARRAY_LEN(rows); i++) {
        rco_autofree char *yaml =
            rco_asprintf("%s%s%s%s%s", HEAD CONTEXTS, CLUSTER, rows[i].cluster, USER, rows[i].user);

        expect_error(yaml, NULL, RCO_KUBE_TRUST_NOTHING, RCO_EFORBIDDEN, rows[i].want);
    }
    assert_int_equal(
        parse(HEAD CONTEXTS CLUSTER USER "    token: t\n", NULL, RCO_KUBE_TRUST_NOTHING, &c, &err),
        0);
}

static void test_A60_in_cluster_needs_all_of_its_parts(void **state)
{
    rco_autokubeconfig c = RCO_KUBE_CONFIG_INIT;
    struct rco_error err = RCO_ERROR_INIT;

    (void)state;
    assert_int_equal(rco_kube_config_in_cluster(NULL, "443", dir, &c, &err), -1);
    assert_non_null(strstr(err.msg, "KUBERNETES_SERVICE_HOST"));
    assert_int_equal(rco_kube_config_in_cluster("10.0.0.1", "443", dir, &c, &err), -1);
    assert_non_null(strstr(err.msg, "/token"));
    free(write_file("token", "\n"));
    assert_int_equal(rco_kube_config_in_cluster("10.0.0.1", "443", dir, &c, &err), -1);
    assert_non_null(strstr(err.msg, "is empty"));
    free(write_file("token", "tok\n"));
    free(write_file("ca.crt", "-----BEGIN CERTIFICATE-----\n"));
    free(write_file("namespace", "op\n"));
    assert_int_equal(rco_kube_config_in_cluster("10.0.0.1", "443", dir, &c, &err), 0);
    assert_string_equal(c.server, "https://10.0.0.1:443");
    assert_string_equal(c.ns, "op");
    rco_kube_config_release(&c);
    assert_int_equal(rco_kube_config_in_cluster("fd00::1", "443", dir, &c, &err), 0);
    assert_string_equal(c.server, "https://[fd00::1]:443");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_token_and_inline_certificates),
        cmocka_unit_test(test_files_are_relative_to_the_kubeconfig),
        cmocka_unit_test(test_list_of_files_is_merged_first_wins),
        cmocka_unit_test(test_a_missing_file_is_named),
        cmocka_unit_test(test_exec_plugin_is_read_as_argv),
        cmocka_unit_test(test_broken_files_name_file_and_field),
        cmocka_unit_test(test_A59_impersonation_is_refused_and_never_ignored),
        cmocka_unit_test(test_A58_a_file_of_somebody_else_can_do_nothing_here),
        cmocka_unit_test(test_A60_in_cluster_needs_all_of_its_parts),
    };

    return cmocka_run_group_tests(tests, make_dir, drop_dir);
}
