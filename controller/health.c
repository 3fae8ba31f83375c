#include "health.h"

#include "base/str.h"

#include <string.h>

static int64_t no_body(void *ctx, const char *method, const char *path)
{
    (void)ctx;
    (void)path;
    return rco_streq(method, "GET") || rco_streq(method, "HEAD") ? 0 : -1;
}

static void say(struct rco_exchange *exchange, int status, const char *text)
{
    rco_exchange_reply(exchange, status, "text/plain; charset=utf-8", text, strlen(text), 0);
}

/* Why this replica cannot serve, or NULL. A standby is ready: its caches are warm. */
static const char *not_ready(const struct rco_health *h)
{
    if (!rco_manager_has_synced(h->manager))
        return "the caches are not synced yet\n";
    if (!h->gateway_ready)
        return "the gateway has no certificate yet\n";
    return NULL;
}

static void on_health(void *ctx, struct rco_exchange *exchange,
                      const struct rco_server_request *request)
{
    const struct rco_health *h = ctx;
    const char *why = NULL;

    if (rco_streq(request->path, "/livez") || rco_streq(request->path, "/healthz"))
        why = rco_manager_is_healthy(h->manager) ? NULL : "leading without having renewed\n";
    else if (rco_streq(request->path, "/readyz"))
        why = not_ready(h);
    else {
        say(exchange, 404, "try /livez or /readyz\n");
        return;
    }
    say(exchange, why ? 503 : 200, why ? why : "ok\n");
}

static void on_metrics(void *ctx, struct rco_exchange *exchange,
                       const struct rco_server_request *request)
{
    struct rco_health *h = ctx;
    rco_autobuf text = RCO_BUF_INIT;

    if (!rco_streq(request->path, "/metrics")) {
        say(exchange, 404, "try /metrics\n");
        return;
    }
    rco_metrics_expose(rco_manager_metrics(h->manager), &text);
    rco_exchange_reply(exchange, 200, RCO_METRICS_CONTENT_TYPE, text.data, text.len, 0);
}

struct rco_server_handler rco_health_handler(struct rco_health *h)
{
    return (struct rco_server_handler){.max_body = no_body, .request = on_health, .ctx = h};
}

struct rco_server_handler rco_metrics_handler(struct rco_health *h)
{
    return (struct rco_server_handler){.max_body = no_body, .request = on_metrics, .ctx = h};
}
