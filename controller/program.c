#include "program.h"

#include "auth.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/sha256.h"
#include "config_file.h"
#include "gateway.h"
#include "health.h"
#include "http/client.h"
#include "kube/client.h"
#include "kube/config.h"
#include "kube/credentials.h"
#include "mailbox.h"
#include "process_metrics.h"
#include "serving.h"
#include "setup.h"
#include "startup.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#define IDENTITY_RANDOM 8 /* bytes behind the host name */
#define GATEWAY_CONNECTIONS 1024
#define GATEWAY_IDLE_NS                                                                            \
    (60 * RCO_NS_PER_S) /* above the heartbeat interval: runners keep their connection */
#define GATEWAY_HELD (24u * 1024 * 1024) /* bytes of requests that come in at once */
#define GATEWAY_SHARE 4 /* of both for one address: a pod, or a node that masquerades */
#define PROBE_CONNECTIONS 64
/* More than all connections together: libwebsockets spins when accept fails with EMFILE. */
#define OPEN_FILES (GATEWAY_CONNECTIONS + 2 * PROBE_CONNECTIONS + 512)

struct program {
    const struct rco_options *options;
    const struct rco_program_env *env;
    int exit_code;
    bool stopping;
    struct rco_arena arena; /* configuration */
    struct rco_loop *loop;
    struct rco_kube_config kube_config;
    struct rco_credentials *credentials;
    struct rco_http_client *http;
    struct rco_kube_client *client;
    struct rco_metrics *metrics;
    struct rco_metric *requests_total;
    const char *host; /* of the API server, for metrics */
    struct rco_startup *startup;
    struct rco_world world;
    char *gateway_ca;
    struct rco_setup_storage setup;
    struct rco_crash_guard *crash_guard;
    struct rco_manager *manager;
    struct rco_server *server;
    struct rco_listener *gateway_listener;
    struct rco_gateway *gateway;
    struct rco_serving *serving;
    struct rco_health health;
    struct rco_process_metrics process;
    char *identity;
};

/* Ends the program at once: leadership is gone or nothing can work (A93). */
static RCO_NORETURN void die(const char *why)
{
    rco_log(RCO_LOG_ERROR, "ending", RCO_S("why", why));
    _exit(1);
}

/* --- connection ------------------------------------------------------------------------------ */

static const char *authorization(void *ctx)
{
    struct program *p = ctx;

    return rco_credentials_authorization(p->credentials);
}

static void on_unauthorized(void *ctx)
{
    struct program *p = ctx;

    rco_credentials_unauthorized(p->credentials);
}

static void on_accepted(void *ctx)
{
    struct program *p = ctx;

    rco_credentials_accepted(p->credentials);
}

static void on_observed(void *ctx, const char *method, int status, int64_t latency_ns)
{
    struct program *p = ctx;
    char code[16];

    (void)latency_ns;
    snprintf(code, sizeof code, "%d", status);
    rco_series_inc(
        rco_metric_series(p->requests_total, status ? code : "<error>", method, p->host));
}

static void on_warning(void *ctx, const char *text)
{
    (void)ctx;
    rco_log(RCO_LOG_WARN, "the API server warns", RCO_S("warning", text));
}

static void on_tls_changed(void *ctx, const char *ca, const char *cert, const char *key)
{
    struct program *p = ctx;
    struct rco_error err = RCO_ERROR_INIT;

    if (rco_http_client_set_tls(p->http, ca, cert, key, &err) < 0)
        rco_log(RCO_LOG_WARN, "new CA or certificate is unusable, the old one stays",
                RCO_S("error", err.msg));
    else
        rco_log(RCO_LOG_INFO, "CA or client certificate reloaded");
}

static void on_hopeless_credentials(void *ctx)
{
    (void)ctx;
    die("the API server has refused our credentials for five minutes");
}

static int load_kube_config(struct program *p, struct rco_error *err)
{
    const struct rco_kubeconfig_options options = {
        .paths = p->options->kubeconfig,
        .context = p->options->context,
        .trust = RCO_KUBE_TRUST_OWN,
    };

    if (p->options->kubeconfig)
        return rco_kube_config_load(&options, &p->kube_config, err);
    return rco_kube_config_in_cluster(p->env->service_host, p->env->service_port,
                                      RCO_IN_CLUSTER_DIR, &p->kube_config, err);
}

