/* List pages and watches: streaming requests whose objects come out one by one as JSON text. */
#ifndef RCO_KUBE_WATCH_H
#define RCO_KUBE_WATCH_H

#include "kube/client.h"
#include "json/stream.h"

#define RCO_LIST_PAGE 500           /* A20 */
#define RCO_WATCH_TIMEOUT_MIN_S 300 /* A6: uniform in [min, max] */
#define RCO_WATCH_TIMEOUT_MAX_S 600
#define RCO_WATCH_SILENCE_NS (150 * RCO_NS_PER_S) /* A35: 2.5 bookmark periods */
#define RCO_WATCH_GRACE_NS (10 * RCO_NS_PER_S)    /* A35: absolute bound = timeoutSeconds + this */

/* What is watched. Borrowed for the time of the call. */
struct rco_scope {
    enum rco_kind kind;
    const char *ns;             /* NULL = all */
    const char *label_selector; /* NULL = none */
    const char *field_selector; /* NULL = none */
};

struct rco_list_request {
    struct rco_scope scope;
    const char *resource_version;       /* NULL = unset: the most recent state (A1); never "0" */
    const char *resource_version_match; /* NULL, "Exact" or "NotOlderThan" */
    const char *continue_token;         /* NULL = first page */
    int limit;                          /* 0 = not paged */
};

struct rco_list_done {
    /* One item. Return -1 with ERR set to give up the whole request. */
    int (*item)(void *ctx, const char *json, size_t n, struct rco_error *err);
    /* Once. ERR NULL: RV and CONTINUE_TOKEN ("" = last page) are valid. */
    void (*done)(void *ctx, const char *rv, const char *continue_token,
                 const struct rco_error *err);
    void *ctx;
};

struct rco_watch_request {
    struct rco_scope scope;
    const char *resource_version; /* where to go on; NULL = unset (with send_initial_events) */
    bool send_initial_events;     /* streaming list (A23), with resourceVersionMatch=NotOlderThan */
    int timeout_s;                /* 0 = drawn from the loop's randomness */
};

struct rco_watch_done {
    /* The server accepted the watch. May be NULL. */
    void (*opened)(void *ctx);
    /* One event. ERROR events do not come here: they end the watch through DONE. Return -1 with ERR
     * set to end it. */
    int (*event)(void *ctx, enum rco_watch_type type, const char *object, size_t n,
                 struct rco_error *err);
    /* Once. ERR NULL: the stream ended cleanly (A15), was cut (A16) or fell silent (A35): go on
     * from the last resourceVersion. */
    void (*done)(void *ctx, const struct rco_error *err);
    void *ctx;
};

struct rco_stream_call;

/* Both copy what they are given and never call back from inside. */
struct rco_stream_call *rco_kube_list_page(struct rco_kube_client *c,
                                           const struct rco_list_request *request,
                                           const struct rco_list_done *handler);
struct rco_stream_call *rco_kube_watch(struct rco_kube_client *c,
                                       const struct rco_watch_request *request,
                                       const struct rco_watch_done *handler);
/* Gives up: no callback comes after this returns. NULL is allowed; allowed inside callbacks. */
void rco_stream_cancel(struct rco_stream_call *call);

#endif
