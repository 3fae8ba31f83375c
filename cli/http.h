/* Blocking HTTP to the API server: one connection, the caller's credentials. */
#ifndef RCO_CLI_HTTP_H
#define RCO_CLI_HTTP_H

#include "base/buf.h"
#include "kube/config.h"

#include <stddef.h>
#include <stdint.h>

#define RCO_CLI_BODY_MAX (256 * 1024 * 1024) /* one answer: a page of 500 objects and more */
#define RCO_CLI_ERROR_BODY_MAX (64 * 1024)
#define RCO_CLI_CONNECT_TIMEOUT_MS 10000
#define RCO_CLI_REQUEST_TIMEOUT_MS 60000
#define RCO_CLI_ATTEMPTS 4 /* of a request that the server asks to repeat (429, 503) */
#define RCO_CLI_RETRY_MAX_MS 5000

struct rco_cli_http;

/* CONFIG is borrowed and must outlive the client; files it names are read now, a credential plugin
 * runs now (with ENVIRONMENT). Errors name file or field. */
struct rco_cli_http *rco_cli_http_new(const struct rco_kube_config *config,
                                      char *const *environment, struct rco_error *err);
void rco_cli_http_free(struct rco_cli_http *h);

struct rco_cli_request {
    const char *method; /* "GET", "POST" */
    const char *path;   /* absolute, escaped */
    const char *accept; /* NULL = application/json */
    const char *body;   /* JSON or NULL */
    size_t body_len;
    const char *what; /* what is being done, for messages: "list provisioningruns" */
};

/* Makes the request; GETs are repeated while the server asks for it. Appends the body of a 2xx
 * answer to OUT. Any other answer is an error as of rco_status_map; one that never came names the
 * server. */
RCO_MUST_CHECK int rco_cli_http_do(struct rco_cli_http *h, const struct rco_cli_request *request,
                                   struct rco_buf *out, struct rco_error *err);

/* Gets bytes as they come; return -1 with ERR set to stop, or RCO_CLI_STOP to stop without an
 * error. */
typedef int (*rco_cli_sink)(void *ctx, const char *bytes, size_t n, struct rco_error *err);
#define RCO_CLI_STOP 1

struct rco_cli_stream {
    struct rco_cli_request request;
    rco_cli_sink sink;
    void *ctx;
    int64_t timeout_ms; /* whole time; 0 = none. When it passes: RCO_ETIMEOUT */
    int64_t silence_s;  /* not a byte for so long ends it with RCO_EUNAVAILABLE; 0 = off */
    /* Called with CTX about once a second, also while nothing comes; may be NULL. It must not use
     * the client. */
    void (*tick)(void *ctx);
};

/* Streams the body of a 2xx answer to the sink until it ends, the sink stops it, or an error. */
RCO_MUST_CHECK int rco_cli_http_stream(struct rco_cli_http *h, const struct rco_cli_stream *stream,
                                       struct rco_error *err);

#endif
