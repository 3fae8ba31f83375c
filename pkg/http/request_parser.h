/* The grammar of one request after another on a connection, on http-parser, without any I/O. Debian
 * builds that library in its lenient mode, so names, values, target and lengths are checked again
 * here. */
#ifndef RCO_HTTP_REQUEST_PARSER_H
#define RCO_HTTP_REQUEST_PARSER_H

#include "http/server.h"

#define RCO_SERVER_MAX_HEADERS 100 /* header fields of one request */

enum rco_parse_result {
    RCO_PARSE_MORE,     /* all bytes taken, the request is not complete */
    RCO_PARSE_COMPLETE, /* one request is complete; bytes behind it were not taken */
    RCO_PARSE_REFUSED   /* answer with rco_request_parser_refusal, then close */
};

struct rco_request_parser;

/* HANDLER is borrowed, for its max_body and known. */
struct rco_request_parser *rco_request_parser_new(const struct rco_server_handler *handler);
/* NULL is allowed. */
void rco_request_parser_free(struct rco_request_parser *p);
/* Ready for the next request: frees what the last one held. */
void rco_request_parser_next(struct rco_request_parser *p);
/* Frees the body of the complete request. */
void rco_request_parser_drop_body(struct rco_request_parser *p);
/* Takes up to N bytes; *RET_USED says how many. */
enum rco_parse_result rco_request_parser_feed(struct rco_request_parser *p, const char *bytes,
                                              size_t n, size_t *ret_used);
/* The complete request; borrowed until rco_request_parser_next. */
void rco_request_parser_get(const struct rco_request_parser *p, struct rco_server_request *ret);

/* The client allows another request on this connection. */
bool rco_request_parser_keep_alive(const struct rco_request_parser *p);
/* The answer must have no body. */
bool rco_request_parser_is_head(const struct rco_request_parser *p);
/* The headers are in and the client waits for 100 Continue before it sends the body; true once. */
bool rco_request_parser_take_expectation(struct rco_request_parser *p);
/* The headers are in, and the handler knows who sends this request. */
bool rco_request_parser_is_known(const struct rco_request_parser *p);
/* What to answer after RCO_PARSE_REFUSED; *RET_REASON is constant text. */
int rco_request_parser_refusal(const struct rco_request_parser *p, const char **ret_reason);

#endif
