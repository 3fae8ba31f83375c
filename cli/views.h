/* Bodies that only this program reads: the few fields it needs of each. */
#ifndef RCO_CLI_VIEWS_H
#define RCO_CLI_VIEWS_H

#include "api/meta.h"
#include "json/codec.h"

#include <stdbool.h>

/* GET /version */
struct rco_view_version {
    const char *major, *minor, *git_version;
};
extern const struct rco_schema rco_view_version_schema;

/* GET /apis/<group>/<version> */
struct rco_view_resource {
    const char *name;
};
struct rco_view_resources {
    struct rco_view_resource *resources;
    size_t n_resources;
};
extern const struct rco_schema rco_view_resources_schema;

/* A list of which only the metadata matters. */
struct rco_view_bare {
    struct rco_meta metadata;
    bool has_metadata;
};
extern const struct rco_schema rco_view_bare_schema;
struct rco_view_bare_list {
    struct rco_view_bare *items;
    size_t n_items;
};
extern const struct rco_schema rco_view_bare_list_schema;

/* apps/v1 Deployments */
struct rco_view_deployment_spec {
    int64_t replicas;
    bool has_replicas;
};
struct rco_view_deployment_status {
    int64_t ready, updated, observed_generation;
    bool has_ready, has_updated, has_observed_generation;
    struct rco_condition *conditions;
    size_t n_conditions;
};
struct rco_view_deployment {
    struct rco_meta metadata;
    bool has_metadata;
    struct rco_view_deployment_spec spec;
    bool has_spec;
    struct rco_view_deployment_status status;
    bool has_status;
};
struct rco_view_deployments {
    struct rco_view_deployment *items;
    size_t n_items;
};
extern const struct rco_schema rco_view_deployments_schema;

/* SelfSubjectAccessReview and SelfSubjectReview */
struct rco_view_user {
    const char *username;
};
struct rco_view_review_status {
    bool allowed;
    bool has_allowed;
    struct rco_view_user user;
    bool has_user;
};
struct rco_view_review {
    struct rco_view_review_status status;
    bool has_status;
};
extern const struct rco_schema rco_view_review_schema;

/* A ConfigMap as a chunk of an artifact. */
struct rco_view_chunk {
    struct rco_kv *data;
    size_t n_data;
    struct rco_kv *binary;
    size_t n_binary;
};
extern const struct rco_schema rco_view_chunk_schema;

/* rbac.authorization.k8s.io/v1 */
struct rco_view_rule {
    const char **verbs, **groups, **resources, **names;
    size_t n_verbs, n_groups, n_resources, n_names;
};
struct rco_view_role {
    struct rco_meta metadata;
    bool has_metadata;
    struct rco_view_rule *rules;
    size_t n_rules;
};
struct rco_view_roles {
    struct rco_view_role *items;
    size_t n_items;
};
struct rco_view_role_ref {
    const char *kind, *name;
};
struct rco_view_subject {
    const char *kind, *name, *ns;
};
struct rco_view_binding {
    struct rco_meta metadata;
    bool has_metadata;
    struct rco_view_role_ref role;
    bool has_role;
    struct rco_view_subject *subjects;
    size_t n_subjects;
};
struct rco_view_bindings {
    struct rco_view_binding *items;
    size_t n_items;
};
extern const struct rco_schema rco_view_roles_schema;
extern const struct rco_schema rco_view_bindings_schema;

#endif
