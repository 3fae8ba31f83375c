/* For SHA256_Init and its kin: see rco_sha256_of. */
#define OPENSSL_SUPPRESS_DEPRECATED

#include "base/sha256.h"

#include "base/buf.h"
#include "base/str.h"

#include <limits.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>
#include <stdbool.h>
#include <string.h>

struct rco_sha256 {
    EVP_MD_CTX *ctx;
};

/* libcrypto fails here only without memory or without its own algorithms: nothing to go on with. */
static void must(int ok)
{
    if (ok != 1)
        abort();
}

struct rco_sha256 *rco_sha256_new(void)
{
    struct rco_sha256 *s = rco_malloc(sizeof *s);

    s->ctx = EVP_MD_CTX_new();
    must(s->ctx != NULL);
    must(EVP_DigestInit_ex(s->ctx, EVP_sha256(), NULL));
    return s;
}

void rco_sha256_update(struct rco_sha256 *s, const void *bytes, size_t n)
{
    must(EVP_DigestUpdate(s->ctx, bytes, n));
}

void rco_sha256_final(struct rco_sha256 *s, unsigned char out[RCO_SHA256_LEN])
{
    must(EVP_DigestFinal_ex(s->ctx, out, NULL));
    must(EVP_DigestInit_ex(s->ctx, EVP_sha256(), NULL));
}

void rco_sha256_free(struct rco_sha256 *s)
{
    if (!s)
        return;
    EVP_MD_CTX_free(s->ctx);
    free(s);
}

/* Without EVP, which looks the algorithm up and allocates anew each time: that costs more than the
 * digest of a short text, and each decision makes two. */
void rco_sha256_of(const void *bytes, size_t n, unsigned char out[RCO_SHA256_LEN])
{
    SHA256_CTX ctx;

    must(SHA256_Init(&ctx));
    must(SHA256_Update(&ctx, bytes, n));
    must(SHA256_Final(out, &ctx));
}

void rco_sha256_hex(const void *bytes, size_t n, char out[RCO_SHA256_HEX])
{
    unsigned char digest[RCO_SHA256_LEN];

    rco_sha256_of(bytes, n, digest);
    rco_hex_encode(digest, sizeof digest, out);
}

void rco_hmac_sha256(const void *key, size_t key_len, const void *bytes, size_t n,
                     unsigned char out[RCO_SHA256_LEN])
{
    unsigned int len = RCO_SHA256_LEN;

    must(key_len <= INT_MAX);
    must(HMAC(EVP_sha256(), key, (int)key_len, bytes, n, out, &len) != NULL);
}

char *rco_base64_encode(const void *bytes, size_t n)
{
    char *out;

    must(n < INT_MAX / 2);
    out = rco_malloc(4 * ((n + 2) / 3) + 1);
    out[0] = '\0';
    EVP_EncodeBlock((unsigned char *)out, bytes, (int)n);
    return out;
}

static bool is_base64(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' ||
           c == '/' || c == '=';
}

unsigned char *rco_base64_decode(const char *s, size_t n, size_t *ret_len)
{
    unsigned char *out;
    size_t padding = 0;
    int len;

    if (n % 4 != 0 || n > INT_MAX / 2)
        return NULL;
    for (size_t i = 0; i < n; i++)
        if (!is_base64(s[i]))
            return NULL;
    while (padding < 2 && padding < n && s[n - 1 - padding] == '=')
        padding++;
    if (memchr(s, '=', n - padding))
        return NULL;
    out = rco_malloc(n / 4 * 3 + 1);
    len = n ? EVP_DecodeBlock(out, (const unsigned char *)s, (int)n) : 0;
    if (len < 0) {
        free(out);
        return NULL;
    }
    *ret_len = (size_t)len - padding;
    out[*ret_len] = '\0';
    return out;
}