static int connect_api(struct program *p, struct rco_error *err)
{
    const struct rco_credentials_handler handler = {
        .tls_changed = on_tls_changed, .hopeless = on_hopeless_credentials, .ctx = p};
    const struct rco_kube_client_options client_options = {
        .user_agent = "runtime-cloud-controller/" RCO_VERSION,
        .unauthorized = on_unauthorized,
        .accepted = on_accepted,
        .observed = on_observed,
        .warning = on_warning,
        .ctx = p,
    };
    struct rco_http_client_options http;

    p->credentials = rco_credentials_new(p->loop, &p->kube_config, &handler, err);
    if (!p->credentials)
        return -1;
    http = (struct rco_http_client_options){
        .base_url = p->kube_config.server,
        .user_agent = client_options.user_agent,
        .ca_pem = rco_credentials_ca(p->credentials),
        .cert_pem = rco_credentials_cert(p->credentials),
        .key_pem = rco_credentials_key(p->credentials),
        .tls_server_name = p->kube_config.tls_server_name,
        .insecure = p->kube_config.insecure,
        .proxy = p->kube_config.proxy_url,
        .authorization = authorization,
        .ctx = p,
    };
    p->http = rco_http_client_new(p->loop, &http, err);
    if (!p->http)
        return -1;
    p->client = rco_kube_client_new(p->loop, rco_http_client_transport(p->http), &client_options);
    return 0;
}

/* --- manager --------------------------------------------------------------------------------- */

static void wake_run(void *ctx, const char *ns, const char *run)
{
    struct program *p = ctx;
    struct rco_key key = rco_key_of(ns, run);

    rco_manager_enqueue(p->manager, RCO_RECONCILER_RUN, &key, RCO_PRIORITY_HIGH);
}

static void on_reply(void *ctx, uint64_t mailbox, int http_status, const char *body, size_t n)
{
    struct program *p = ctx;

    rco_mailbox_reply(p->world.mailbox, mailbox, http_status, body, n);
}

static void on_failed(void *ctx, const char *why)
{
    (void)ctx;
    die(why);
}

static char *make_identity(const struct program *p)
{
    unsigned char random[IDENTITY_RANDOM];
    char hex[2 * IDENTITY_RANDOM + 1];

    if (p->options->identity)
        return rco_strdup(p->options->identity);
    rco_clock_random(random, sizeof random);
    rco_hex_encode(random, sizeof random, hex);
    return rco_asprintf("%s_%s", p->env->pod_name ? p->env->pod_name : p->env->host_name, hex);
}

static void make_manager(struct program *p)
{
    const struct rco_options *o = p->options;
    const struct rco_elector_options election = {
        .ns = o->ns,
        .name = o->lease_name,
        .identity = p->identity,
        .timing = {o->lease_duration_ns, o->renew_deadline_ns, o->retry_period_ns},
    };
    const struct rco_manager_options options = {
        .loop = p->loop,
        .client = p->client,
        .metrics = p->metrics,
        .election = o->leader_elect ? &election : NULL,
        .instance = p->env->pod_name ? p->env->pod_name : p->env->host_name,
        .crash_guard = p->crash_guard,
        .reply = on_reply,
        .failed = on_failed,
        .ctx = p,
    };

    rco_setup_fill(&p->setup, &p->world);
    p->manager = rco_manager_new(&p->setup.setup, &options);
    for (int kind = 0; kind < RCO_KIND_COUNT; kind++)
        p->world.stores[kind] = rco_manager_store(p->manager, (enum rco_kind)kind);
    p->health.manager = p->manager;
}

/* --- gateway --------------------------------------------------------------------------------- */

static bool may_renew(void *ctx)
{
    struct program *p = ctx;

    return rco_manager_is_leading(p->manager);
}

static void listen_gateway(struct program *p, const char *cert, const char *key)
{
    const struct rco_listener_options options = {
        .address = p->options->gateway.host,
        .port = p->options->gateway.port,
        .cert_pem = cert,
        .key_pem = key,
        .max_connections = GATEWAY_CONNECTIONS,
        .max_held = GATEWAY_HELD,
        .share = GATEWAY_SHARE,
        .idle_ns = GATEWAY_IDLE_NS,
    };
    struct rco_server_handler handler = rco_gateway_handler(p->gateway);
    struct rco_error err = RCO_ERROR_INIT;

    p->gateway_listener = rco_server_listen(p->server, &options, &handler, &err);
    if (!p->gateway_listener)
        die(err.msg);
    p->health.gateway_ready = true;
    rco_log(RCO_LOG_INFO, "gateway listens", RCO_N("port", rco_listener_port(p->gateway_listener)));
}

