/* Any bytes as a watch stream: the events must not depend on how the bytes are cut. The first byte
 * is the length of the pieces. */
#include "json/stream.h"

#include <stdlib.h>
#include <string.h>

static int on_event(void *ctx, enum rco_watch_type type, const char *object, size_t n,
                    struct rco_error *err)
{
    rco_buf_addf(ctx, "%d:", type);
    rco_buf_add(ctx, object, n);
    rco_buf_addc(ctx, '\n');
    return 0;
}

/* Feeds pieces of STEP bytes; returns the result and what came out. */
static int run(const char *p, size_t n, size_t step, struct rco_buf *out)
{
    struct rco_error err = RCO_ERROR_INIT;
    const struct rco_watch_handler h = {.event = on_event, .ctx = out};
    struct rco_watch_parser *parser = rco_watch_parser_new(&h);
    int rc = 0;
    for (size_t at = 0; at < n && rc == 0; at += step) {
        size_t len = n - at < step ? n - at : step;
        char *piece = malloc(len);
        memcpy(piece, p + at, len);
        rc = rco_watch_parser_feed(parser, piece, len, &err);
        free(piece);
    }
    rco_watch_parser_free(parser);
    return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    rco_autobuf whole = RCO_BUF_INIT;
    rco_autobuf pieces = RCO_BUF_INIT;
    if (n < 2)
        return 0;
    int a = run((const char *)data + 1, n - 1, n, &whole);
    int b = run((const char *)data + 1, n - 1, data[0] ? data[0] : 1, &pieces);
    if (a != b || strcmp(rco_buf_str(&whole), rco_buf_str(&pieces)) != 0)
        abort();
    return 0;
}
