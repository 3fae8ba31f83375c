#include "gateway.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/str.h"
#include "json/codec.h"
#include "proc.h"

#include <curl/curl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#define TOKEN_MAX (16 * 1024)
#define FIRST_WAIT_MS 1000
#define LAST_WAIT_MS 15000
#define MAX_RETRY_AFTER_MS 60000
/* Each new connection reaches some replica. Nobody may lead for a while: then slowly again. */
#define QUICK_TRIES 20
#define QUICK_TRIES_LATER 2
#define QUICK_MS_MIN 50
#define QUICK_MS_MAX 250

struct rco_gateway {
    struct rco_runner *r;
    CURL *curl;
    const char *base; /* .../v1/runs/<ns>/<run>/<phase>/ */
    const char *token_path;
    unsigned quick; /* tries left to find the replica that leads without a pause to speak of */
};

static size_t on_body(char *bytes, size_t size, size_t n, void *ctx)
{
    struct rco_answer *a = ctx;
    struct rco_error err = RCO_ERROR_INIT;
    return rco_buf_add_capped(&a->body, bytes, size * n, RCO_GATEWAY_MAX_ANSWER, &err) < 0
               ? 0
               : size * n;
}

static void set_tls(struct rco_gateway *g, const char *ca)
{
    struct curl_blob blob = {.data = (void *)ca, .len = strlen(ca), .flags = CURL_BLOB_NOCOPY};
    /* Only the operator's own CA: with CAPATH left alone the system's would be trusted as well. */
    curl_easy_setopt(g->curl, CURLOPT_CAINFO, NULL);
    curl_easy_setopt(g->curl, CURLOPT_CAPATH, NULL);
    curl_easy_setopt(g->curl, CURLOPT_CAINFO_BLOB, &blob);
    curl_easy_setopt(g->curl, CURLOPT_SSL_VERIFYPEER, 1L);
    curl_easy_setopt(g->curl, CURLOPT_SSL_VERIFYHOST, 2L);
    curl_easy_setopt(g->curl, CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2);
}

