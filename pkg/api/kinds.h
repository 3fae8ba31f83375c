/* Registry of all kinds the product touches. */
#ifndef RCO_API_KINDS_H
#define RCO_API_KINDS_H

#include "api/meta.h"
#include "json/codec.h"

struct rco_json_writer;

enum rco_kind {
    RCO_KIND_NONE,
    RCO_KIND_DEPSPEC, /* DeploymentSpecification */
    RCO_KIND_RUN,     /* ProvisioningRun */
    RCO_KIND_ENV,     /* Environment */
    RCO_KIND_TENANT,  /* Tenant */
    RCO_KIND_JOB,
    RCO_KIND_POD,
    RCO_KIND_LEASE, /* coordination.k8s.io */
    RCO_KIND_CONFIGMAP,
    RCO_KIND_SECRET, /* create only */
    RCO_KIND_PVC,
    RCO_KIND_NAMESPACE,
    RCO_KIND_NODE,
    RCO_KIND_POLICY,         /* ValidatingAdmissionPolicy, metadata only */
    RCO_KIND_POLICY_BINDING, /* ValidatingAdmissionPolicyBinding, metadata only */
    RCO_KIND_CRD,            /* CustomResourceDefinition, metadata only: start-up check */
    RCO_KIND_TOKENREVIEW,
    RCO_KIND_EVENT, /* events.k8s.io */
    RCO_KIND_COUNT
};

struct rco_kind_info {
    const char *group; /* "" for the core group */
    const char *version;
    const char *kind;
    const char *plural;
    bool namespaced;
    const struct rco_schema *schema; /* of the whole object, metadata first; NULL = never decoded */
    const struct rco_schema *status_schema; /* NULL = no status of ours */
    size_t status_offset;                   /* of status in the object */
};

/* Never NULL for a kind of the enum. */
const struct rco_kind_info *rco_kind_info(enum rco_kind kind);
/* Writes "group/version" (or "v1") into OUT of 128 bytes. */
void rco_kind_api_version(enum rco_kind kind, char *out);
/* Writes the members apiVersion and kind of the current JSON object. */
void rco_kind_write_header(struct rco_json_writer *w, enum rco_kind kind);
/* Appends OBJ (of the kind's schema) as a complete object, apiVersion and kind first. */
void rco_kind_encode(enum rco_kind kind, const void *obj, struct rco_buf *out);
/* The status struct inside OBJ; NULL for a kind without one. */
const void *rco_kind_status(enum rco_kind kind, const void *obj);

#endif
