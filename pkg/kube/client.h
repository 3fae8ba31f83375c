/* Asynchronous Kubernetes client over a rco_transport: one request object, one completion. It holds
 * the adaptive in-flight limit, honours Retry-After, never repeats a write whose outcome is unknown
 * (A41) and replays nothing but reads after 401. Watches and list pages are in watch.h. */
#ifndef RCO_KUBE_CLIENT_H
#define RCO_KUBE_CLIENT_H

#include "api/kinds.h"
#include "base/arena.h"
#include "http/transport.h"
#include "loop/loop.h"

#include <stdbool.h>
#include <stddef.h>

#define RCO_FIELD_MANAGER "runtime-cloud"
#define RCO_KUBE_ANSWER_MAX (4 * 1024 * 1024) /* bytes of one answer */
#define RCO_KUBE_QUEUE_MAX 20000 /* requests waiting for a slot; beyond: RCO_ETHROTTLED */
#define RCO_KUBE_DEADLINE_NS                                                                       \
    (30 * RCO_NS_PER_S) /* default of a request, retries included (A44)                            \
                         */
#define RCO_KUBE_LIST_DEADLINE_NS (120 * RCO_NS_PER_S)
#define RCO_KUBE_ATTEMPTS_MAX 10 /* A39 */

struct rco_kube_client;
struct rco_kube_call; /* one request, waiting or under way */

struct rco_kube_client_options {
    const char *user_agent; /* NULL = "runtime-cloud" */
    /* Told of each 401 and of each accepted request; may be NULL (credentials.h). */
    void (*unauthorized)(void *ctx);
    void (*accepted)(void *ctx);
    /* One call per attempt that got an answer or a transport fault (status 0), for metrics; may be
     * NULL. */
    void (*observed)(void *ctx, const char *method, int status, int64_t latency_ns);
    /* Each distinct Warning header text once (A49); may be NULL. */
    void (*warning)(void *ctx, const char *text);
    void *ctx;
};

/* LOOP, TRANSPORT and the strings are borrowed; OPTIONS may be NULL. */
struct rco_kube_client *rco_kube_client_new(struct rco_loop *loop, struct rco_transport *transport,
                                            const struct rco_kube_client_options *options);
/* Cancels everything that is under way; no callback comes. */
void rco_kube_client_free(struct rco_kube_client *c);
/* Uses TRANSPORT for all further requests (after a change of CA or certificate). The old one must
 * live until its calls are over, see rco_kube_client_in_flight. */
void rco_kube_client_set_transport(struct rco_kube_client *c, struct rco_transport *transport);
size_t rco_kube_client_in_flight(const struct rco_kube_client *c);
size_t rco_kube_client_queued(const struct rco_kube_client *c);
/* Current width of the adaptive limit. */
unsigned rco_kube_client_limit(const struct rco_kube_client *c);

enum rco_kube_verb {
    RCO_KUBE_GET,
    RCO_KUBE_CREATE,
    RCO_KUBE_PATCH,  /* application/merge-patch+json */
    RCO_KUBE_DELETE, /* propagationPolicy Background; uid and resource_version are preconditions */
    RCO_KUBE_RAW_GET,
    RCO_KUBE_RAW_POST /* to PATH, JSON body */
};

struct rco_kube_request {
    enum rco_kube_verb verb;
    enum rco_kind kind;
    const char *ns;          /* NULL or "" = cluster scope */
    const char *name;        /* not for CREATE */
    const char *subresource; /* "status" or NULL */
    const char *path;        /* RAW only */
    const char *body;
    size_t body_len;
    const char *uid;              /* DELETE precondition; NULL = none */
    const char *resource_version; /* DELETE precondition; NULL = none */
    enum rco_http_lane lane;      /* RCO_LANE_ELECTION is exempt from the limit and never retried */
    int64_t deadline_ns; /* total, waiting and retries included; 0 = RCO_KUBE_DEADLINE_NS */
};

/* Borrowed for the time of the callback. */
struct rco_kube_result {
    int http_status;
    const char *body; /* NUL-terminated, never NULL */
    size_t body_len;
    /* Of the object in the answer; "" when there is none (a Status). */
    const char *name, *ns, *uid, *resource_version;
    bool deleting; /* the object has a deletionTimestamp */
    rco_wall date; /* Date header, 0 = absent */
};

/* Exactly once, never from inside rco_kube_start. The call is over: its handle is dead. The client
 * must not be freed from here. ERR is NULL for 2xx. On an error RESULT may carry the server's
 * answer (http_status 0 = none). */
typedef void (*rco_kube_done)(void *ctx, const struct rco_kube_result *result,
                              const struct rco_error *err);

/* Starts REQUEST (copied). A bad request (no name, ...) is reported through DONE too. */
struct rco_kube_call *rco_kube_start(struct rco_kube_client *c,
                                     const struct rco_kube_request *request, rco_kube_done done,
                                     void *ctx);
/* Gives up: DONE is not called. NULL is allowed. */
void rco_kube_cancel(struct rco_kube_call *call);

/* Decodes the object of RESULT as KIND into A. */
RCO_MUST_CHECK int rco_kube_result_decode(const struct rco_kube_result *result, enum rco_kind kind,
                                          struct rco_arena *a, void **ret_obj,
                                          struct rco_error *err);

/* GET /version. DONE gets major and minor as numbers ("30+" counts as 30). */
typedef void (*rco_kube_version_done)(void *ctx, int major, int minor, const char *git_version,
                                      const struct rco_error *err);
struct rco_kube_call *rco_kube_version(struct rco_kube_client *c, rco_kube_version_done done,
                                       void *ctx);
#define RCO_KUBE_MIN_MINOR 30 /* 1.30 */

/* Whether the CustomResourceDefinition of KIND exists and is served in our version; ERR says which
 * is missing and how to install it. */
struct rco_kube_call *rco_kube_check_crd(struct rco_kube_client *c, enum rco_kind kind,
                                         rco_kube_done done, void *ctx);

#endif
