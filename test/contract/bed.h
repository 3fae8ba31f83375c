/* One API server under test: the simulator's or a real one. Cases (cases.h) are written against
 * this and know nothing else of it, so that both are asked the same questions. */
#ifndef RCO_CONTRACT_BED_H
#define RCO_CONTRACT_BED_H

#include "http/transport.h"
#include "loop/loop.h"
#include "tree.h"

#define BED_MS RCO_NS_PER_MS
#define BED_S RCO_NS_PER_S
#define BED_PATIENCE (20 * BED_S) /* what is waited for usually takes milliseconds */
#define BED_OPERATOR_NS "runtime-cloud"
#define BED_AUDIENCE "runtime-cloud-gateway"

/* Who asks: the administrator, or the operator with the rights of the chart and no more. */
enum bed_who { BED_ADMIN, BED_OPERATOR, BED_WHO_COUNT };

struct bed;
struct lie;
struct bed_ops {
    /* Lets time pass until UNTIL holds, at most LENGTH; false when it did not come to hold. */
    bool (*wait)(struct bed *b, int64_t length, bool (*until)(void *ctx), void *ctx);
    /* Pods can be made in namespace NS. */
    void (*admit_pods)(struct bed *b, const char *ns);
    /* The storage forgets all history, and tells nobody. */
    void (*compact)(struct bed *b);
    /* A token of pod POD for AUDIENCE, in the arena; NULL when there is none. */
    const char *(*pod_token)(struct bed *b, const char *ns, const char *pod, const char *audience);
    /* A page token behind the object NAME of the case's namespace, of the first version of all. */
    const char *(*old_token)(struct bed *b, const char *name);
    /* Pod POD is bound to a node. */
    void (*bind)(struct bed *b, const char *ns, const char *pod);
};

struct bed {
    const struct bed_ops *ops;
    const char *name; /* "sim" or "real" */
    struct rco_loop *loop;
    struct rco_transport *transports[BED_WHO_COUNT];
    struct rco_arena arena;
    const struct lie *lie; /* NULL, or what is falsified on the way (lies.h) */
    bool verbose;          /* print every request and answer */
    /* the case under way */
    const char *ns; /* a namespace of its own */
    unsigned failures;
};

/* One question. */
struct ask {
    enum bed_who who;
    const char *method, *path;
    const char *body;         /* JSON or NULL */
    size_t body_len;          /* 0 = length of body */
    const char *content_type; /* NULL = application/json, merge-patch for PATCH */
};

struct reply {
    int status; /* 0: no answer */
    const char *text;
    size_t n;
    const struct rco_value *json; /* NULL when it is not JSON */
    const char *warning;          /* of the first Warning header, or NULL */
    int64_t retry_after_ms;
    int64_t took; /* nanoseconds of the bed's time */
};

struct reply bed_ask(struct bed *b, const struct ask *q);
/* The same for the administrator; BODY may be NULL. */
struct reply bed_do(struct bed *b, const char *method, const char *path, const char *body);

/* A watch under way. */
struct stream;
struct event {
    const char *type;               /* "ADDED", ...; NULL: nothing came */
    const struct rco_value *object; /* of the event */
    const char *rv;                 /* its resourceVersion */
};
struct stream *bed_watch(struct bed *b, const char *path);
/* The next event; waits PATIENCE at most. */
struct event bed_next(struct stream *s, int64_t patience);
/* Whether the stream has ended, waiting PATIENCE at most; RET_CLEAN: by the server, in good order.
 */
bool bed_ended(struct stream *s, int64_t patience, bool *ret_clean);
/* HTTP status of the stream, waited for; 0: none. */
int bed_stream_status(struct stream *s);
void bed_close(struct stream *s);

/* Lets LENGTH pass. */
void bed_sleep(struct bed *b, int64_t length);
/* Text in the bed's arena. */
const char *bed_text(struct bed *b, const char *fmt, ...) RCO_PRINTF(2, 3);
/* Asks for PATH until FILTER holds of the answer or PATIENCE is over; returns the last answer. */
struct reply bed_poll(struct bed *b, const char *path, bool (*filter)(const struct reply *r));
/* The same until PATH is 404. */
bool bed_poll_gone(struct bed *b, const char *path);

/* The beds. NULL and a message on stderr when it cannot be had. */
struct bed *bed_sim_new(uint64_t seed);
void bed_sim_free(struct bed *b);
/* SERVER ("https://host:port") with the files of control-plane.sh's directory DIR. */
struct bed *bed_real_new(const char *dir);
void bed_real_free(struct bed *b);

#endif
