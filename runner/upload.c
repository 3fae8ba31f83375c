#include "upload.h"

#include "base/log.h"
#include "base/sha256.h"

#include <string.h>

/* 403 and 404 are waited for as long as 40 attempts take, about ten minutes. */
#define WAIT_ATTEMPTS 40

struct upload {
    struct rco_runner *r;
    struct rco_gateway *g;
    enum rco_artifact_kind kind;
    const char *digest;
    size_t size;
};

/* 1 = stored, 0 = not wanted, -1 = patience is over. */
static int put_chunk(struct upload *u, size_t index, const char *bytes, size_t n,
                     const struct rco_patience *patience)
{
    struct rco_answer ans = {0};
    struct rco_error err = RCO_ERROR_INIT;
    const char *route =
        rco_arena_printf(&u->r->arena, "artifacts/%s?index=%zu&digest=%s&size=%zu",
                         rco_artifact_kind_name(u->kind), index, u->digest, u->size);
    int result = -1;
    for (unsigned attempt = 1;; attempt++) {
        int rc = rco_gateway_call(u->g, "PUT", route, bytes, n, &ans, &err);
        enum rco_gateway_verdict v = rco_gateway_judge(rc, &ans);
        if (v == RCO_GATEWAY_DONE) {
            result = 1;
            break;
        }
        if (v == RCO_GATEWAY_REFUSED || (v == RCO_GATEWAY_WAIT && attempt >= WAIT_ATTEMPTS)) {
            rco_log(RCO_LOG_WARN, "the gateway does not take an artifact",
                    RCO_S("kind", rco_artifact_kind_name(u->kind)), RCO_N("status", ans.status),
                    RCO_S("message", rco_gateway_message(&ans, &u->r->arena)));
            result = 0;
            break;
        }
        if (!patience->wait(patience->ctx, rco_gateway_backoff_ms(attempt, &ans)))
            break;
    }
    rco_buf_release(&ans.body);
    return result;
}

int rco_upload(struct rco_runner *r, struct rco_gateway *g, enum rco_artifact_kind kind,
               const void *bytes, size_t n, const struct rco_patience *patience,
               struct rco_runner_artifact *ret)
{
    char hex[RCO_SHA256_HEX];
    rco_sha256_hex(bytes, n, hex);
    struct upload u = {.r = r, .g = g, .kind = kind, .size = n};
    u.digest = rco_arena_strdup(&r->arena, hex);
    *ret = (struct rco_runner_artifact){
        .kind = kind, .digest = u.digest, .size = (int64_t)n, .has_size = true};
    for (size_t i = 0; i * RCO_GATEWAY_CHUNK < n; i++) {
        size_t from = i * RCO_GATEWAY_CHUNK;
        size_t len = n - from < RCO_GATEWAY_CHUNK ? n - from : RCO_GATEWAY_CHUNK;
        int rc = put_chunk(&u, i, (const char *)bytes + from, len, patience);
        if (rc < 0)
            return -1;
        if (rc == 0) {
            ret->truncated = ret->has_truncated = true;
            return 0;
        }
    }
    return 0;
}
