#include "gateway_route.h"

#include "api/names.h"
#include "base/str.h"

#include <string.h>

/* Copies the segment at *P, which ends at '/' or the end, and moves *P behind it. */
static bool segment(const char **p, char *out, size_t size)
{
    size_t n = strcspn(*p, "/");

    if (n == 0 || n >= size)
        return false;
    memcpy(out, *p, n);
    out[n] = '\0';
    *p += n;
    if (**p == '/')
        (*p)++;
    return true;
}

struct verb {
    const char *word;
    const char *method;
    enum rco_gateway_verb verb;
    int64_t max_body;
};

static const struct verb verbs[] = {
    {"start", "POST", RCO_GATEWAY_START, RCO_GATEWAY_START_MAX},
    {"heartbeat", "POST", RCO_GATEWAY_HEARTBEAT, RCO_GATEWAY_HEARTBEAT_MAX},
    {"receipt", "POST", RCO_GATEWAY_RECEIPT, RCO_GATEWAY_RECEIPT_MAX},
    {"artifacts", "PUT", RCO_GATEWAY_ARTIFACT, RCO_CHUNK_SIZE},
};

static bool parse_verb(const char *method, const char *word, struct rco_gateway_route *r)
{
    for (size_t i = 0; i < RCO_ARRAY_LEN(verbs); i++) {
        if (rco_streq(verbs[i].word, word) && rco_streq(verbs[i].method, method)) {
            r->verb = verbs[i].verb;
            r->max_body = verbs[i].max_body;
            return true;
        }
    }
    return false;
}

/* What the runner of a phase leaves; nothing else is taken. */
static bool has_artifact(enum rco_phase phase, enum rco_artifact_kind kind)
{
    switch (kind) {
    case RCO_ARTIFACT_KIND_LOG:
        return true;
    case RCO_ARTIFACT_KIND_PLAN:
    case RCO_ARTIFACT_KIND_DIFF:
        return phase == RCO_PHASE_PLAN;
    case RCO_ARTIFACT_KIND_OUTPUTS:
    case RCO_ARTIFACT_KIND_STATE:
        return phase == RCO_PHASE_APPLY;
    default:
        return false;
    }
}

bool rco_gateway_route(const char *method, const char *path, struct rco_gateway_route *ret)
{
    static const char prefix[] = "/v1/runs/";
    struct rco_gateway_route r = {0};
    char word[16], kind[16];
    const char *p;

    if (!rco_str_has_prefix(path, prefix))
        return false;
    p = path + sizeof prefix - 1;
    if (!segment(&p, r.ns, sizeof r.ns) || !rco_is_dns_label(r.ns))
        return false;
    if (!segment(&p, r.run, sizeof r.run) || !rco_is_dns_subdomain(r.run))
        return false;
    if (!segment(&p, word, sizeof word) || !(r.phase = rco_phase_parse(word)))
        return false;
    if (!segment(&p, word, sizeof word) || !parse_verb(method, word, &r))
        return false;
    if (r.verb == RCO_GATEWAY_ARTIFACT) {
        if (!segment(&p, kind, sizeof kind))
            return false;
        r.kind = rco_artifact_kind_parse(kind);
        if (!has_artifact(r.phase, r.kind))
            return false;
    }
    if (*p || path[strlen(path) - 1] == '/')
        return false;
    *ret = r;
    return true;
}

static int64_t cap_of(enum rco_artifact_kind kind)
{
    switch (kind) {
    case RCO_ARTIFACT_KIND_PLAN:
        return RCO_ARTIFACT_PLAN_MAX;
    case RCO_ARTIFACT_KIND_LOG:
        return RCO_ARTIFACT_LOG_MAX;
    case RCO_ARTIFACT_KIND_DIFF:
        return RCO_ARTIFACT_DIFF_MAX;
    case RCO_ARTIFACT_KIND_OUTPUTS:
        return RCO_ARTIFACT_OUTPUTS_MAX;
    case RCO_ARTIFACT_KIND_STATE:
        return RCO_ARTIFACT_STATE_MAX;
    default:
        return 0;
    }
}

/* Value of NAME in QUERY into OUT. */
static bool query_value(const char *query, const char *name, char *out, size_t size)
{
    size_t n = strlen(name);

    for (const char *p = query; *p; p += strcspn(p, "&"), p += *p == '&') {
        if (strncmp(p, name, n) == 0 && p[n] == '=') {
            size_t len = strcspn(p + n + 1, "&");

            if (len == 0 || len >= size)
                return false;
            memcpy(out, p + n + 1, len);
            out[len] = '\0';
            return true;
        }
    }
    return false;
}

static bool query_number(const char *query, const char *name, int64_t *ret)
{
    struct rco_error err = RCO_ERROR_INIT;
    char text[24];

    return query_value(query, name, text, sizeof text) && rco_parse_int64(text, ret, &err) == 0 &&
           *ret >= 0;
}

const char *rco_gateway_chunk(const char *query, enum rco_artifact_kind kind, size_t body_len,
                              struct rco_gateway_chunk *ret, bool *ret_too_big)
{
    struct rco_gateway_chunk c;
    int64_t rest;

    *ret_too_big = false;
    if (!query_number(query, "index", &c.index) || !query_number(query, "size", &c.size) ||
        !query_value(query, "digest", c.digest, sizeof c.digest) || !rco_is_lower_hex(c.digest, 64))
        return "the query must have index, size and digest (SHA-256 in hex)";
    if (c.size > cap_of(kind)) {
        *ret_too_big = true;
        return "the artifact is larger than the cap of its kind";
    }
    if (c.size == 0 || c.index > (c.size - 1) / RCO_CHUNK_SIZE)
        return "index is beyond the end of the artifact";
    rest = c.size - c.index * RCO_CHUNK_SIZE;
    if ((int64_t)body_len != (rest < RCO_CHUNK_SIZE ? rest : RCO_CHUNK_SIZE))
        return "the body has not the length of this chunk";
    *ret = c;
    return NULL;
}
