#include "netenv.h"

#include "base/file.h"
#include "base/str.h"

#include <sys/stat.h>

static const char system_bundle[] = "/etc/ssl/certs/ca-certificates.crt";

void rco_base_env(struct rco_runner *r, struct rco_procenv *env)
{
    const struct rco_runner_job_proxy *p = &r->job.proxy;
    const char *home = rco_arena_printf(&r->arena, "%s/home", r->tmpdir);
    mkdir(home, 0700);
    rco_procenv_init(env, &r->arena);
    rco_procenv_set(env, "PATH", r->path);
    rco_procenv_set(env, "HOME", home);
    rco_procenv_set(env, "TMPDIR", r->tmpdir);
    rco_procenv_set(env, "LANG", "C.UTF-8");
    rco_procenv_set(env, "LC_ALL", "C.UTF-8");
    const struct {
        const char *upper, *lower, *value;
    } proxies[] = {{"HTTP_PROXY", "http_proxy", p->http_proxy},
                   {"HTTPS_PROXY", "https_proxy", p->https_proxy},
                   {"NO_PROXY", "no_proxy", p->no_proxy}};
    for (size_t i = 0; i < RCO_ARRAY_LEN(proxies); i++) {
        rco_procenv_set(env, proxies[i].upper, proxies[i].value);
        rco_procenv_set(env, proxies[i].lower, proxies[i].value);
    }
}

int rco_ca_env(struct rco_runner *r, const char *extra, struct rco_procenv *env,
               const char **ret_file, struct rco_failure *f)
{
    struct rco_error err = RCO_ERROR_INIT;
    rco_autobuf text = RCO_BUF_INIT;
    *ret_file = NULL;
    if (rco_str_empty(r->job.ca_bundle) && !extra)
        return 0;
    /* An image without system certificates is fine when it does not need them. */
    if (rco_file_read(system_bundle, RCO_CA_MAX, &text, &err) < 0)
        rco_buf_clear(&text);
    if (extra) {
        rco_buf_addc(&text, '\n');
        if (rco_file_read(extra, RCO_CA_MAX, &text, &err) < 0)
            return rco_failure_error(f, RCO_FAILURE_CLASS_CONFIG, &err, "read CA certificates");
    }
    if (!rco_str_empty(r->job.ca_bundle)) {
        rco_buf_addc(&text, '\n');
        if (rco_file_read(rco_runner_path(r, "ca/ca.crt"), RCO_CA_MAX, &text, &err) < 0)
            return rco_failure_set(
                f, RCO_FAILURE_CLASS_CONFIG,
                "the ConfigMap %s of runner.pod.caBundle, or its key, is missing",
                r->job.ca_bundle);
    }
    const char *file = rco_arena_printf(&r->arena, "%s/ca-bundle.crt", r->tmpdir);
    if (rco_file_write_atomic(file, text.data, text.len, 0644, &err) < 0)
        return rco_failure_error(f, RCO_FAILURE_CLASS_INTERNAL, &err, "join CA certificates");
    static const char *const names[] = {"SSL_CERT_FILE",  "NODE_EXTRA_CA_CERTS",
                                        "PIP_CERT",       "REQUESTS_CA_BUNDLE",
                                        "CURL_CA_BUNDLE", "AWS_CA_BUNDLE"};
    for (size_t i = 0; i < RCO_ARRAY_LEN(names); i++)
        rco_procenv_set(env, names[i], file);
    *ret_file = file;
    return 0;
}
