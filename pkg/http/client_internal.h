/* Shared by client*.c only. */
#ifndef RCO_HTTP_CLIENT_INTERNAL_H
#define RCO_HTTP_CLIENT_INTERNAL_H

#include "base/buf.h"
#include "http/client.h"
#include "http/response_head.h"

#include <curl/curl.h>

#define LANE_COUNT 3

/* Trust and identity; shared by the calls that were set up with it, since curl borrows the texts.
 */
struct client_tls {
    int refs;
    char *ca, *cert, *key; /* PEM, each may be NULL */
};

/* One TCP connection of a lane, from OPENSOCKETFUNCTION to CLOSESOCKETFUNCTION. */
struct lane_conn {
    curl_socket_t fd;
    uint64_t id;
    rco_mono last_rx;
    struct lane_conn *next;
};

#define SPARE_MAX 4

/* One curl multi handle. */
struct lane {
    struct rco_http_client *client;
    enum rco_http_lane kind;
    CURLM *multi;
    struct client_tls *tls;  /* what the lane was made with */
    CURL *spares[SPARE_MAX]; /* easy handles that are set up, for the next calls */
    size_t n_spares;
    struct rco_timer *timer; /* curl's */
    struct rco_timer
        *pump; /* work that must not be done inside a callback of curl or of the caller */
    struct rco_timer *nudge;
    struct lane_conn *conns;
    struct rco_http_call *calls, *last; /* in the order of their start */
    size_t n_calls;
    size_t n_cancelled; /* calls given up from inside curl, to be dropped when it returns */
    bool in_curl;
    bool kick;  /* a transfer has left a shared connection: see kick() */
    bool http1; /* the server does not speak HTTP/2 */
    int width;  /* connections allowed; 0 = any number */
    bool retired;
    bool evict; /* retired for a new identity: watches must end */
    struct lane *next_retired;
};

struct rco_http_client {
    struct rco_transport transport;
    struct rco_loop *loop;
    struct lane *lanes[LANE_COUNT];
    struct lane *retired;
    struct client_tls *tls;
    char *origin;      /* "https://host:port", for messages */
    char *url;         /* every request's URL but for its path: "https://host:port" */
    char *prefix;      /* path before each request's path, "" = none */
    char *host_header; /* "Host: ..." when the URL names tls_server_name, else NULL */
    struct curl_slist *connect_to;
    char *user_agent, *proxy, *no_proxy;
    char *authorization_value; /* as last returned, and the header line made of it */
    char *authorization_line;
    bool plain, insecure;
    const char *(*authorization)(void *ctx);
    void *ctx;
    int64_t connect_ns, alive_ns;
    uint64_t conns_made, conns_shut;
};

struct rco_http_call {
    struct lane *lane;
    struct rco_http_call *prev, *next;
    struct rco_http_handler handler;
    CURL *easy; /* NULL before it was given to curl */
    struct curl_slist *headers;
    char *method, *path;
    struct rco_buf body; /* of the request */
    size_t max_body;
    int64_t silence_ns, deadline_ns; /* 0 = none */
    rco_mono last_byte;
    struct rco_timer *deadline;
    struct rco_timer *silence;
    uint64_t conn_id;       /* of the connection it uses; 0 = not known yet */
    int sends;              /* how often curl was about to put it on the wire */
    bool cancelled;         /* by the owner: no callback any more */
    bool finished;          /* `done` is being called */
    bool went_well;         /* curl has ended it without an error */
    struct rco_error fault; /* why we made curl give up; code RCO_OK = we did not */
    struct rco_response_head head;
    struct rco_buf answer;
    char curl_error[CURL_ERROR_SIZE];
};

/* One more, one fewer owner of TLS; the last frees it. */
struct client_tls *rco_client_tls_ref(struct client_tls *tls);
void rco_client_tls_unref(struct client_tls *tls);

/* client_lane.c */
struct lane *rco_lane_new(struct rco_http_client *client, enum rco_http_lane kind);
/* Drops its calls without callbacks. */
void rco_lane_free(struct lane *lane);
/* Takes CALL, which is not yet set up, for the next run of the pump. */
void rco_lane_add(struct lane *lane, struct rco_http_call *call);
/* Unlinks CALL; removes it from the multi handle. Not while curl runs. */
void rco_lane_remove(struct lane *lane, struct rco_http_call *call);
/* Has the pump run in this turn of the loop. */
void rco_lane_wake(struct lane *lane);
/* The connection whose local port is PORT, or NULL. */
struct lane_conn *rco_lane_conn_by_port(struct lane *lane, long port);
struct lane_conn *rco_lane_conn_by_id(struct lane *lane, uint64_t id);
curl_socket_t rco_lane_open_socket(void *call, curlsocktype purpose, struct curl_sockaddr *address);
int rco_lane_close_socket(void *lane, curl_socket_t fd);

/* client_call.c */
struct rco_http_call *rco_call_new(struct rco_http_client *client,
                                   const struct rco_http_request *request,
                                   const struct rco_http_handler *handler);
/* Sets the easy handle up and adds it to the lane's multi handle; -1 and `fault` set on failure. */
int rco_call_launch(struct rco_http_call *call);
/* Ends CALL with ERR (NULL = an answer came in full), tells the owner, frees it. */
void rco_call_finish(struct rco_http_call *call, const struct rco_error *err);
/* Ends CALL as curl said. */
void rco_call_complete(struct rco_http_call *call, CURLcode result);
/* Frees CALL without a callback. */
void rco_call_drop(struct rco_http_call *call);

/* client_easy.c */
/* An easy handle with all options that are the same for each call of LANE, perhaps a used one. */
CURL *rco_lane_take_easy(struct lane *lane);
/* Takes back what a call has used. REUSABLE: it ended well, so that nothing is left in it. */
void rco_lane_give_easy(struct lane *lane, CURL *easy, bool reusable);
/* The options of one transfer. */
int rco_call_set_options(struct rco_http_call *call, struct rco_error *err);
/* Forgets the credentials that are kept as a header line. */
void rco_client_forget_authorization(struct rco_http_client *client);
/* Callbacks of curl, in client_call.c. */
size_t rco_call_on_header(char *line, size_t size, size_t n, void *call);
size_t rco_call_on_data(char *bytes, size_t size, size_t n, void *call);
int rco_call_on_send(void *call, char *peer_ip, char *local_ip, int peer_port, int port);
/* client_error.c: what RESULT means for CALL. */
void rco_call_error(const struct rco_http_call *call, CURLcode result, struct rco_error *err);

#endif
