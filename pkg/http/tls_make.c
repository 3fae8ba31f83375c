#include "http/tls.h"

#include "base/buf.h"
#include "base/str.h"
#include "http/tls_internal.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <string.h>

#define COMMON_NAME_MAX 64 /* ub-common-name of RFC 5280 */
#define SERIAL_BITS 127    /* positive and at most 20 bytes */

static void free_cert(X509 **cert)
{
    X509_free(*cert);
}

static void free_certs(STACK_OF(X509) * *certs)
{
    sk_X509_pop_free(*certs, X509_free);
}

static void free_key(EVP_PKEY **key)
{
    EVP_PKEY_free(*key);
}

static void free_names(GENERAL_NAMES **names)
{
    GENERAL_NAMES_free(*names);
}

static bool set_serial(X509 *cert)
{
    BIGNUM *n = BN_new();
    bool ok = BN_rand(n, SERIAL_BITS, BN_RAND_TOP_ONE, BN_RAND_BOTTOM_ANY) == 1 &&
              BN_to_ASN1_INTEGER(n, X509_get_serialNumber(cert)) != NULL;

    BN_free(n);
    return ok;
}

static bool set_time(ASN1_TIME *field, rco_wall t)
{
    return ASN1_TIME_set(field, (time_t)(t / RCO_US_PER_S)) != NULL;
}

static bool add_extension(X509 *cert, X509 *issuer, int nid, const char *value)
{
    X509V3_CTX ctx;
    X509_EXTENSION *ext;
    bool ok;

    X509V3_set_ctx(&ctx, issuer, cert, NULL, NULL, 0);
    ext = X509V3_EXT_conf_nid(NULL, &ctx, nid, value);
    ok = ext && X509_add_ext(cert, ext, -1) == 1;
    X509_EXTENSION_free(ext);
    return ok;
}

/* Subject, validity, serial number and public key; issuer and extensions are up to the caller. */
static X509 *start_cert(EVP_PKEY *key, const char *common_name, rco_wall not_before,
                        rco_wall not_after)
{
    X509 *cert = X509_new();

    if (X509_set_version(cert, X509_VERSION_3) == 1 && set_serial(cert) &&
        set_time(X509_getm_notBefore(cert), not_before) &&
        set_time(X509_getm_notAfter(cert), not_after) && X509_set_pubkey(cert, key) == 1 &&
        X509_NAME_add_entry_by_NID(X509_get_subject_name(cert), NID_commonName, MBSTRING_UTF8,
                                   (const unsigned char *)common_name, -1, -1, 0) == 1)
        return cert;
    X509_free(cert);
    return NULL;
}

static int check_options(const char *common_name, rco_wall not_before, rco_wall not_after,
                         struct rco_error *err)
{
    if (rco_str_empty(common_name) || strlen(common_name) > COMMON_NAME_MAX)
        return rco_error_set(err, RCO_EINVALID, "common name must have 1 to %d bytes",
                             COMMON_NAME_MAX);
    if (not_before >= not_after)
        return rco_error_set(err, RCO_EINVALID, "certificate would end before it begins");
    return 0;
}

static char *take_bio(BIO *bio)
{
    char *data;
    long n = BIO_get_mem_data(bio, &data);
    char *text = rco_strndup(data, (size_t)n);

    BIO_free(bio);
    return text;
}

static int write_pair(X509 *cert, EVP_PKEY *key, char **ret_cert_pem, char **ret_key_pem,
                      struct rco_error *err)
{
    BIO *cert_bio = BIO_new(BIO_s_mem());
    BIO *key_bio = BIO_new(BIO_s_secmem());

    if (PEM_write_bio_X509(cert_bio, cert) != 1 ||
        PEM_write_bio_PrivateKey(key_bio, key, NULL, NULL, 0, NULL, NULL) != 1) {
        BIO_free(cert_bio);
        BIO_free(key_bio);
        return rco_tls_fail(err, "write the certificate as PEM");
    }
    *ret_cert_pem = take_bio(cert_bio);
    *ret_key_pem = take_bio(key_bio);
    return 0;
}

int rco_tls_make_ca(const char *common_name, rco_wall not_before, rco_wall not_after,
                    char **ret_cert_pem, char **ret_key_pem, struct rco_error *err)
{
    rco_cleanup(free_key) EVP_PKEY *key = NULL;
    rco_cleanup(free_cert) X509 *cert = NULL;

    if (check_options(common_name, not_before, not_after, err) != 0)
        return -1;
    ERR_clear_error();
    key = EVP_EC_gen("P-256");
    cert = key ? start_cert(key, common_name, not_before, not_after) : NULL;
    if (!cert || X509_set_issuer_name(cert, X509_get_subject_name(cert)) != 1 ||
        !add_extension(cert, cert, NID_basic_constraints, "critical,CA:TRUE,pathlen:0") ||
        !add_extension(cert, cert, NID_key_usage, "critical,keyCertSign,cRLSign") ||
        !add_extension(cert, cert, NID_subject_key_identifier, "hash") ||
        X509_sign(cert, key, EVP_sha256()) == 0)
        return rco_tls_fail(err, "make a CA certificate");
    return write_pair(cert, key, ret_cert_pem, ret_key_pem, err);
}

