/* Credentials that change while we run: token files, client certificates, CA bundles, plugin
 * tokens. The transport asks for the Authorization value before each request; the client reports a
 * 401. */
#ifndef RCO_KUBE_CREDENTIALS_H
#define RCO_KUBE_CREDENTIALS_H

#include "base/error.h"
#include "kube/config.h"
#include "loop/loop.h"

#define RCO_TOKEN_REREAD_NS (50 * RCO_NS_PER_S) /* A51: at least once a minute with 10 s leeway */
#define RCO_CERT_CHECK_NS (300 * RCO_NS_PER_S)  /* A54, A55 */
#define RCO_UNAUTHORIZED_EXIT_NS (300 * RCO_NS_PER_S) /* A53 */

struct rco_credentials;

struct rco_credentials_handler {
    /* CA or client certificate files changed and are readable: build a new transport or give it the
     * new texts. Any argument is NULL when there is none; borrowed. */
    void (*tls_changed)(void *ctx, const char *ca_pem, const char *cert_pem, const char *key_pem);
    /* Every request since RCO_UNAUTHORIZED_EXIT_NS was answered 401: the account is gone for good
     * (A53). */
    void (*hopeless)(void *ctx);
    void *ctx;
};

/* Reads the files once; an unreadable or empty one is an error that names it. CONFIG is borrowed
 * and must outlive the credentials. HANDLER is copied; may be NULL. Checks run on LOOP. */
struct rco_credentials *rco_credentials_new(struct rco_loop *loop,
                                            const struct rco_kube_config *config,
                                            const struct rco_credentials_handler *handler,
                                            struct rco_error *err);
void rco_credentials_free(struct rco_credentials *c);

/* "Bearer ..." or NULL without a token; borrowed until the next call of any function here. Re-reads
 * the token file when its time has come; on a read error the old token stays in use. */
const char *rco_credentials_authorization(struct rco_credentials *c);
/* A request was answered 401: the token is forgotten, the next request reads it anew (A52). */
void rco_credentials_unauthorized(struct rco_credentials *c);
/* A request was accepted: ends the count of A53. */
void rco_credentials_accepted(struct rco_credentials *c);

/* Current texts, borrowed until the next tls_changed; NULL = none. */
const char *rco_credentials_ca(const struct rco_credentials *c);
const char *rco_credentials_cert(const struct rco_credentials *c);
const char *rco_credentials_key(const struct rco_credentials *c);

/* What a credential plugin gave; strings are owned, absent ones NULL. */
struct rco_exec_credential {
    char *token, *cert_pem, *key_pem;
    rco_wall expires; /* 0 = not said */
};
void rco_exec_credential_release(struct rco_exec_credential *e);

#define RCO_EXEC_OUTPUT_MAX (256 * 1024)
#define RCO_EXEC_TIMEOUT_NS (60 * RCO_NS_PER_S)

/* Runs the plugin of CONFIG and waits for it: for command line programs only, never on a loop that
 * carries anything else (A57). ENV is the environment it gets besides its own pairs. */
RCO_MUST_CHECK int rco_kube_exec_run(const struct rco_kube_config *config, char *const *env,
                                     struct rco_exec_credential *out, struct rco_error *err);

#endif
