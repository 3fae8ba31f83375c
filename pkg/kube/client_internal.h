/* Shared by client.c and watch.c only. */
#ifndef RCO_KUBE_CLIENT_INTERNAL_H
#define RCO_KUBE_CLIENT_INTERNAL_H

#include "kube/client.h"

/* Borrowed, as given to rco_kube_client_new. */
struct rco_loop *rco_kube_client_loop(struct rco_kube_client *c);
struct rco_transport *rco_kube_client_transport(struct rco_kube_client *c);
/* "User-Agent: ..." header line. */
const char *rco_kube_client_agent(const struct rco_kube_client *c);
/* What every answer tells the owner: metrics, 401, accepted, Warning. STATUS 0 = transport fault.
 */
void rco_kube_client_observe(struct rco_kube_client *c, const char *method,
                             const struct rco_http_response *response, int64_t latency_ns);

/* OWNED is freed with CALL. */
void rco_kube_call_own(struct rco_kube_call *call, void *owned);

/* Streaming calls hang on a list of the client so that its end cancels them. */
struct rco_stream_link {
    struct rco_stream_link *prev, *next;
};
struct rco_stream_link *rco_kube_client_streams(struct rco_kube_client *c);
/* Frees the stream of LINK without a callback; in watch.c. */
void rco_stream_drop(struct rco_stream_link *link);

#endif