/* Jobs made from now on carry CA; running ones hold the older bundle, which still has the CA that
 * signed the new certificate. */
static void on_certificate(void *ctx, const char *cert, const char *key, const char *ca)
{
    struct program *p = ctx;
    struct rco_error err = RCO_ERROR_INIT;

    free(p->gateway_ca);
    p->gateway_ca = rco_strdup(ca);
    p->world.config.job.gateway_ca = p->gateway_ca;
    if (!p->gateway_listener) {
        listen_gateway(p, cert, key);
        rco_manager_start(p->manager);
        return;
    }
    if (rco_listener_set_certificate(p->gateway_listener, cert, key, &err) < 0)
        rco_log(RCO_LOG_ERROR, "the gateway's new certificate is unusable, the old one stays",
                RCO_S("error", err.msg));
    else
        rco_log(RCO_LOG_INFO, "gateway certificate renewed");
}

/* Host part of "https://host:port". */
static char *host_of_url(const char *url)
{
    const char *host = strstr(url, "://");
    size_t n;

    host = host ? host + 3 : url;
    if (*host == '[') {
        host++;
        n = strcspn(host, "]");
    } else {
        n = strcspn(host, ":/");
    }
    return rco_strndup(host, n);
}

static void on_cluster_ready(void *ctx)
{
    struct program *p = ctx;
    struct rco_serving_options serving = {
        .loop = p->loop,
        .client = p->client,
        .ns = p->options->ns,
        .secret = p->options->gateway_secret,
        .may_renew = may_renew,
        .changed = on_certificate,
        .ctx = p,
    };
    rco_autofree char *host = host_of_url(p->options->gateway_url);

    serving.host = rco_arena_strdup(&p->arena, host);
    p->serving = rco_serving_new(&serving);
}

static void on_hopeless(void *ctx, const char *why)
{
    (void)ctx;
    die(why);
}

/* --- probes ---------------------------------------------------------------------------------- */

static int listen_plain(struct program *p, const struct rco_address *address,
                        struct rco_server_handler handler, struct rco_error *err)
{
    const struct rco_listener_options options = {
        .address = address->host, .port = address->port, .max_connections = PROBE_CONNECTIONS};

    if (address->port < 0)
        return 0;
    return rco_server_listen(p->server, &options, &handler, err) ? 0 : -1;
}

static int listen_probes(struct program *p, struct rco_error *err)
{
    if (listen_plain(p, &p->options->health, rco_health_handler(&p->health), err) < 0)
        return -1;
    return listen_plain(p, &p->options->metrics, rco_metrics_handler(&p->health), err);
}

/* --- end ------------------------------------------------------------------------------------- */

static void on_server_closed(void *ctx)
{
    struct program *p = ctx;

    p->server = NULL;
    rco_loop_stop(p->loop);
}

static void on_manager_stopped(void *ctx)
{
    struct program *p = ctx;

    rco_serving_free(p->serving);
    p->serving = NULL;
    rco_mailbox_drain(p->world.mailbox);
    rco_server_close(p->server, on_server_closed, p);
}

/* SIGTERM or SIGINT: running plans end, the lease is given back, then the connections close. */
static void on_signal(void *ctx)
{
    struct program *p = ctx;

    if (p->stopping)
        return;
    p->stopping = true;
    rco_log(RCO_LOG_INFO, "stopping on signal");
    rco_startup_free(p->startup);
    p->startup = NULL;
    rco_server_drain(p->server);
    rco_manager_stop(p->manager, on_manager_stopped, p);
}

static void release(struct program *p)
{
    rco_startup_free(p->startup);
    rco_serving_free(p->serving);
    rco_gateway_free(p->gateway);
    if (p->manager)
        rco_manager_free(p->manager);
    rco_crash_guard_close(p->crash_guard);
    rco_mailbox_free(p->world.mailbox);
    if (p->client)
        rco_kube_client_free(p->client);
    rco_http_client_free(p->http);
    rco_credentials_free(p->credentials);
    if (p->metrics)
        rco_metrics_free(p->metrics);
    rco_kube_config_release(&p->kube_config);
    if (p->loop)
        rco_loop_uv_free(p->loop);
    rco_arena_release(&p->arena);
    free(p->gateway_ca);
    free(p->identity);
}

