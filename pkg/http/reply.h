/* Text of a response head. Private to pkg/http. */
#ifndef RCO_HTTP_REPLY_H
#define RCO_HTTP_REPLY_H

#include "base/buf.h"
#include "base/time.h"

#include <stdbool.h>

struct rco_reply {
    int status;
    const char *content_type; /* NULL = application/json */
    size_t body_len;
    int retry_after_s; /* 0 = none */
    bool close;        /* no further request on this connection */
    rco_wall now;
};

/* Appends status line and headers of R, with the empty line. A content type that could end the line
 * is replaced by application/octet-stream. */
void rco_reply_head(struct rco_buf *out, const struct rco_reply *r);

#endif
