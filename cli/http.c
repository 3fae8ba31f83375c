#include "http.h"

#include "base/file.h"
#include "base/str.h"
#include "kube/credentials.h"
#include "kube/status.h"

#include <curl/curl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

struct rco_cli_http {
    CURL *curl;
    const struct rco_kube_config *config; /* borrowed */
    char *const *environment;             /* borrowed */
    struct rco_buf ca, cert, key;         /* PEM; empty = none */
    struct rco_buf authorization;         /* header; empty = none */
    struct curl_slist *connect_to;        /* for tls-server-name */
    char *base;                           /* URL without the path */
    char *host_header;                    /* "Host: ..." when tls-server-name differs, else NULL */
    char curl_error[CURL_ERROR_SIZE];
};

/* One transfer under way. */
struct transfer {
    struct rco_cli_http *h;
    const struct rco_cli_stream *stream; /* NULL: collect into body */
    struct rco_buf *body;
    struct rco_buf refusal; /* body of an answer that is not 2xx */
    int64_t retry_after_ms;
    bool stopped;
    struct rco_error *err;
};

static int load_pem(const char *text, const char *file, const char *what, struct rco_buf *out,
                    struct rco_error *err)
{
    if (!rco_str_empty(text)) {
        rco_buf_adds(out, text);
        return 0;
    }
    if (rco_str_empty(file))
        return 0;
    if (rco_file_read(file, RCO_KUBE_PEM_MAX, out, err) < 0)
        return rco_error_wrap(err, "%s of the kubeconfig", what);
    if (!out->len)
        return rco_error_set(err, RCO_EINVALID, "%s of the kubeconfig: file %s is empty", what,
                             file);
    return 0;
}

static int load_token(struct rco_cli_http *h, struct rco_error *err)
{
    const struct rco_kube_config *c = h->config;
    rco_autobuf token = RCO_BUF_INIT;

    if (!rco_str_empty(c->token_file)) {
        if (rco_file_read(c->token_file, RCO_KUBE_TOKEN_MAX, &token, err) < 0)
            return rco_error_wrap(err, "tokenFile of the kubeconfig");
        while (token.len && strchr(" \r\n\t", token.data[token.len - 1]))
            token.data[--token.len] = '\0';
    } else if (!rco_str_empty(c->token)) {
        rco_buf_adds(&token, c->token);
    }
    rco_buf_clear(&h->authorization);
    if (token.len)
        rco_buf_addf(&h->authorization, "Authorization: Bearer %s", rco_buf_str(&token));
    return 0;
}

static int run_plugin(struct rco_cli_http *h, struct rco_error *err)
{
    struct rco_exec_credential got = {0};

    if (rco_kube_exec_run(h->config, h->environment, &got, err) < 0)
        return -1;
    rco_buf_clear(&h->authorization);
    if (got.token)
        rco_buf_addf(&h->authorization, "Authorization: Bearer %s", got.token);
    if (got.cert_pem && got.key_pem) {
        rco_buf_clear(&h->cert);
        rco_buf_clear(&h->key);
        rco_buf_adds(&h->cert, got.cert_pem);
        rco_buf_adds(&h->key, got.key_pem);
    }
    rco_exec_credential_release(&got);
    return 0;
}

static int load_credentials(struct rco_cli_http *h, struct rco_error *err)
{
    const struct rco_kube_config *c = h->config;

    if (load_pem(c->ca_pem, c->ca_file, "certificate-authority", &h->ca, err) < 0 ||
        load_pem(c->cert_pem, c->cert_file, "client-certificate", &h->cert, err) < 0 ||
        load_pem(c->key_pem, c->key_file, "client-key", &h->key, err) < 0 || load_token(h, err) < 0)
        return -1;
    return c->exec ? run_plugin(h, err) : 0;
}

/* With tls-server-name the URL carries that name, so that SNI and the check of the certificate use
 * it, and the connection still goes to the real address. */
