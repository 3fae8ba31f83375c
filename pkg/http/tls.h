/* X.509 in memory, as PEM texts: making a private CA and serving certificates (EC P-256), checking
 * pairs, reading validity. Pure apart from OpenSSL's random source; times come in as parameters. */
#ifndef RCO_HTTP_TLS_H
#define RCO_HTTP_TLS_H

#include "base/error.h"
#include "base/time.h"

#include <stdbool.h>
#include <stddef.h>

#define RCO_TLS_PEM_MAX (1024 * 1024) /* bytes of a PEM text */
#define RCO_TLS_CERTS_MAX 1000        /* certificates in one bundle */
#define RCO_TLS_NAMES_MAX 100         /* names in one certificate */

/* A self-signed CA that can sign serving certificates and nothing else. The texts are malloc'd. */
RCO_MUST_CHECK int rco_tls_make_ca(const char *common_name, rco_wall not_before, rco_wall not_after,
                                   char **ret_cert_pem, char **ret_key_pem, struct rco_error *err);

struct rco_tls_serving_options {
    const char *ca_cert_pem;
    const char *ca_key_pem;
    const char *common_name;  /* at most 64 bytes */
    const char *const *names; /* NULL-terminated; IP literals become IP names, the rest DNS names */
    rco_wall not_before;
    rco_wall not_after;
};
/* A serving certificate signed by the CA. The text holds the leaf alone. malloc'd. */
RCO_MUST_CHECK int rco_tls_make_serving(const struct rco_tls_serving_options *options,
                                        char **ret_cert_pem, char **ret_key_pem,
                                        struct rco_error *err);

/* Whether KEY_PEM belongs to the first certificate of CERT_PEM and a TLS server would start with
 * them: tried in a scratch context. RCO_EINVALID says what is wrong. */
RCO_MUST_CHECK int rco_tls_check_pair(const char *cert_pem, const char *key_pem,
                                      struct rco_error *err);

/* Number of certificates in a bundle; text between them is allowed, a broken or missing one is not.
 */
RCO_MUST_CHECK int rco_tls_count(const char *bundle_pem, size_t *ret_n, struct rco_error *err);

/* Validity of the first certificate. Either pointer may be NULL. */
RCO_MUST_CHECK int rco_tls_validity(const char *cert_pem, rco_wall *ret_not_before,
                                    rco_wall *ret_not_after, struct rco_error *err);

/* Whether the first certificate of CERT_PEM is for NAME (DNS name or IP literal). Unreadable:
 * false. */
bool rco_tls_covers(const char *cert_pem, const char *name);

/* Whether a client that trusts BUNDLE_PEM accepts the first certificate of CERT_PEM at NOW. Further
 * certificates of CERT_PEM serve as intermediates. Unreadable: false. */
bool rco_tls_trusted(const char *cert_pem, const char *bundle_pem, rco_wall now);

#endif
