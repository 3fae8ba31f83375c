#include "http/tls.h"

#include "http/tls_internal.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <string.h>

static void free_certs(STACK_OF(X509) * *certs)
{
    sk_X509_pop_free(*certs, X509_free);
}

static void free_key(EVP_PKEY **key)
{
    EVP_PKEY_free(*key);
}

static void free_bio(BIO **bio)
{
    BIO_free(*bio);
}

static void free_ctx(SSL_CTX **ctx)
{
    SSL_CTX_free(*ctx);
}

int rco_tls_fail(struct rco_error *err, const char *what)
{
    unsigned long code = ERR_peek_error();
    const char *reason = code ? ERR_reason_error_string(code) : NULL;

    ERR_clear_error();
    return rco_error_set(err, RCO_EINVALID, "%s%s%s", what, reason ? ": " : "",
                         reason ? reason : "");
}

static int no_password(char *buf, int size, int rwflag, void *ctx)
{
    return -1;
}

static BIO *open_pem(const char *pem, const char *what, struct rco_error *err)
{
    size_t n = pem ? strlen(pem) : 0;

    if (n == 0 || n > RCO_TLS_PEM_MAX) {
        rco_error_set(err, n ? RCO_ETOOBIG : RCO_EINVALID, "%s is %s", what,
                      n ? "larger than 1 MiB" : "empty");
        return NULL;
    }
    return BIO_new_mem_buf(pem, (int)n);
}

STACK_OF(X509) * rco_tls_read_certs(const char *pem, struct rco_error *err)
{
    rco_cleanup(free_bio) BIO *bio = open_pem(pem, "certificate", err);
    STACK_OF(X509) * certs;
    X509 *cert;

    if (!bio)
        return NULL;
    certs = sk_X509_new_null();
    ERR_clear_error();
    while (sk_X509_num(certs) < RCO_TLS_CERTS_MAX &&
           (cert = PEM_read_bio_X509(bio, NULL, no_password, NULL)))
        sk_X509_push(certs, cert);
    /* The end of the text shows as "no start line"; anything else is a broken certificate. */
    if (sk_X509_num(certs) > 0 && ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE) {
        ERR_clear_error();
        return certs;
    }
    if (sk_X509_num(certs) >= RCO_TLS_CERTS_MAX)
        rco_error_set(err, RCO_ETOOBIG, "more than %d certificates in one text",
                      RCO_TLS_CERTS_MAX - 1);
    else
        rco_tls_fail(err, "no readable PEM certificate");
    free_certs(&certs);
    return NULL;
}

EVP_PKEY *rco_tls_read_key(const char *pem, struct rco_error *err)
{
    rco_cleanup(free_bio) BIO *bio = open_pem(pem, "private key", err);
    EVP_PKEY *key;

    if (!bio)
        return NULL;
    ERR_clear_error();
    key = PEM_read_bio_PrivateKey(bio, NULL, no_password, NULL);
    if (!key)
        rco_tls_fail(err, "no readable PEM private key (it must not be encrypted)");
    ERR_clear_error();
    return key;
}

int rco_tls_ctx_use(SSL_CTX *ctx, const char *cert_pem, const char *key_pem, struct rco_error *err)
{
    rco_cleanup(free_certs) STACK_OF(X509) *certs = rco_tls_read_certs(cert_pem, err);
    rco_cleanup(free_key) EVP_PKEY *key = certs ? rco_tls_read_key(key_pem, err) : NULL;
    X509 *leaf;
    int ok;

    if (!certs || !key)
        return -1;
    leaf = sk_X509_shift(certs);
    ERR_clear_error();
    /* Compared here because SSL_CTX_use_cert_and_key replaces a mismatched key without a word. */
    ok = X509_check_private_key(leaf, key) == 1;
    if (ok)
        ok = SSL_CTX_use_cert_and_key(ctx, leaf, key, certs, 1) == 1 &&
             SSL_CTX_check_private_key(ctx) == 1;
    X509_free(leaf);
    if (!ok)
        return rco_tls_fail(err, "certificate and private key cannot be used together");
    return 0;
}

