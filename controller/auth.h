/* Who calls the gateway: the pod behind a projected service account token, by TokenReview. Answers are
 * cached for a minute per token (as its SHA-256; the token itself is not kept). */
#ifndef RCO_CONTROLLER_AUTH_H
#define RCO_CONTROLLER_AUTH_H

#include "kube/client.h"
#include "loop/loop.h"

#define RCO_GATEWAY_AUDIENCE "runtime-cloud-gateway"
#define RCO_AUTH_CACHE_NS (60 * RCO_NS_PER_S)
#define RCO_AUTH_CACHE_MAX 4096
#define RCO_AUTH_TOKEN_MAX (16 * 1024)

struct rco_auth;

struct rco_identity {
    const char *ns, *service_account;
    const char *pod_name, *pod_uid;
};

/* WHO is NULL when the token was refused or could not be reviewed: STATUS is then 401 or 503 and MESSAGE
 * says why. */
typedef void (*rco_auth_done)(void *ctx, const struct rco_identity *who, int status,
                              const char *message);

struct rco_auth *rco_auth_new(struct rco_loop *loop, struct rco_kube_client *client);
void rco_auth_free(struct rco_auth *auth);
/* Reviews the value of an Authorization header (NULL allowed). DONE is called once, possibly at once. */
void rco_auth_check(struct rco_auth *auth, const char *authorization, rco_auth_done done,
                    void *ctx);

#endif
