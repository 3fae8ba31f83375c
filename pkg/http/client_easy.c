#include "http/client_internal.h"

#include "base/str.h"

#include <string.h>
#include <strings.h>

#define SET(OPTION, VALUE) curl_easy_setopt(easy, (OPTION), (VALUE))

static struct curl_slist *append(struct curl_slist *list, const char *line)
{
    struct curl_slist *longer = curl_slist_append(list, line);

    if (!longer)
        abort();
    return longer;
}

static void forget(char **text)
{
    if (*text)
        explicit_bzero(*text, strlen(*text));
    free(*text);
    *text = NULL;
}

void rco_client_forget_authorization(struct rco_http_client *client)
{
    forget(&client->authorization_value);
    forget(&client->authorization_line);
}

/* The value goes into a header line: no line ends, no other control characters. */
static int check_value(const char *value, struct rco_error *err)
{
    for (const unsigned char *p = (const unsigned char *)value; *p; p++) {
        if (*p < ' ' || *p == 0x7f)
            return rco_error_set(
                err, RCO_EINVALID,
                "the credentials contain a control character; is there a line end in "
                "the token?");
    }
    return 0;
}

/* A token has a thousand bytes and lives for an hour: it is looked at once. */
static int add_authorization(struct rco_http_call *call, struct rco_error *err)
{
    struct rco_http_client *client = call->lane->client;
    const char *value = client->authorization ? client->authorization(client->ctx) : NULL;

    if (!value)
        return 0;
    if (!rco_streq(value, client->authorization_value)) {
        rco_client_forget_authorization(client);
        if (check_value(value, err) != 0)
            return -1;
        client->authorization_value = rco_strdup(value);
        client->authorization_line = rco_asprintf("Authorization: %s", value);
    }
    call->headers = append(call->headers, client->authorization_line);
    return 0;
}

static bool has_header(const struct rco_http_call *call, const char *name)
{
    size_t n = strlen(name);

    for (const struct curl_slist *h = call->headers; h; h = h->next) {
        if (strncasecmp(h->data, name, n) == 0 && h->data[n] == ':')
            return true;
    }
    return false;
}

static void set_method(struct rco_http_call *call)
{
    bool wants_body = call->body.len > 0 || rco_streq(call->method, "POST") ||
                      rco_streq(call->method, "PUT") || rco_streq(call->method, "PATCH");
    CURL *easy = call->easy;

    if (rco_streq(call->method, "HEAD")) {
        SET(CURLOPT_NOBODY, 1L);
        return;
    }
    if (wants_body) {
        /* Curl borrows the text; the call owns it longer than the handle lives. */
        SET(CURLOPT_POSTFIELDS, rco_buf_str(&call->body));
        SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)call->body.len);
        if (!has_header(call, "Content-Type"))
            call->headers = append(call->headers, "Content-Type:");
        /* Curl would ask for 100-continue with bodies over 1 MiB and wait. */
        call->headers = append(call->headers, "Expect:");
    } else {
        SET(CURLOPT_HTTPGET, 1L);
    }
    SET(CURLOPT_CUSTOMREQUEST, call->method);
}

static void set_blob(CURL *easy, CURLoption option, char *text)
{
    struct curl_blob blob = {.data = text, .len = strlen(text), .flags = CURL_BLOB_NOCOPY};

    SET(option, &blob);
}

