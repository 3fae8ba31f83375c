#include "api/names.h"

#include "base/sha256.h"
#include "base/str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The first N characters of UID without its dashes. */
static void short_uid(const char *uid, size_t n, char *out)
{
    size_t len = 0;
    for (const char *p = rco_str_or_empty(uid); *p && len < n; p++)
        if (*p != '-')
            out[len++] = *p;
    out[len] = '\0';
}

void rco_name_run(const char *specification, const char *specification_uid, int64_t version,
                  const char *kind, int64_t number, char *out)
{
    char uid[6];
    short_uid(specification_uid, 5, uid);
    char letter = rco_str_empty(kind) ? 'x' : (char)(kind[0] | 0x20);
    snprintf(out, RCO_NAME_SIZE, "%.40s-%s-v%lld-%c%lld", specification, uid, (long long)version,
             letter, (long long)number);
}

int64_t rco_name_run_number(const char *name)
{
    const char *dash = name ? strrchr(name, '-') : NULL;
    if (!dash || !dash[1] || dash[2] < '1' || dash[2] > '9')
        return 0;
    char *end;
    long long n = strtoll(dash + 2, &end, 10);
    return *end ? 0 : n;
}

void rco_name_job(const char *run_uid, const char *phase, char *out)
{
    char uid[13];
    short_uid(run_uid, 12, uid);
    snprintf(out, RCO_NAME_SIZE, "rco-%s-%c", uid, phase[0]);
}

void rco_name_anchor(const char *run_uid, char *out)
{
    char uid[13];
    short_uid(run_uid, 12, uid);
    snprintf(out, RCO_NAME_SIZE, "rco-%s", uid);
}

void rco_name_chunk(const char *run_uid, const char *phase, const char *kind, size_t index,
                    const char *digest, char *out)
{
    char uid[13];
    short_uid(run_uid, 12, uid);
    snprintf(out, RCO_NAME_SIZE, "rco-%s-%c%c%zu-%.10s", uid, phase[0], kind[0], index,
             rco_str_or_empty(digest));
}

size_t rco_artifact_chunks(int64_t size)
{
    return size <= 0 ? 0 : ((size_t)size + RCO_CHUNK_SIZE - 1) / RCO_CHUNK_SIZE;
}

void rco_name_claim(const char *backend, const char *project, const char *stack, char *out)
{
    char hex[RCO_SHA256_HEX];
    unsigned char digest[RCO_SHA256_LEN];
    struct rco_sha256 *s = rco_sha256_new();
    const char *const parts[] = {backend, project, stack};
    for (size_t i = 0; i < RCO_ARRAY_LEN(parts); i++) {
        if (i)
            rco_sha256_update(s, "\n", 1);
        rco_sha256_update(s, rco_str_or_empty(parts[i]), strlen(rco_str_or_empty(parts[i])));
    }
    rco_sha256_final(s, digest);
    rco_sha256_free(s);
    rco_hex_encode(digest, sizeof(digest), hex);
    snprintf(out, RCO_NAME_SIZE, "rco-claim-%.40s", hex);
}

void rco_name_state_claim(const char *environment, char *out)
{
    snprintf(out, RCO_NAME_SIZE, "rco-state-%.40s", environment);
}

void rco_name_passphrase(const char *environment, int k, char *out)
{
    snprintf(out, RCO_NAME_SIZE, "rco-%.40s-pass-%d", environment, k);
}

void rco_name_hmac_key(const char *environment, int k, char *out)
{
    snprintf(out, RCO_NAME_SIZE, "rco-%.40s-hmac-%d", environment, k);
}

int rco_name_secret_counter(const char *name)
{
    const char *dash = name ? strrchr(name, '-') : NULL;
    if (!dash || dash[1] < '1' || dash[1] > '9' || dash[2])
        return 0;
    return dash[1] - '0';
}
