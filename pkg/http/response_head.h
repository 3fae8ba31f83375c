/* Reads the header lines of an answer, as curl hands them over, into struct rco_http_response. */
#ifndef RCO_HTTP_RESPONSE_HEAD_H
#define RCO_HTTP_RESPONSE_HEAD_H

#include "http/transport.h"

#define RCO_WARNING_MAX 1024                 /* longer Warning values are cut */
#define RCO_RETRY_AFTER_MAX_S (24 * 60 * 60) /* longer waits count as this */

struct rco_response_head {
    struct rco_http_response response; /* `warning` points into this struct */
    size_t bytes;                      /* of all lines so far */
    bool complete;                     /* the final (not 1xx) header block has ended */
    bool has_warning;
    char warning[RCO_WARNING_MAX];
};

/* Takes one line with its line end. NOW turns a Retry-After date into a wait. Returns 1 when the
 * line ends the final header block, 0 otherwise. Lines after that (trailers) are ignored. A
 * Retry-After that asks for no wait is reported as 1 ms, so that its presence shows. */
int rco_response_head_line(struct rco_response_head *head, const char *line, size_t n,
                           rco_wall now);

#endif
