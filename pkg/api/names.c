#include "api/names.h"

#include "base/sha256.h"

#include <assert.h>
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define UID_DIGITS_OF_RUN 12
#define UID_DIGITS_OF_SPEC 5
#define CLAIM_DIGITS 40

/* Asserts that the name was not cut: two causes would share it. */
static void fits(int n)
{
    assert(n > 0 && n < RCO_NAME_SIZE);
    (void)n;
}

/* The first N letters and digits of a uid. Uids are UUIDs, but Kubernetes calls them opaque:
 * another form is hashed. */
static void uid_digits(const char *uid, size_t n, char *out)
{
    size_t k = 0;
    for (const char *p = uid; *p && k < n; p++) {
        if (isdigit((unsigned char)*p) || (*p >= 'a' && *p <= 'f'))
            out[k++] = *p;
        else if (*p != '-')
            break;
    }
    if (k < n) {
        char hex[RCO_SHA256_HEX];
        rco_sha256_hex(uid, strlen(uid), hex);
        memcpy(out, hex, n);
    }
    out[n] = '\0';
}

static char letter(const char *word)
{
    return (char)tolower((unsigned char)word[0]);
}

void rco_name_run(const char *spec, const char *spec_uid, int64_t version, const char *kind,
                  int64_t n, char *out)
{
    char digits[UID_DIGITS_OF_SPEC + 1];
    uid_digits(spec_uid, UID_DIGITS_OF_SPEC, digits);
    fits(snprintf(out, RCO_NAME_SIZE, "%s-%s-v%" PRId64 "-%c%" PRId64, spec, digits, version,
                  letter(kind), n));
}

void rco_name_job(const char *run_uid, const char *phase, char *out)
{
    char digits[UID_DIGITS_OF_RUN + 1];
    uid_digits(run_uid, UID_DIGITS_OF_RUN, digits);
    fits(snprintf(out, RCO_NAME_SIZE, "rco-%s-%c", digits, letter(phase)));
}

void rco_name_anchor(const char *run_uid, char *out)
{
    char digits[UID_DIGITS_OF_RUN + 1];
    uid_digits(run_uid, UID_DIGITS_OF_RUN, digits);
    fits(snprintf(out, RCO_NAME_SIZE, "rco-%s", digits));
}

void rco_name_chunk(const char *run_uid, const char *phase, const char *kind, size_t index,
                    const char *digest, char *out)
{
    char digits[UID_DIGITS_OF_RUN + 1];
    uid_digits(run_uid, UID_DIGITS_OF_RUN, digits);
    fits(snprintf(out, RCO_NAME_SIZE, "rco-%s-%c%c%zu-%.10s", digits, letter(phase), letter(kind),
                  index, digest));
}

void rco_name_stack_claim(const char *backend, const char *project, const char *stack, char *out)
{
    struct rco_sha256 *sum = rco_sha256_new();
    unsigned char digest[RCO_SHA256_LEN];
    const char *const parts[] = {backend, "\n", project, "\n", stack};
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        rco_sha256_update(sum, parts[i], strlen(parts[i]));
    rco_sha256_final(sum, digest);
    rco_sha256_free(sum);
    int n = snprintf(out, RCO_NAME_SIZE, "rco-claim-");
    for (int i = 0; i < CLAIM_DIGITS / 2; i++)
        n += snprintf(out + n, RCO_NAME_SIZE - (size_t)n, "%02x", digest[i]);
    fits(n);
}

void rco_name_state_claim(const char *environment, char *out)
{
    fits(snprintf(out, RCO_NAME_SIZE, "rco-state-%s", environment));
}

void rco_name_passphrase(const char *environment, int k, char *out)
{
    fits(snprintf(out, RCO_NAME_SIZE, "rco-%s-pass-%d", environment, k));
}

void rco_name_hmac_key(const char *environment, int k, char *out)
{
    fits(snprintf(out, RCO_NAME_SIZE, "rco-%s-hmac-%d", environment, k));
}