/* Borrows the texts of the lane, which outlives its handles. */
static void set_tls(CURL *easy, const struct lane *lane)
{
    const struct client_tls *tls = lane->tls;

    SET(CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    SET(CURLOPT_SSL_VERIFYPEER, lane->client->insecure ? 0L : 1L);
    SET(CURLOPT_SSL_VERIFYHOST, lane->client->insecure ? 0L : 2L);
    /* A new connection always verifies the server anew. */
    SET(CURLOPT_SSL_SESSIONID_CACHE, 0L);
    /* Without the cache a changed bundle counts from the next connection on. */
    SET(CURLOPT_CA_CACHE_TIMEOUT, 0L);
    if (tls->ca) {
        set_blob(easy, CURLOPT_CAINFO_BLOB, tls->ca);
        /* Debian compiles a directory in that would be trusted besides the bundle. */
        SET(CURLOPT_CAPATH, NULL);
        SET(CURLOPT_CAINFO, NULL);
    }
    if (tls->cert) {
        set_blob(easy, CURLOPT_SSLCERT_BLOB, tls->cert);
        set_blob(easy, CURLOPT_SSLKEY_BLOB, tls->key);
        SET(CURLOPT_SSLCERTTYPE, "PEM");
        SET(CURLOPT_SSLKEYTYPE, "PEM");
    }
}

static void set_connection(CURL *easy, struct lane *lane)
{
    struct rco_http_client *client = lane->client;
    enum rco_http_lane kind = lane->kind;

    SET(CURLOPT_NOSIGNAL, 1L);
    SET(CURLOPT_PROTOCOLS_STR, "http,https");
    SET(CURLOPT_FOLLOWLOCATION, 0L);
    SET(CURLOPT_CONNECTTIMEOUT_MS, (long)(client->connect_ns / RCO_NS_PER_MS));
    /* A cancelled call must not wait for its name look-up: that would stop the whole loop. */
    SET(CURLOPT_QUICK_EXIT, 1L);
    /* Set even when empty: curl reads the environment otherwise. */
    SET(CURLOPT_PROXY, client->proxy);
    SET(CURLOPT_NOPROXY, client->no_proxy);
    SET(CURLOPT_HEADEROPT, (long)CURLHEADER_SEPARATE);
    SET(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    if (client->connect_to)
        SET(CURLOPT_CONNECT_TO, client->connect_to);
    SET(CURLOPT_HTTP_VERSION, kind == RCO_LANE_REQUEST && !client->plain
                                  ? (long)CURL_HTTP_VERSION_2TLS
                                  : (long)CURL_HTTP_VERSION_1_1);
    if (kind == RCO_LANE_REQUEST)
        SET(CURLOPT_PIPEWAIT, 1L);
    if (kind == RCO_LANE_WATCH)
        SET(CURLOPT_FORBID_REUSE, 1L);
    SET(CURLOPT_OPENSOCKETFUNCTION, rco_lane_open_socket);
    SET(CURLOPT_CLOSESOCKETFUNCTION, rco_lane_close_socket);
    SET(CURLOPT_CLOSESOCKETDATA, lane);
}

static CURL *new_easy(struct lane *lane)
{
    struct rco_http_client *client = lane->client;
    CURL *easy = curl_easy_init();

    if (!easy)
        abort();
    SET(CURLOPT_URL, client->url);
    SET(CURLOPT_PATH_AS_IS, 1L);
    SET(CURLOPT_USERAGENT, client->user_agent);
    SET(CURLOPT_HEADERFUNCTION, rco_call_on_header);
    SET(CURLOPT_WRITEFUNCTION, rco_call_on_data);
    SET(CURLOPT_PREREQFUNCTION, rco_call_on_send);
    set_connection(easy, lane);
    if (!client->plain)
        set_tls(easy, lane);
    return easy;
}

CURL *rco_lane_take_easy(struct lane *lane)
{
    return lane->n_spares > 0 ? lane->spares[--lane->n_spares] : new_easy(lane);
}

/* What belongs to the call goes, so that nothing points to it. */
static void clear_easy(CURL *easy)
{
    SET(CURLOPT_HTTPHEADER, NULL);
    SET(CURLOPT_POSTFIELDS, NULL);
    SET(CURLOPT_HTTPGET, 1L);
    SET(CURLOPT_CUSTOMREQUEST, NULL);
    SET(CURLOPT_REQUEST_TARGET, NULL);
    SET(CURLOPT_ERRORBUFFER, NULL);
    SET(CURLOPT_HEADERDATA, NULL);
    SET(CURLOPT_WRITEDATA, NULL);
    SET(CURLOPT_PREREQDATA, NULL);
    SET(CURLOPT_OPENSOCKETDATA, NULL);
    SET(CURLOPT_PRIVATE, NULL);
}

void rco_lane_give_easy(struct lane *lane, CURL *easy, bool reusable)
{
    if (!reusable || lane->retired || lane->kind == RCO_LANE_WATCH || lane->n_spares == SPARE_MAX) {
        curl_easy_cleanup(easy);
        return;
    }
    clear_easy(easy);
    lane->spares[lane->n_spares++] = easy;
}

/* Curl takes a URL apart and puts it together again byte by byte, so what differs from call to call
 * is kept out of it. A proxy for plain http:// wants all of it. */
static void set_target(struct rco_http_call *call)
{
    struct rco_http_client *client = call->lane->client;
    rco_autofree char *text =
        rco_asprintf("%s%s%s", client->plain ? client->url : "", client->prefix, call->path);
    CURL *easy = call->easy;

    SET(client->plain ? CURLOPT_URL : CURLOPT_REQUEST_TARGET, text);
}

int rco_call_set_options(struct rco_http_call *call, struct rco_error *err)
{
    struct rco_http_client *client = call->lane->client;
    CURL *easy = call->easy;

    SET(CURLOPT_PRIVATE, call);
    SET(CURLOPT_HEADERDATA, call);
    SET(CURLOPT_WRITEDATA, call);
    SET(CURLOPT_PREREQDATA, call);
    SET(CURLOPT_OPENSOCKETDATA, call);
    SET(CURLOPT_ERRORBUFFER, call->curl_error);
    set_target(call);
    if (client->host_header)
        call->headers = append(call->headers, client->host_header);
    set_method(call);
    if (add_authorization(call, err) != 0)
        return -1;
    SET(CURLOPT_HTTPHEADER, call->headers);
    return 0;
}
