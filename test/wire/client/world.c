#include "world.h"

#include "base/buf.h"
#include "base/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct wire_world wire;

/* --- waiting --- */

static void on_poll(void *ctx)
{
    struct wire_world *w = ctx;

    w->timed_out = rco_loop_now(w->loop) >= w->give_up;
    if (w->timed_out || w->until(w->until_ctx))
        rco_loop_stop(w->loop);
    else
        rco_timer_arm(w->poll, 2 * MS);
}

void wire_wait_for(const char *what, bool (*until)(void *ctx), void *ctx, int64_t ns)
{
    wire.until = until;
    wire.until_ctx = ctx;
    wire.give_up = rco_clock_mono() + ns;
    rco_timer_arm(wire.poll, 0);
    rco_loop_run(wire.loop);
    if (wire.timed_out)
        fail_msg("%s did not happen", what);
}

static bool never(void *ctx)
{
    (void)ctx;
    return false;
}

void wire_run_for(int64_t ns)
{
    wire.until = never;
    wire.give_up = rco_clock_mono() + ns;
    rco_timer_arm(wire.poll, 0);
    rco_loop_run(wire.loop);
}

bool wire_is_true(void *flag)
{
    return *(bool *)flag;
}

/* --- single requests --- */

void wire_on_answer(void *ctx, const struct rco_kube_result *r, const struct rco_error *err)
{
    struct wire_world *w = ctx;

    w->answered = true;
    w->code = err ? err->code : RCO_OK;
    snprintf(w->msg, sizeof(w->msg), "%s", err ? err->msg : "");
    snprintf(w->uid, sizeof(w->uid), "%s", r->uid);
    snprintf(w->rv, sizeof(w->rv), "%s", r->resource_version);
}

enum rco_code wire_request(const struct rco_kube_request *q)
{
    wire.answered = false;
    rco_kube_start(wire.client, q, wire_on_answer, &wire);
    wire_wait_for("an answer", wire_is_true, &wire.answered, 40 * S);
    return wire.code;
}

enum rco_code wire_create(enum rco_kind kind, const char *ns, const char *name, const char *more)
{
    rco_autobuf b = RCO_BUF_INIT;
    char api[128];

    rco_kind_api_version(kind, api);
    rco_buf_addf(&b,
                 "{\"apiVersion\":\"%s\",\"kind\":\"%s\",\"metadata\":{\"name\":\"%s\",\"labels\":{"
                 "\"t\":\"1\"}}%s}",
                 api, rco_kind_info(kind)->kind, name, more);
    const struct rco_kube_request q = {.verb = RCO_KUBE_CREATE,
                                       .kind = kind,
                                       .ns = ns,
                                       .name = name,
                                       .body = b.data,
                                       .body_len = b.len};
    return wire_request(&q);
}

enum rco_code wire_get(const char *name)
{
    const struct rco_kube_request q = {
        .verb = RCO_KUBE_GET, .kind = RCO_KIND_CONFIGMAP, .ns = NS, .name = name};

    return wire_request(&q);
}

enum rco_code wire_patch(const char *name, const char *rv, const char *value)
{
    rco_autobuf b = RCO_BUF_INIT;

    rco_buf_addf(&b, "{\"metadata\":{\"resourceVersion\":\"%s\"},\"data\":{\"k\":\"%s\"}}", rv,
                 value);
    const struct rco_kube_request q = {.verb = RCO_KUBE_PATCH,
                                       .kind = RCO_KIND_CONFIGMAP,
                                       .ns = NS,
                                       .name = name,
                                       .body = b.data,
                                       .body_len = b.len};
    return wire_request(&q);
}

enum rco_code wire_delete(const char *name, const char *uid)
{
    const struct rco_kube_request q = {
        .verb = RCO_KUBE_DELETE, .kind = RCO_KIND_CONFIGMAP, .ns = NS, .name = name, .uid = uid};

    return wire_request(&q);
}

/* --- set up --- */

static void on_unauthorized(void *ctx)
{
    rco_credentials_unauthorized(((struct wire_world *)ctx)->credentials);
}

static const char *authorization(void *ctx)
{
    return rco_credentials_authorization(((struct wire_world *)ctx)->credentials);
}

int wire_set_up(void **state)
{
    const struct rco_kubeconfig_options o = {.paths = getenv("KUBECONFIG")};
    const struct rco_kube_client_options client = {.unauthorized = on_unauthorized, .ctx = &wire};
    struct rco_error err = RCO_ERROR_INIT;

    (void)state;
    wire.loop = rco_loop_uv_new();
    wire.poll = rco_timer_new(wire.loop, on_poll, &wire);
    if (rco_kube_config_load(&o, &wire.config, &err) < 0 ||
        !(wire.credentials = rco_credentials_new(wire.loop, &wire.config, NULL, &err))) {
        print_message("%s\n", err.msg);
        return -1;
    }
    const struct rco_http_client_options http = {.base_url = wire.config.server,
                                                 .user_agent = "runtime-cloud-wire-test",
                                                 .ca_pem = rco_credentials_ca(wire.credentials),
                                                 .cert_pem = rco_credentials_cert(wire.credentials),
                                                 .key_pem = rco_credentials_key(wire.credentials),
                                                 .authorization = authorization,
                                                 .ctx = &wire};
    if (!(wire.http = rco_http_client_new(wire.loop, &http, &err))) {
        print_message("%s\n", err.msg);
        return -1;
    }
    wire.client = rco_kube_client_new(wire.loop, rco_http_client_transport(wire.http), &client);
    return wire_create(RCO_KIND_NAMESPACE, NULL, NS, "") == RCO_OK ? 0 : -1;
}

int wire_tear_down(void **state)
{
    (void)state;
    rco_kube_client_free(wire.client);
    rco_http_client_free(wire.http);
    rco_credentials_free(wire.credentials);
    rco_timer_free(wire.poll);
    rco_kube_config_release(&wire.config);
    rco_loop_uv_free(wire.loop);
    return 0;
}