int rco_tls_check_pair(const char *cert_pem, const char *key_pem, struct rco_error *err)
{
    rco_cleanup(free_ctx) SSL_CTX *scratch = SSL_CTX_new(TLS_server_method());

    if (!scratch)
        return rco_tls_fail(err, "make a TLS context");
    return rco_tls_ctx_use(scratch, cert_pem, key_pem, err);
}

int rco_tls_count(const char *bundle_pem, size_t *ret_n, struct rco_error *err)
{
    rco_cleanup(free_certs) STACK_OF(X509) *certs = rco_tls_read_certs(bundle_pem, err);

    if (!certs)
        return -1;
    *ret_n = (size_t)sk_X509_num(certs);
    return 0;
}

static int read_time(const ASN1_TIME *t, rco_wall *ret)
{
    struct tm tm;

    if (ASN1_TIME_to_tm(t, &tm) != 1)
        return -1;
    *ret = (rco_wall)timegm(&tm) * RCO_US_PER_S;
    return 0;
}

int rco_tls_validity(const char *cert_pem, rco_wall *ret_not_before, rco_wall *ret_not_after,
                     struct rco_error *err)
{
    rco_cleanup(free_certs) STACK_OF(X509) *certs = rco_tls_read_certs(cert_pem, err);
    rco_wall before, after;
    X509 *leaf;

    if (!certs)
        return -1;
    leaf = sk_X509_value(certs, 0);
    if (read_time(X509_get0_notBefore(leaf), &before) != 0 ||
        read_time(X509_get0_notAfter(leaf), &after) != 0)
        return rco_error_set(err, RCO_EINVALID, "certificate has an unreadable validity");
    if (ret_not_before)
        *ret_not_before = before;
    if (ret_not_after)
        *ret_not_after = after;
    return 0;
}

static bool is_ip(const char *name)
{
    unsigned char buf[16];

    return inet_pton(AF_INET, name, buf) == 1 || inet_pton(AF_INET6, name, buf) == 1;
}

bool rco_tls_covers(const char *cert_pem, const char *name)
{
    struct rco_error ignored = RCO_ERROR_INIT;
    rco_cleanup(free_certs) STACK_OF(X509) *certs = rco_tls_read_certs(cert_pem, &ignored);
    X509 *leaf;

    if (!certs)
        return false;
    leaf = sk_X509_value(certs, 0);
    return is_ip(name)
               ? X509_check_ip_asc(leaf, name, 0) == 1
               : X509_check_host(leaf, name, 0, X509_CHECK_FLAG_NEVER_CHECK_SUBJECT, NULL) == 1;
}

bool rco_tls_trusted(const char *cert_pem, const char *bundle_pem, rco_wall now)
{
    struct rco_error ignored = RCO_ERROR_INIT;
    rco_cleanup(free_certs) STACK_OF(X509) *chain = rco_tls_read_certs(cert_pem, &ignored);
    rco_cleanup(free_certs) STACK_OF(X509) *roots = rco_tls_read_certs(bundle_pem, &ignored);
    X509_STORE_CTX *ctx;
    bool ok;

    if (!chain || !roots)
        return false;
    ctx = X509_STORE_CTX_new();
    ok = X509_STORE_CTX_init(ctx, NULL, sk_X509_value(chain, 0), chain) == 1;
    if (ok) {
        X509_STORE_CTX_set0_trusted_stack(ctx, roots);
        X509_STORE_CTX_set_default(ctx, "ssl_server");
        X509_STORE_CTX_set_time(ctx, 0, (time_t)(now / RCO_US_PER_S));
        ok = X509_verify_cert(ctx) == 1;
    }
    X509_STORE_CTX_free(ctx);
    ERR_clear_error();
    return ok;
}