static int set_server(struct rco_cli_http *h, struct rco_error *err)
{
    const struct rco_kube_config *c = h->config;
    CURLU *url = curl_url();
    char *host = NULL, *port = NULL, *text = NULL;
    int rc = 0;

    if (!url || curl_url_set(url, CURLUPART_URL, c->server, 0) != CURLUE_OK ||
        curl_url_get(url, CURLUPART_HOST, &host, 0) != CURLUE_OK ||
        curl_url_get(url, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT) != CURLUE_OK) {
        rc = rco_error_set(err, RCO_EINVALID, "%s: server \"%s\" is not a URL", c->source,
                           c->server);
    } else if (!rco_str_empty(c->tls_server_name)) {
        rco_autofree char *to = rco_asprintf("%s:%s:%s:%s", c->tls_server_name, port, host, port);

        h->connect_to = curl_slist_append(NULL, to);
        h->host_header = rco_asprintf("Host: %s:%s", host, port);
        if (curl_url_set(url, CURLUPART_HOST, c->tls_server_name, 0) != CURLUE_OK ||
            curl_url_get(url, CURLUPART_URL, &text, 0) != CURLUE_OK)
            rc = rco_error_set(err, RCO_EINVALID, "%s: tls-server-name \"%s\" is not a host name",
                               c->source, c->tls_server_name);
        else
            h->base = rco_strdup(text);
    } else {
        h->base = rco_strdup(c->server);
    }
    curl_free(host);
    curl_free(port);
    curl_free(text);
    curl_url_cleanup(url);
    for (size_t n = h->base ? strlen(h->base) : 0; n && h->base[n - 1] == '/'; n--)
        h->base[n - 1] = '\0';
    return rc;
}

struct rco_cli_http *rco_cli_http_new(const struct rco_kube_config *config,
                                      char *const *environment, struct rco_error *err)
{
    struct rco_cli_http *h = rco_calloc(1, sizeof(*h));

    h->config = config;
    h->environment = environment;
    curl_global_init(CURL_GLOBAL_DEFAULT);
    h->curl = curl_easy_init();
    if (!h->curl) {
        rco_error_set(err, RCO_EINTERNAL, "libcurl cannot be started");
    } else if (set_server(h, err) == 0 && load_credentials(h, err) == 0) {
        return h;
    }
    rco_cli_http_free(h);
    return NULL;
}

void rco_cli_http_free(struct rco_cli_http *h)
{
    if (!h)
        return;
    curl_easy_cleanup(h->curl);
    curl_slist_free_all(h->connect_to);
    rco_buf_release(&h->ca);
    rco_buf_release(&h->cert);
    rco_buf_release(&h->key);
    rco_buf_release(&h->authorization);
    free(h->base);
    free(h->host_header);
    free(h);
}

static size_t on_header(char *bytes, size_t size, size_t n, void *ctx)
{
    struct transfer *t = ctx;
    static const char name[] = "retry-after:";

    if (size * n > sizeof(name) && strncasecmp(bytes, name, sizeof(name) - 1) == 0) {
        int64_t s = strtoll(bytes + sizeof(name) - 1, NULL, 10);

        t->retry_after_ms = s > 0 && s < 3600 ? s * 1000 : 0;
    }
    return size * n;
}

static size_t on_body(char *bytes, size_t size, size_t n, void *ctx)
{
    struct transfer *t = ctx;
    long status = 0;
    int rc;

    curl_easy_getinfo(t->h->curl, CURLINFO_RESPONSE_CODE, &status);
    if (status < 200 || status > 299) {
        size_t room = RCO_CLI_ERROR_BODY_MAX - t->refusal.len;

        rco_buf_add(&t->refusal, bytes, size * n < room ? size * n : room);
        return size * n;
    }
    if (!t->stream)
        return rco_buf_add_capped(t->body, bytes, size * n, RCO_CLI_BODY_MAX, t->err) < 0
                   ? 0
                   : size * n;
    rc = t->stream->sink(t->stream->ctx, bytes, size * n, t->err);
    t->stopped = rc != 0;
    return rc ? 0 : size * n;
}

static int on_progress(void *ctx, curl_off_t dl_total, curl_off_t dl, curl_off_t ul_total,
                       curl_off_t ul)
{
    const struct rco_cli_stream *stream = ctx;

    (void)dl_total, (void)dl, (void)ul_total, (void)ul;
    stream->tick(stream->ctx);
    return 0;
}