/* --- start ----------------------------------------------------------------------------------- */

static void default_config(struct program *p)
{
    p->world.loop = p->loop;
    p->world.config = (struct rco_decide_config){
        .operator_namespace = p->options->ns,
        .default_tenant = "default",
        .runner_image = "runtimecloud.local/runtime-cloud-runner:" RCO_VERSION,
        .history_limit = 20,
        .job = {.gateway_url = p->options->gateway_url, .gateway_audience = RCO_GATEWAY_AUDIENCE},
    };
}

static void make_metrics(struct program *p)
{
    static const struct rco_metric_spec requests = {
        .name = "rest_client_requests_total",
        .help = "Requests to the API server by status code, method and host.",
        .type = RCO_METRIC_COUNTER,
        .labels = {"code", "method", "host"},
    };
    static const struct rco_metric_spec build = {
        .name = "runtimecloud_build_info",
        .help = "The version of the operator; always 1.",
        .type = RCO_METRIC_GAUGE,
        .labels = {"version", "revision", "compiler"},
    };

    p->metrics = rco_metrics_new();
    rco_process_metrics_add(&p->process, p->metrics);
    p->requests_total = rco_metrics_add(p->metrics, &requests);
    rco_series_set(rco_metric_series(rco_metrics_add(p->metrics, &build), RCO_VERSION, RCO_REVISION,
                                     __VERSION__),
                   1);
}

static int raise_open_files(struct rco_error *err)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return rco_error_errno(err, errno, "read the limit of open files");
    if (limit.rlim_max < OPEN_FILES)
        return rco_error_set(err, RCO_EINVALID,
                             "the hard limit of open files is %llu, but %d are needed: raise it",
                             (unsigned long long)limit.rlim_max, OPEN_FILES);
    /* Lower is as good as higher: tables are sized by the limit. */
    limit.rlim_cur = OPEN_FILES;
    if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
        return rco_error_errno(err, errno, "set the limit of open files");
    return 0;
}

static int start(struct program *p, struct rco_error *err)
{
    if (raise_open_files(err) < 0)
        return -1;
    p->loop = rco_loop_uv_new();
    default_config(p);
    if (rco_config_file_load(p->options->config_file, &p->arena, &p->world.config, err) < 0)
        return -1;
    make_metrics(p);
    if (load_kube_config(p, err) < 0)
        return -1;
    p->host = strstr(p->kube_config.server, "://");
    p->host = p->host ? p->host + 3 : p->kube_config.server;
    if (connect_api(p, err) < 0)
        return -1;
    if (p->options->crash_file) {
        p->crash_guard = rco_crash_guard_open(p->options->crash_file, err);
        if (!p->crash_guard)
            return -1;
    }
    p->identity = make_identity(p);
    p->world.mailbox = rco_mailbox_new(p->loop, wake_run, p);
    make_manager(p);
    p->server = rco_server_new(p->loop, err);
    if (!p->server)
        return -1;
    p->gateway = rco_gateway_new(&(struct rco_gateway_options){
        .loop = p->loop, .client = p->client, .manager = p->manager, .world = &p->world});
    if (listen_probes(p, err) < 0)
        return -1;
    p->startup = rco_startup_new(&(struct rco_startup_options){
        .loop = p->loop,
        .client = p->client,
        .ns = p->options->ns,
        .ready = on_cluster_ready,
        .hopeless = on_hopeless,
        .ctx = p,
    });
    rco_loop_on_signal(p->loop, SIGTERM, on_signal, p);
    rco_loop_on_signal(p->loop, SIGINT, on_signal, p);
    return 0;
}

int rco_program_run(const struct rco_options *options, const struct rco_program_env *env)
{
    struct program p = {.options = options, .env = env};
    struct rco_error err = RCO_ERROR_INIT;

    rco_log(RCO_LOG_INFO, "starting", RCO_S("version", RCO_VERSION),
            RCO_S("revision", RCO_REVISION), RCO_S("namespace", options->ns));
    if (start(&p, &err) < 0) {
        rco_log(RCO_LOG_ERROR, "cannot start", RCO_S("error", err.msg));
        return 1;
    }
    rco_loop_run(p.loop);
    release(&p);
    rco_log(RCO_LOG_INFO, "stopped");
    return p.exit_code;
}
