/* A request on its way, shared by the client's side (transport.c) and the server's (server.c,
 * watch.c). */
#ifndef RCO_SIM_TRANSPORT_H
#define RCO_SIM_TRANSPORT_H

#include "http/transport.h"
#include "sim.h"

enum sim_delivery_type { SIM_HEAD, SIM_DATA, SIM_DONE, SIM_FAIL };

/* Something that travels to the client; in order of a connection. */
struct sim_delivery {
    struct sim_delivery *next;
    rco_mono due;
    enum sim_delivery_type type;
    int status;
    int64_t retry_after_ms;
    const char *warning;
    const char *text;
    size_t n;
};

/* The server's side of a watch. */
struct sim_watch {
    bool open;
    bool deaf; /* the connection is dead and nobody knows */
    enum rco_kind kind;
    const char *ns, *labels, *fields;
    size_t position; /* of the first change in the history that was not sent */
    bool bookmarks;  /* asked for */
    int64_t shown;   /* revision up to which the client knows */
};

struct sim_call {
    struct sim_call *next;
    struct sim_link *link;
    const char *method, *path, *body, *content_type;
    size_t body_len;
    const char *warning; /* of the answer */
    int retry_after_s;   /* of the answer */
    struct rco_http_handler handler;
    bool streaming, election, over;
    bool dies_after; /* the operator dies when it has the answer */
    bool answer_lost;
    int number; /* of the counted write, 0 = none */
    int status; /* of the head that was delivered */
    struct rco_http_response response;
    struct rco_timer *pump, *deadline, *silence; /* of the replica's loop; NULL when over */
    int64_t silence_ns;
    struct sim_delivery *queue, **tail;
    rco_mono last_due;
    struct sim_watch watch;
};

struct sim_link {
    struct rco_transport transport; /* first */
    struct sim *sim;
    struct sim_link *next;
    int replica;
    struct rco_loop *loop;
    struct sim_call *calls; /* under way */
    bool mute;
};

/* Sends WHAT (copied) to the client; texts must live in the arena. */
void sim_call_push(struct sim_call *c, const struct sim_delivery *what);
/* A whole answer. */
void sim_call_answer(struct sim_call *c, int status, const char *body, size_t n);

/* The server has C (server.c). */
void sim_server_handle(struct sim_call *c);
/* Answers with the Status of a refusal. */
void sim_call_refuse(struct sim_call *c, const struct sim_answer *a);
/* The Status of a refusal as JSON, appended to OUT. */
void sim_status_write(const struct sim_answer *a, struct rco_buf *out);
/* Answers with a Status of HTTP STATUS and does nothing else. */
void sim_server_error(struct sim_call *c, int status);

/* --- request.c --- */

/* A request path taken apart. */
struct sim_target {
    enum rco_kind kind;
    const char *ns, *name, *subresource;
    bool group_is_known;
};
/* False: the path is of no kind that is simulated. */
bool sim_parse_path(struct rco_arena *a, const char *path, struct sim_target *t);
struct sim_query;
void sim_parse_query(struct rco_arena *a, const char *path, struct sim_query *q);

/* --- list.c --- */

void sim_list(struct sim_call *c, const struct sim_target *t, const struct sim_query *q);
/* Options of a list or watch that the API server refuses; code 0: none. */
struct sim_answer sim_check_query(struct sim *s, const struct sim_query *q);
/* 504: RV is of the future. */
struct sim_answer sim_too_large(struct sim *s, const char *rv);

/* --- watch.c --- */

struct sim_query {
    const char *resource_version, *match, *labels, *fields, *token;
    int64_t limit, timeout_s;
    bool watch, initial_events, bookmarks;
};

void sim_watch_open(struct sim_call *c, enum rco_kind kind, const char *ns,
                    const struct sim_query *q);
/* Sends what happened since. */
void sim_watch_flush(struct sim_call *c);
/* Ends all watches with 410 in the stream. */
void sim_watch_expire(struct sim *s);
/* The revision that a list from the watch cache of the front end shows. */
int64_t sim_front_revision(const struct sim *s);

#endif
