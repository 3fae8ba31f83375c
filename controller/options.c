#include "options.h"

#include "base/str.h"
#include "base/time.h"
#include "runtime/elector.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum flag_type { FLAG_STRING, FLAG_BOOL, FLAG_DURATION, FLAG_ADDRESS, FLAG_LEVEL, FLAG_FORMAT };

struct flag {
    const char *name;
    enum flag_type type;
    size_t offset;
};

#define FLAG(NAME, TYPE, FIELD)                                                                    \
    {                                                                                              \
        NAME, TYPE, offsetof(struct rco_options, FIELD)                                            \
    }

static const struct flag flags[] = {
    FLAG("config", FLAG_STRING, config_file),
    FLAG("kubeconfig", FLAG_STRING, kubeconfig),
    FLAG("context", FLAG_STRING, context),
    FLAG("namespace", FLAG_STRING, ns),
    FLAG("identity", FLAG_STRING, identity),
    FLAG("leader-elect", FLAG_BOOL, leader_elect),
    FLAG("leader-elect-namespace", FLAG_STRING, ns),
    FLAG("leader-elect-resource-namespace", FLAG_STRING, ns),
    FLAG("leader-elect-resource-name", FLAG_STRING, lease_name),
    FLAG("leader-elect-lease-duration", FLAG_DURATION, lease_duration_ns),
    FLAG("leader-elect-renew-deadline", FLAG_DURATION, renew_deadline_ns),
    FLAG("leader-elect-retry-period", FLAG_DURATION, retry_period_ns),
    FLAG("metrics-bind-address", FLAG_ADDRESS, metrics),
    FLAG("health-probe-bind-address", FLAG_ADDRESS, health),
    FLAG("gateway-bind-address", FLAG_ADDRESS, gateway),
    FLAG("gateway-url", FLAG_STRING, gateway_url),
    FLAG("gateway-secret", FLAG_STRING, gateway_secret),
    FLAG("crash-file", FLAG_STRING, crash_file),
    FLAG("log-level", FLAG_LEVEL, log_level),
    FLAG("log-format", FLAG_FORMAT, log_format),
    FLAG("help", FLAG_BOOL, help),
    FLAG("version", FLAG_BOOL, version),
};

const char *rco_options_usage(void)
{
    return "Usage: runtime-cloud-controller [flags]\n"
           "\n"
           "  --config FILE                        configuration file (YAML)\n"
           "  --kubeconfig FILE                    how to reach the API server (default: "
           "in-cluster)\n"
           "  --context NAME                       context of the kubeconfig\n"
           "  --namespace NS                       the operator's own namespace (default: "
           "POD_NAMESPACE)\n"
           "  --identity NAME                      name in the election Lease (default: host name "
           "+ random)\n"
           "  --leader-elect[=true|false]          elect a leader among the replicas (default "
           "true)\n"
           "  --leader-elect-resource-name NAME    default runtime-cloud-controller\n"
           "  --leader-elect-lease-duration D      default 30s\n"
           "  --leader-elect-renew-deadline D      default 20s\n"
           "  --leader-elect-retry-period D        default 4s\n"
           "  --metrics-bind-address ADDR          default :8080; 0 switches it off\n"
           "  --health-probe-bind-address ADDR     default :8081; 0 switches it off\n"
           "  --gateway-bind-address ADDR          default :8443\n"
           "  --gateway-url URL                    how runner pods reach the gateway "
           "(https://...)\n"
           "  --gateway-secret NAME                serving certificate, default "
           "runtime-cloud-gateway-tls\n"
           "  --crash-file FILE                    an object that crashes the program twice is "
           "left alone until\n"
           "                                       it changes; FILE must outlive the process, not "
           "the pod\n"
           "  --log-level debug|info|warn|error    default info\n"
           "  --log-format json|text               default json\n"
           "  --version, --help\n";
}

static const struct flag *find_flag(const char *name, size_t n)
{
    for (size_t i = 0; i < RCO_ARRAY_LEN(flags); i++)
        if (strlen(flags[i].name) == n && memcmp(flags[i].name, name, n) == 0)
            return &flags[i];
    return NULL;
}

/* "host:port", ":port", "[::1]:port", "0". */
static int parse_address(const char *value, struct rco_address *a, struct rco_error *err)
{
    const char *colon = strrchr(value, ':');
    size_t host_len = colon ? (size_t)(colon - value) : 0;
    int64_t port;

    *a = (struct rco_address){.port = -1};
    if (rco_streq(value, "0"))
        return 0;
    if (!colon || rco_parse_int64(colon + 1, &port, err) < 0 || port < 1 || port > 65535)
        return rco_error_set(err, RCO_EINVALID, "\"%s\" is not an address such as :8080", value);
    if (host_len >= 2 && value[0] == '[' && value[host_len - 1] == ']') {
        value++;
        host_len -= 2;
    }
    if (host_len >= sizeof a->text)
        return rco_error_set(err, RCO_EINVALID, "\"%s\" is too long for an address", value);
    memcpy(a->text, value, host_len);
    a->host = host_len ? a->text : NULL;
    a->port = (int)port;
    return 0;
}