struct rco_gateway *rco_gateway_new(struct rco_runner *r, struct rco_error *err)
{
    const char *url = rco_environ_get(r->environ, "RCO_GATEWAY_URL");
    const char *ca = rco_environ_get(r->environ, "RCO_GATEWAY_CA");
    if (rco_str_empty(url) || rco_str_empty(ca)) {
        rco_error_set(err, RCO_EINVALID, "RCO_GATEWAY_URL or RCO_GATEWAY_CA is not set");
        return NULL;
    }
    if (!rco_str_has_prefix(url, "https://")) {
        rco_error_set(err, RCO_EINVALID, "RCO_GATEWAY_URL is not an https:// URL");
        return NULL;
    }
    struct rco_gateway *g = rco_calloc(1, sizeof(*g));
    g->r = r;
    g->quick = QUICK_TRIES;
    curl_global_init(CURL_GLOBAL_DEFAULT);
    g->curl = curl_easy_init();
    g->base = rco_arena_printf(&r->arena, "%s/v1/runs/%s/%s/%s/", url, r->job.namespace, r->job.run,
                               rco_engine_phase_name(r->job.phase));
    g->token_path = rco_runner_path(r, "token/token");
    if (!g->curl) {
        rco_error_set(err, RCO_EINTERNAL, "libcurl could not be started");
        rco_gateway_free(g);
        return NULL;
    }
    set_tls(g, ca);
    curl_easy_setopt(g->curl, CURLOPT_PROXY, "");
    curl_easy_setopt(g->curl, CURLOPT_NOPROXY, "*");
    curl_easy_setopt(g->curl, CURLOPT_PROTOCOLS_STR, "https");
    curl_easy_setopt(g->curl, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(g->curl, CURLOPT_NOSIGNAL, 1L);
    /* A connection to a replica that stood by must not be found again. */
    curl_easy_setopt(g->curl, CURLOPT_MAXCONNECTS, 1L);
    curl_easy_setopt(g->curl, CURLOPT_CONNECTTIMEOUT, 10L);
    curl_easy_setopt(g->curl, CURLOPT_TIMEOUT, (long)RCO_GATEWAY_TIMEOUT_S);
    curl_easy_setopt(g->curl, CURLOPT_USERAGENT,
                     rco_arena_printf(&r->arena, "runtime-cloud-runner/%s", rco_runner_version()));
    curl_easy_setopt(g->curl, CURLOPT_WRITEFUNCTION, on_body);
    return g;
}

void rco_gateway_free(struct rco_gateway *g)
{
    if (!g)
        return;
    if (g->curl)
        curl_easy_cleanup(g->curl);
    free(g);
}

static void free_list(struct curl_slist **list)
{
    curl_slist_free_all(*list);
}

/* The kubelet renews the token's file; a header of the last one would one day be refused. */
static int headers(struct rco_gateway *g, const char *method, struct curl_slist **ret,
                   struct rco_error *err)
{
    rco_autobuf token = RCO_BUF_INIT, line = RCO_BUF_INIT;
    if (rco_file_read(g->token_path, TOKEN_MAX, &token, err) < 0)
        return rco_error_wrap(err, "gateway token");
    size_t n = strcspn(rco_buf_str(&token), " \r\n");
    rco_buf_addf(&line, "Authorization: Bearer %.*s", (int)n, rco_buf_str(&token));
    *ret = curl_slist_append(NULL, rco_buf_str(&line));
    *ret = curl_slist_append(*ret, strcmp(method, "PUT") == 0
                                       ? "Content-Type: application/octet-stream"
                                       : "Content-Type: application/json");
    *ret = curl_slist_append(*ret, "Accept: application/json");
    *ret = curl_slist_append(*ret, "Expect:");
    explicit_bzero(token.data, token.len);
    explicit_bzero(line.data, line.len);
    return 0;
}

static int call_once(struct rco_gateway *g, const char *method, const char *route, const void *body,
                     size_t n, struct rco_answer *ret, struct rco_error *err)
{
    rco_autobuf url = RCO_BUF_INIT;
    rco_cleanup(free_list) struct curl_slist *list = NULL;
    char why[CURL_ERROR_SIZE] = "";
    curl_off_t retry_after = 0;
    long status = 0;
    rco_buf_clear(&ret->body);
    ret->status = 0;
    ret->retry_after_ms = 0;
    if (headers(g, method, &list, err) < 0)
        return -1;
    rco_buf_addf(&url, "%s%s", g->base, route);
    curl_easy_setopt(g->curl, CURLOPT_URL, rco_buf_str(&url));
    curl_easy_setopt(g->curl, CURLOPT_CUSTOMREQUEST, method);
    curl_easy_setopt(g->curl, CURLOPT_POSTFIELDS, body ? body : "");
    curl_easy_setopt(g->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)n);
    curl_easy_setopt(g->curl, CURLOPT_HTTPHEADER, list);
    curl_easy_setopt(g->curl, CURLOPT_WRITEDATA, ret);
    curl_easy_setopt(g->curl, CURLOPT_ERRORBUFFER, why);
    CURLcode rc = curl_easy_perform(g->curl);
    curl_easy_setopt(g->curl, CURLOPT_ERRORBUFFER, NULL);
    curl_easy_setopt(g->curl, CURLOPT_HTTPHEADER, NULL);
    if (rc != CURLE_OK)
        return rco_error_set(err, RCO_EUNAVAILABLE, "%s %s: %s", method, route,
                             why[0] ? why : curl_easy_strerror(rc));
    curl_easy_getinfo(g->curl, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_getinfo(g->curl, CURLINFO_RETRY_AFTER, &retry_after);
    ret->status = (int)status;
    ret->retry_after_ms =
        retry_after * 1000 > MAX_RETRY_AFTER_MS ? MAX_RETRY_AFTER_MS : (int64_t)retry_after * 1000;
    return 0;
}

bool rco_gateway_is_standby(const struct rco_answer *a)
{
    struct rco_runner_refusal refusal = {0};
    struct rco_error err = RCO_ERROR_INIT;
    rco_autoarena arena = RCO_ARENA_INIT;
    return a->status == 503 && a->body.len &&
           rco_codec_decode(&rco_runner_refusal_schema, a->body.data, a->body.len, &arena, &refusal,
                            &err) == 0 &&
           refusal.standby;
}

static void pause_shortly(void)
{
    uint32_t random;
    rco_clock_random(&random, sizeof(random));
    poll(NULL, 0, QUICK_MS_MIN + (int)(random % (QUICK_MS_MAX - QUICK_MS_MIN + 1)));
}

int rco_gateway_call(struct rco_gateway *g, const char *method, const char *route, const void *body,
                     size_t n, struct rco_answer *ret, struct rco_error *err)
{
    if (g->quick < QUICK_TRIES_LATER)
        g->quick = QUICK_TRIES_LATER;
    for (;;) {
        int rc = call_once(g, method, route, body, n, ret, err);
        bool standby = rc == 0 && rco_gateway_is_standby(ret);
        /* Once a connection reaches the leader it is kept, as libcurl does by itself. */
        curl_easy_setopt(g->curl, CURLOPT_FRESH_CONNECT, standby ? 1L : 0L);
        if (rc == 0 && !standby)
            g->quick = QUICK_TRIES;
        if (!standby || !g->quick)
            return rc;
        g->quick--;
        pause_shortly();
    }
}

enum rco_gateway_verdict rco_gateway_judge(int rc, const struct rco_answer *a)
{
    if (rc < 0)
        return RCO_GATEWAY_RETRY;
    if (a->status >= 200 && a->status < 300)
        return RCO_GATEWAY_DONE;
    if (a->status == 401 || a->status == 408 || a->status == 429 || a->status >= 500)
        return RCO_GATEWAY_RETRY;
    return a->status == 403 || a->status == 404 ? RCO_GATEWAY_WAIT : RCO_GATEWAY_REFUSED;
}

int64_t rco_gateway_backoff_ms(unsigned attempt, const struct rco_answer *a)
{
    int64_t ms = FIRST_WAIT_MS;
    uint32_t random;
    while (attempt-- > 1 && ms < LAST_WAIT_MS)
        ms *= 2;
    if (ms > LAST_WAIT_MS)
        ms = LAST_WAIT_MS;
    /* A server that is there and says when: soon. */
    if (a->status && a->retry_after_ms > 0)
        ms = a->retry_after_ms;
    rco_clock_random(&random, sizeof(random));
    return ms / 2 + ms / 2 * (int64_t)(random >> 8) / (1 << 24) +
           (a->retry_after_ms > 0 ? ms / 2 : 0);
}

const char *rco_gateway_message(const struct rco_answer *ans, struct rco_arena *a)
{
    struct rco_runner_refusal refusal = {0};
    struct rco_error err = RCO_ERROR_INIT;
    if (ans->body.len &&
        rco_codec_decode(&rco_runner_refusal_schema, ans->body.data, ans->body.len, a, &refusal,
                         &err) == 0 &&
        !rco_str_empty(refusal.message))
        return refusal.message;
    return rco_arena_printf(a, "HTTP status %d without a message", ans->status);
}
