/* Paths of the gateway: /v1/runs/<ns>/<run>/<phase>/{start,heartbeat,receipt,artifacts/<kind>}. Pure. */
#ifndef RCO_CONTROLLER_GATEWAY_ROUTE_H
#define RCO_CONTROLLER_GATEWAY_ROUTE_H

#include "api/zz_generated_types.h"
#include "pulumi/phase.h"

#include <stdbool.h>
#include <stdint.h>

/* Bodies; that of an artifact is one chunk (RCO_CHUNK_SIZE). */
#define RCO_GATEWAY_START_MAX (64 * 1024)
#define RCO_GATEWAY_HEARTBEAT_MAX (16 * 1024)
#define RCO_GATEWAY_RECEIPT_MAX (512 * 1024)
/* Whole artifacts. */
#define RCO_ARTIFACT_LOG_MAX (INT64_C(4) * 1024 * 1024)
#define RCO_ARTIFACT_DIFF_MAX (INT64_C(1) * 1024 * 1024)
#define RCO_ARTIFACT_PLAN_MAX (INT64_C(32) * 1024 * 1024)
#define RCO_ARTIFACT_OUTPUTS_MAX (INT64_C(1) * 1024 * 1024)
#define RCO_ARTIFACT_STATE_MAX (INT64_C(32) * 1024 * 1024)

enum rco_gateway_verb {
    RCO_GATEWAY_NONE,
    RCO_GATEWAY_START,
    RCO_GATEWAY_HEARTBEAT,
    RCO_GATEWAY_RECEIPT,
    RCO_GATEWAY_ARTIFACT
};

#define RCO_GATEWAY_NAME_MAX 254

struct rco_gateway_route {
    enum rco_gateway_verb verb;
    char ns[RCO_GATEWAY_NAME_MAX], run[RCO_GATEWAY_NAME_MAX];
    enum rco_phase phase;
    enum rco_artifact_kind kind; /* ARTIFACT only */
    int64_t max_body;
};

/* False when the gateway has no such route. Names must be Kubernetes names: nothing is decoded. */
bool rco_gateway_route(const char *method, const char *path, struct rco_gateway_route *ret);

/* Where a chunk belongs, from the query index=I&digest=D&size=S. */
struct rco_gateway_chunk {
    int64_t index;
    int64_t size;    /* of the whole artifact */
    char digest[65]; /* SHA-256 of the whole artifact */
};

/* Parses QUERY and checks it and the body's length against the caps of KIND. NULL when fine, else what is
 * wrong; *RET_TOO_BIG says whether that is the cap. */
const char *rco_gateway_chunk(const char *query, enum rco_artifact_kind kind, size_t body_len,
                              struct rco_gateway_chunk *ret, bool *ret_too_big);

#endif
