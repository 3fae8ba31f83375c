/* The objects that hold artifacts, one chunk each (design 3.6). */
#ifndef RCO_PULUMI_CHUNK_H
#define RCO_PULUMI_CHUNK_H

#include "api/kinds.h"
#include "api/zz_generated_types.h"
#include "pulumi/phase.h"

/* Masked text goes to ConfigMaps, so that an approver can read a plan without the right to read
 * Secrets; everything that may hold secrets, even encrypted ones, goes to Secrets. */
enum rco_kind rco_chunk_kind(enum rco_artifact_kind kind);

struct rco_chunk {
    const struct rco_run *run;
    enum rco_phase phase;
    enum rco_artifact_kind kind;
    const char *name;                     /* rco_name_chunk */
    const char *anchor_name, *anchor_uid; /* the ConfigMap that owns it: it goes away with that */
};

/* Appends the immutable object of CHUNK with the N bytes under the key "data". */
void rco_chunk_write(const struct rco_chunk *chunk, const char *bytes, size_t n,
                     struct rco_buf *out);

#endif