static int parse_word(const char *value, const char *const *words, size_t n, int *ret,
                      struct rco_error *err)
{
    for (size_t i = 0; i < n; i++) {
        if (rco_streq(words[i], value)) {
            *ret = (int)i;
            return 0;
        }
    }
    return rco_error_set(err, RCO_EINVALID, "\"%s\" is none of the allowed words", value);
}

static int parse_bool(const char *value, bool *ret, struct rco_error *err)
{
    if (rco_streq(value, "true") || rco_streq(value, "false")) {
        *ret = value[0] == 't';
        return 0;
    }
    return rco_error_set(err, RCO_EINVALID, "\"%s\" is neither true nor false", value);
}

static int set_flag(const struct flag *f, const char *value, struct rco_options *o,
                    struct rco_error *err)
{
    static const char *const levels[] = {"debug", "info", "warn", "error"};
    static const char *const formats[] = {"json", "text"};
    void *field = (char *)o + f->offset;
    int word = 0;

    switch (f->type) {
    case FLAG_STRING:
        *(const char **)field = value;
        return rco_str_empty(value) ? rco_error_set(err, RCO_EINVALID, "the value is empty") : 0;
    case FLAG_BOOL:
        return parse_bool(value, field, err);
    case FLAG_DURATION:
        return rco_duration_parse(value, field, err);
    case FLAG_ADDRESS:
        return parse_address(value, field, err);
    case FLAG_LEVEL:
        if (parse_word(value, levels, RCO_ARRAY_LEN(levels), &word, err) < 0)
            return -1;
        o->log_level = (enum rco_log_level)word;
        return 0;
    case FLAG_FORMAT:
        if (parse_word(value, formats, RCO_ARRAY_LEN(formats), &word, err) < 0)
            return -1;
        o->log_format = (enum rco_log_format)word;
        return 0;
    }
    return rco_error_set(err, RCO_EINTERNAL, "flag without a type");
}

static int check(const struct rco_options *o, struct rco_error *err)
{
    if (o->help || o->version)
        return 0;
    if (rco_str_empty(o->ns))
        return rco_error_set(
            err, RCO_EINVALID,
            "the operator's namespace is not known: set POD_NAMESPACE or --namespace");
    const struct rco_elector_timing timing = {.lease_ns = o->lease_duration_ns,
                                              .renew_ns = o->renew_deadline_ns,
                                              .retry_ns = o->retry_period_ns};
    if (rco_elector_timing_check(&timing, err) < 0)
        return -1;
    if (o->gateway.port < 0)
        return rco_error_set(err, RCO_EINVALID,
                             "--gateway-bind-address must name a port: runners report there");
    if (!rco_str_has_prefix(o->gateway_url, "https://"))
        return rco_error_set(err, RCO_EINVALID,
                             "--gateway-url must be an https:// URL that runner pods can reach");
    return 0;
}

static int parse_one(int argc, char *const *argv, int *i, struct rco_options *o,
                     struct rco_error *err)
{
    const char *arg = argv[*i], *name, *equals, *value;
    const struct flag *f;

    if (strncmp(arg, "--", 2) != 0)
        return rco_error_set(err, RCO_EINVALID, "unexpected argument \"%s\"", arg);
    name = arg + 2;
    equals = strchr(name, '=');
    f = find_flag(name, equals ? (size_t)(equals - name) : strlen(name));
    if (!f)
        return rco_error_set(err, RCO_EINVALID, "unknown flag \"%s\"", arg);
    if (equals)
        value = equals + 1;
    else if (f->type == FLAG_BOOL)
        value = "true";
    else if (*i + 1 < argc)
        value = argv[++*i];
    else
        return rco_error_set(err, RCO_EINVALID, "flag --%s needs a value", f->name);
    if (set_flag(f, value, o, err) < 0)
        return rco_error_wrap(err, "flag --%s", f->name);
    return 0;
}

int rco_options_parse(int argc, char *const *argv, const struct rco_options_env *env,
                      struct rco_options *ret, struct rco_error *err)
{
    struct rco_options o = {
        .kubeconfig = rco_str_empty(env->kubeconfig) ? NULL : env->kubeconfig,
        .ns = env->pod_namespace,
        .leader_elect = true,
        .lease_name = "runtime-cloud-controller",
        .lease_duration_ns = 30 * RCO_NS_PER_S,
        .renew_deadline_ns = 20 * RCO_NS_PER_S,
        .retry_period_ns = 4 * RCO_NS_PER_S,
        .metrics = {.port = 8080},
        .health = {.port = 8081},
        .gateway = {.port = 8443},
        .gateway_secret = "runtime-cloud-gateway-tls",
        .log_level = RCO_LOG_INFO,
        .log_format = RCO_LOG_JSON,
    };

    for (int i = 1; i < argc; i++)
        if (parse_one(argc, argv, &i, &o, err) < 0)
            return -1;
    if (check(&o, err) < 0)
        return -1;
    *ret = o;
    /* The host texts moved with the struct. */
    struct rco_address *all[] = {&ret->metrics, &ret->health, &ret->gateway};
    for (size_t i = 0; i < RCO_ARRAY_LEN(all); i++)
        if (all[i]->host)
            all[i]->host = all[i]->text;
    return 0;
}
