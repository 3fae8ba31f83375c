/* SHA-256 and HMAC-SHA-256 (libcrypto), incremental and one-shot. */
#ifndef RCO_BASE_SHA256_H
#define RCO_BASE_SHA256_H

#include <stddef.h>

#define RCO_SHA256_LEN 32
#define RCO_SHA256_HEX 65 /* with NUL */

struct rco_sha256; /* incremental state */

/* Never NULL. */
struct rco_sha256 *rco_sha256_new(void);
/* Adds N bytes to the message. */
void rco_sha256_update(struct rco_sha256 *s, const void *bytes, size_t n);
/* Writes the digest and makes S ready for a new message. */
void rco_sha256_final(struct rco_sha256 *s, unsigned char out[RCO_SHA256_LEN]);
void rco_sha256_free(struct rco_sha256 *s);

/* The digest of one message. */
void rco_sha256_of(const void *bytes, size_t n, unsigned char out[RCO_SHA256_LEN]);
/* Lower-case hex with NUL. */
void rco_sha256_hex(const void *bytes, size_t n, char out[RCO_SHA256_HEX]);
void rco_hmac_sha256(const void *key, size_t key_len, const void *bytes, size_t n,
                     unsigned char out[RCO_SHA256_LEN]);
/* Base64 (RFC 4648, padded). rco_base64_encode returns a malloc'd string; the decoder returns a
 * malloc'd buffer with a NUL behind it, or NULL when S is not base64. */
char *rco_base64_encode(const void *bytes, size_t n);
unsigned char *rco_base64_decode(const char *s, size_t n, size_t *ret_len);

#endif
