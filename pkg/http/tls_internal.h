/* For the server's sockets: OpenSSL objects from PEM texts. Private to pkg/http. */
#ifndef RCO_HTTP_TLS_INTERNAL_H
#define RCO_HTTP_TLS_INTERNAL_H

#include "base/error.h"

#include <openssl/ssl.h>

/* Makes CTX use CERT_PEM (leaf first, then its chain) and KEY_PEM. On error CTX may hold half of
 * it: check the pair first when CTX is in use. */
RCO_MUST_CHECK int rco_tls_ctx_use(SSL_CTX *ctx, const char *cert_pem, const char *key_pem,
                                   struct rco_error *err);

/* RCO_EINVALID with WHAT and the first reason on OpenSSL's queue, which is emptied. Returns -1. */
int rco_tls_fail(struct rco_error *err, const char *what);

/* The certificates of PEM in order, as a stack the caller frees with sk_X509_pop_free; NULL on
 * error. */
STACK_OF(X509) * rco_tls_read_certs(const char *pem, struct rco_error *err);
EVP_PKEY *rco_tls_read_key(const char *pem, struct rco_error *err);

#endif