static GENERAL_NAME *make_name(const char *text)
{
    GENERAL_NAME *name = GENERAL_NAME_new();
    ASN1_OCTET_STRING *ip = a2i_IPADDRESS(text);

    if (ip) {
        GENERAL_NAME_set0_value(name, GEN_IPADD, ip);
    } else {
        ASN1_IA5STRING *dns = ASN1_IA5STRING_new();

        ASN1_STRING_set(dns, text, -1);
        GENERAL_NAME_set0_value(name, GEN_DNS, dns);
    }
    ERR_clear_error();
    return name;
}

static bool is_dns_name(const char *text)
{
    return rco_is_dns_subdomain(rco_str_has_prefix(text, "*.") ? text + 2 : text);
}

static bool is_ip(const char *text)
{
    unsigned char buf[16];

    return inet_pton(AF_INET, text, buf) == 1 || inet_pton(AF_INET6, text, buf) == 1;
}

static int add_names(X509 *cert, const char *const *names, struct rco_error *err)
{
    rco_cleanup(free_names) GENERAL_NAMES *list = GENERAL_NAMES_new();
    size_t n = 0;

    for (; names && names[n]; n++) {
        if (n == RCO_TLS_NAMES_MAX)
            return rco_error_set(err, RCO_ETOOBIG, "more than %d names for one certificate",
                                 RCO_TLS_NAMES_MAX);
        if (!is_ip(names[n]) && !is_dns_name(names[n]))
            return rco_error_set(
                err, RCO_EINVALID,
                "certificate name \"%.100s\" is neither a DNS name nor an IP address", names[n]);
        sk_GENERAL_NAME_push(list, make_name(names[n]));
    }
    if (n == 0)
        return rco_error_set(err, RCO_EINVALID, "a serving certificate needs at least one name");
    if (X509_add1_ext_i2d(cert, NID_subject_alt_name, list, 0, X509V3_ADD_DEFAULT) != 1)
        return rco_tls_fail(err, "add names to the certificate");
    return 0;
}

int rco_tls_make_serving(const struct rco_tls_serving_options *o, char **ret_cert_pem,
                         char **ret_key_pem, struct rco_error *err)
{
    rco_cleanup(free_certs) STACK_OF(X509) *ca_certs = NULL;
    rco_cleanup(free_key) EVP_PKEY *ca_key = NULL;
    rco_cleanup(free_key) EVP_PKEY *key = NULL;
    rco_cleanup(free_cert) X509 *cert = NULL;
    X509 *ca;

    if (check_options(o->common_name, o->not_before, o->not_after, err) != 0)
        return -1;
    if (rco_tls_check_pair(o->ca_cert_pem, o->ca_key_pem, err) != 0)
        return rco_error_wrap(err, "use the CA");
    ca_certs = rco_tls_read_certs(o->ca_cert_pem, err);
    ca_key = ca_certs ? rco_tls_read_key(o->ca_key_pem, err) : NULL;
    if (!ca_key)
        return -1;
    ca = sk_X509_value(ca_certs, 0);
    ERR_clear_error();
    key = EVP_EC_gen("P-256");
    cert = key ? start_cert(key, o->common_name, o->not_before, o->not_after) : NULL;
    if (!cert)
        return rco_tls_fail(err, "make a serving certificate");
    if (add_names(cert, o->names, err) != 0)
        return -1;
    if (X509_set_issuer_name(cert, X509_get_subject_name(ca)) != 1 ||
        !add_extension(cert, ca, NID_basic_constraints, "critical,CA:FALSE") ||
        !add_extension(cert, ca, NID_key_usage, "critical,digitalSignature") ||
        !add_extension(cert, ca, NID_ext_key_usage, "serverAuth") ||
        !add_extension(cert, ca, NID_subject_key_identifier, "hash") ||
        !add_extension(cert, ca, NID_authority_key_identifier, "keyid:always") ||
        X509_sign(cert, ca_key, EVP_sha256()) == 0)
        return rco_tls_fail(err, "sign the serving certificate");
    return write_pair(cert, key, ret_cert_pem, ret_key_pem, err);
}