static void set_blob(CURL *curl, CURLoption option, struct rco_buf *pem)
{
    struct curl_blob blob = {.data = pem->data, .len = pem->len, .flags = CURL_BLOB_NOCOPY};

    if (pem->len)
        curl_easy_setopt(curl, option, &blob);
}

static struct curl_slist *set_headers(struct rco_cli_http *h, const struct rco_cli_request *r)
{
    rco_autofree char *accept =
        rco_asprintf("Accept: %s", r->accept ? r->accept : "application/json");
    struct curl_slist *headers = curl_slist_append(NULL, accept);

    headers = curl_slist_append(headers, "User-Agent: kubectl-runtimecloud/" RCO_VERSION);
    headers = curl_slist_append(headers, "Expect:");
    if (r->body)
        headers = curl_slist_append(headers, "Content-Type: application/json");
    if (h->authorization.len)
        headers = curl_slist_append(headers, rco_buf_str(&h->authorization));
    if (h->host_header)
        headers = curl_slist_append(headers, h->host_header);
    return headers;
}

static void set_tls(struct rco_cli_http *h)
{
    set_blob(h->curl, CURLOPT_CAINFO_BLOB, &h->ca);
    set_blob(h->curl, CURLOPT_SSLCERT_BLOB, &h->cert);
    set_blob(h->curl, CURLOPT_SSLKEY_BLOB, &h->key);
    curl_easy_setopt(h->curl, CURLOPT_SSLCERTTYPE, "PEM");
    curl_easy_setopt(h->curl, CURLOPT_SSLKEYTYPE, "PEM");
    curl_easy_setopt(h->curl, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    if (h->config->insecure) {
        curl_easy_setopt(h->curl, CURLOPT_SSL_VERIFYPEER, 0L);
        curl_easy_setopt(h->curl, CURLOPT_SSL_VERIFYHOST, 0L);
    }
    if (h->connect_to)
        curl_easy_setopt(h->curl, CURLOPT_CONNECT_TO, h->connect_to);
    if (h->config->proxy_url)
        curl_easy_setopt(h->curl, CURLOPT_PROXY, h->config->proxy_url);
}

static void set_transfer(struct transfer *t, const struct rco_cli_request *r, const char *url,
                         struct curl_slist *headers)
{
    CURL *curl = t->h->curl;
    int64_t timeout = t->stream ? t->stream->timeout_ms : RCO_CLI_REQUEST_TIMEOUT_MS;

    curl_easy_reset(curl); /* keeps the connection */
    set_tls(t->h);
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "https,http");
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(curl, CURLOPT_ACCEPT_ENCODING, t->stream ? NULL : "");
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, (long)RCO_CLI_CONNECT_TIMEOUT_MS);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)timeout);
    curl_easy_setopt(curl, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, t->h->curl_error);
    curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(curl, CURLOPT_HEADERDATA, t);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, t);
    if (t->stream && t->stream->silence_s) {
        curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
        curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, (long)t->stream->silence_s);
    }
    if (t->stream && t->stream->tick) {
        curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
        curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, on_progress);
        curl_easy_setopt(curl, CURLOPT_XFERINFODATA, (void *)t->stream);
    }
    if (r->body) {
        curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)r->body_len);
        curl_easy_setopt(curl, CURLOPT_POSTFIELDS, r->body);
    }
    curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, r->method);
}

/* What a transfer that never got an answer means. */
static int explain_curl(const struct transfer *t, CURLcode code, const char *what,
                        struct rco_error *err)
{
    const struct rco_kube_config *c = t->h->config;
    const char *detail = *t->h->curl_error ? t->h->curl_error : curl_easy_strerror(code);

