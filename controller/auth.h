/* Who calls the gateway: the pod behind a projected service account token, by TokenReview. Answers
 * are cached for a minute per token (as its SHA-256; the token itself is not kept). */
#ifndef RCO_CONTROLLER_AUTH_H
#define RCO_CONTROLLER_AUTH_H

#include "kube/client.h"
#include "loop/loop.h"

#define RCO_GATEWAY_AUDIENCE "runtime-cloud-gateway"
#define RCO_AUTH_CACHE_NS (60 * RCO_NS_PER_S)
#define RCO_AUTH_CACHE_MAX 4096
#define RCO_AUTH_TOKEN_MAX (8 * 1024)
/* Reviews at the API server at once: whoever floods the gateway with tokens must not take the
 * operator's own requests their turn. Beyond what may wait: 503. */
#define RCO_AUTH_REVIEWS_MAX 8
#define RCO_AUTH_WAITING_MAX 256
/* Requests of one token: so many at once, then one every so often. Beyond: 429. */
#define RCO_AUTH_BURST 200
#define RCO_AUTH_PACE_NS (20 * RCO_NS_PER_MS)

struct rco_auth;

struct rco_identity {
    const char *ns, *service_account;
    const char *pod_name, *pod_uid;
};

/* WHO is NULL when the token was refused, could not be reviewed or asks too often: STATUS is then
 * 401, 503 or 429 and MESSAGE says why. */
typedef void (*rco_auth_done)(void *ctx, const struct rco_identity *who, int status,
                              const char *message);

/* LOOP and CLIENT are borrowed. Freeing cancels what is under way, without a call of DONE. */
struct rco_auth *rco_auth_new(struct rco_loop *loop, struct rco_kube_client *client);
void rco_auth_free(struct rco_auth *auth);
/* Whose token the value of an Authorization header (NULL allowed) is, if it was reviewed within the
 * last minute; else NULL. Borrowed until the next call. */
const struct rco_identity *rco_auth_known(struct rco_auth *auth, const char *authorization);
/* Reviews the value of an Authorization header (NULL allowed). DONE is called once, possibly at
 * once. */
void rco_auth_check(struct rco_auth *auth, const char *authorization, rco_auth_done done,
                    void *ctx);

#endif
