/* The gateway's serving certificate: a Secret of the operator's own namespace, made by the operator
 * once (CA and certificate), or by somebody else such as cert-manager (then there is no ca.key and
 * we only read). Read again every ten minutes, renewed by the leader when a third of its life is
 * left. */
#ifndef RCO_CONTROLLER_SERVING_H
#define RCO_CONTROLLER_SERVING_H

#include "kube/client.h"
#include "loop/loop.h"

#define RCO_SERVING_CHECK_NS (600 * RCO_NS_PER_S)
#define RCO_SERVING_RETRY_NS (5 * RCO_NS_PER_S)
#define RCO_SERVING_CERT_DAYS 365
#define RCO_SERVING_CA_DAYS 3650

struct rco_serving;

struct rco_serving_options {
    struct rco_loop *loop;
    struct rco_kube_client *client;
    const char *ns, *secret;
    const char *host; /* DNS name in the gateway URL */
    /* Whether this replica may renew (leader). */
    bool (*may_renew)(void *ctx);
    /* A pair to serve with and the CA bundle for runners; called at first and on each change. Texts
     * are borrowed during the call. */
    void (*changed)(void *ctx, const char *cert_pem, const char *key_pem, const char *ca_pem);
    void *ctx;
};

/* Starts at once. Everything in OPTIONS is borrowed. */
struct rco_serving *rco_serving_new(const struct rco_serving_options *options);
void rco_serving_free(struct rco_serving *s);

#endif