    switch (code) {
    case CURLE_OPERATION_TIMEDOUT:
        if (t->stream)
            return rco_error_set(err, t->stream->silence_s ? RCO_EUNAVAILABLE : RCO_ETIMEOUT,
                                 "%s: %s", what, detail);
        return rco_error_set(err, RCO_ETIMEOUT,
                             "%s: the API server %s (from %s) does not answer: %s", what, c->server,
                             c->source, detail);
    case CURLE_PEER_FAILED_VERIFICATION:
        return rco_error_set(
            err, RCO_EUNAVAILABLE,
            "%s: the certificate of %s is not one that certificate-authority of %s vouches for: %s",
            what, c->server, c->source, detail);
    case CURLE_SSL_CERTPROBLEM:
        return rco_error_set(err, RCO_EINVALID,
                             "%s: client-certificate or client-key of %s cannot be used: %s", what,
                             c->source, detail);
    case CURLE_SSL_CACERT_BADFILE:
        return rco_error_set(err, RCO_EINVALID,
                             "%s: certificate-authority of %s cannot be used: %s", what, c->source,
                             detail);
    default:
        return rco_error_set(err, RCO_EUNAVAILABLE,
                             "%s: the API server %s (from %s) cannot be reached: %s", what,
                             c->server, c->source, detail);
    }
}

/* One attempt. */
static int perform(struct transfer *t, const struct rco_cli_request *r, struct rco_error *err)
{
    rco_autofree char *url = rco_asprintf("%s%s", t->h->base, r->path);
    struct curl_slist *headers = set_headers(t->h, r);
    struct rco_http_response answer = {0};
    long status = 0;
    CURLcode code;

    *err = RCO_ERROR_INIT;
    t->err = err;
    t->retry_after_ms = 0;
    t->h->curl_error[0] = '\0';
    rco_buf_clear(&t->refusal);
    set_transfer(t, r, url, headers);
    code = curl_easy_perform(t->h->curl);
    curl_slist_free_all(headers);
    if (t->stopped)
        return err->code == RCO_OK ? 0 : -1;
    if (err->code != RCO_OK) /* the body was too large */
        return rco_error_wrap(err, "%s", r->what);
    if (code != CURLE_OK)
        return explain_curl(t, code, r->what, err);
    curl_easy_getinfo(t->h->curl, CURLINFO_RESPONSE_CODE, &status);
    answer.status = (int)status;
    answer.retry_after_ms = t->retry_after_ms;
    return rco_status_map(&answer, rco_buf_str(&t->refusal), t->refusal.len, r->what, err);
}

static void sleep_ms(int64_t ms)
{
    struct timespec ts = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

    nanosleep(&ts, NULL);
}

/* Whether the same request is worth another attempt now; waits as long as was asked. */
static bool wait_for_retry(struct rco_cli_http *h, const struct rco_cli_request *r, int attempt,
                           const struct rco_error *err)
{
    struct rco_error ignored = RCO_ERROR_INIT;
    int64_t ms = err->retry_after_ms ? err->retry_after_ms : 250 << attempt;

    if (attempt == 0 && err->http_status == 401 && h->config->exec)
        return run_plugin(h, &ignored) == 0;
    if (!rco_streq(r->method, "GET") || attempt + 1 >= RCO_CLI_ATTEMPTS ||
        ms > RCO_CLI_RETRY_MAX_MS)
        return false;
    if (err->http_status != 429 && err->http_status != 503)
        return false;
    sleep_ms(ms);
    return true;
}

int rco_cli_http_do(struct rco_cli_http *h, const struct rco_cli_request *request,
                    struct rco_buf *out, struct rco_error *err)
{
    size_t old_len = out->len;

    for (int attempt = 0;; attempt++) {
        struct transfer t = {.h = h, .body = out};
        int rc = perform(&t, request, err);

        rco_buf_release(&t.refusal);
        if (rc == 0)
            return 0;
        out->len = old_len;
        if (!wait_for_retry(h, request, attempt, err))
            return -1;
    }
}

int rco_cli_http_stream(struct rco_cli_http *h, const struct rco_cli_stream *stream,
                        struct rco_error *err)
{
    for (int attempt = 0;; attempt++) {
        struct transfer t = {.h = h, .stream = stream};
        int rc = perform(&t, &stream->request, err);

        rco_buf_release(&t.refusal);
        /* Only an answer that was refused as a whole may be asked for again: nothing was streamed.
         */
        if (rc == 0 || !err->http_status || !wait_for_retry(h, &stream->request, attempt, err))
            return rc;
    }
}
