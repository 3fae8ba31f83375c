#include "views.h"

#define STRING(T, NAME, MEMBER)                                                                    \
    {                                                                                              \
        .name = (NAME), .type = RCO_FIELD_STRING, .offset = offsetof(struct T, MEMBER)             \
    }
#define INT(T, NAME, MEMBER)                                                                       \
    {                                                                                              \
        .name = (NAME), .type = RCO_FIELD_INT, .offset = offsetof(struct T, MEMBER),               \
        .aux_offset = offsetof(struct T, has_##MEMBER)                                             \
    }
#define BOOL(T, NAME, MEMBER)                                                                      \
    {                                                                                              \
        .name = (NAME), .type = RCO_FIELD_BOOL, .offset = offsetof(struct T, MEMBER),              \
        .aux_offset = offsetof(struct T, has_##MEMBER)                                             \
    }
#define STRUCT(T, NAME, MEMBER, SUB)                                                               \
    {                                                                                              \
        .name = (NAME), .type = RCO_FIELD_STRUCT, .offset = offsetof(struct T, MEMBER),            \
        .aux_offset = offsetof(struct T, has_##MEMBER), .sub = &(SUB)                              \
    }
#define LIST(T, NAME, MEMBER, SUB)                                                                 \
    {                                                                                              \
        .name = (NAME), .type = RCO_FIELD_LIST_STRUCT, .offset = offsetof(struct T, MEMBER),       \
        .aux_offset = offsetof(struct T, n_##MEMBER), .sub = &(SUB)                                \
    }
#define STRINGS(T, NAME, MEMBER)                                                                   \
    {                                                                                              \
        .name = (NAME), .type = RCO_FIELD_LIST_STRING, .offset = offsetof(struct T, MEMBER),       \
        .aux_offset = offsetof(struct T, n_##MEMBER)                                               \
    }
#define MAP(T, NAME, MEMBER)                                                                       \
    {                                                                                              \
        .name = (NAME), .type = RCO_FIELD_MAP_STRING, .offset = offsetof(struct T, MEMBER),        \
        .aux_offset = offsetof(struct T, n_##MEMBER)                                               \
    }
#define SCHEMA(T, FIELDS)                                                                          \
    {                                                                                              \
        .name = #T, .size = sizeof(struct T), .fields = (FIELDS),                                  \
        .n_fields = sizeof(FIELDS) / sizeof((FIELDS)[0])                                           \
    }

static const struct rco_field version_fields[] = {
    STRING(rco_view_version, "major", major),
    STRING(rco_view_version, "minor", minor),
    STRING(rco_view_version, "gitVersion", git_version),
};
const struct rco_schema rco_view_version_schema = SCHEMA(rco_view_version, version_fields);

static const struct rco_field resource_fields[] = {STRING(rco_view_resource, "name", name)};
static const struct rco_schema resource_schema = SCHEMA(rco_view_resource, resource_fields);
static const struct rco_field resources_fields[] = {
    LIST(rco_view_resources, "resources", resources, resource_schema)};
const struct rco_schema rco_view_resources_schema = SCHEMA(rco_view_resources, resources_fields);

static const struct rco_field bare_fields[] = {
    STRUCT(rco_view_bare, "metadata", metadata, rco_meta_schema)};
const struct rco_schema rco_view_bare_schema = SCHEMA(rco_view_bare, bare_fields);
static const struct rco_field bare_list_fields[] = {
    LIST(rco_view_bare_list, "items", items, rco_view_bare_schema)};
const struct rco_schema rco_view_bare_list_schema = SCHEMA(rco_view_bare_list, bare_list_fields);

static const struct rco_field deployment_spec_fields[] = {
    INT(rco_view_deployment_spec, "replicas", replicas)};
static const struct rco_schema deployment_spec_schema =
    SCHEMA(rco_view_deployment_spec, deployment_spec_fields);
static const struct rco_field deployment_status_fields[] = {
    INT(rco_view_deployment_status, "readyReplicas", ready),
    INT(rco_view_deployment_status, "updatedReplicas", updated),
    INT(rco_view_deployment_status, "observedGeneration", observed_generation),
    LIST(rco_view_deployment_status, "conditions", conditions, rco_condition_schema),
};
static const struct rco_schema deployment_status_schema =
    SCHEMA(rco_view_deployment_status, deployment_status_fields);
static const struct rco_field deployment_fields[] = {
    STRUCT(rco_view_deployment, "metadata", metadata, rco_meta_schema),
    STRUCT(rco_view_deployment, "spec", spec, deployment_spec_schema),
    STRUCT(rco_view_deployment, "status", status, deployment_status_schema),
};
static const struct rco_schema deployment_schema = SCHEMA(rco_view_deployment, deployment_fields);
static const struct rco_field deployments_fields[] = {
    LIST(rco_view_deployments, "items", items, deployment_schema)};
const struct rco_schema rco_view_deployments_schema =
    SCHEMA(rco_view_deployments, deployments_fields);

static const struct rco_field user_fields[] = {STRING(rco_view_user, "username", username)};
static const struct rco_schema user_schema = SCHEMA(rco_view_user, user_fields);
static const struct rco_field review_status_fields[] = {
    BOOL(rco_view_review_status, "allowed", allowed),
    STRUCT(rco_view_review_status, "userInfo", user, user_schema),
};
static const struct rco_schema review_status_schema =
    SCHEMA(rco_view_review_status, review_status_fields);
static const struct rco_field review_fields[] = {
    STRUCT(rco_view_review, "status", status, review_status_schema)};
const struct rco_schema rco_view_review_schema = SCHEMA(rco_view_review, review_fields);

static const struct rco_field chunk_fields[] = {
    MAP(rco_view_chunk, "data", data),
    MAP(rco_view_chunk, "binaryData", binary),
};
const struct rco_schema rco_view_chunk_schema = SCHEMA(rco_view_chunk, chunk_fields);

static const struct rco_field rule_fields[] = {
    STRINGS(rco_view_rule, "verbs", verbs),
    STRINGS(rco_view_rule, "apiGroups", groups),
    STRINGS(rco_view_rule, "resources", resources),
    STRINGS(rco_view_rule, "resourceNames", names),
};
static const struct rco_schema rule_schema = SCHEMA(rco_view_rule, rule_fields);
static const struct rco_field role_fields[] = {
    STRUCT(rco_view_role, "metadata", metadata, rco_meta_schema),
    LIST(rco_view_role, "rules", rules, rule_schema),
};
static const struct rco_schema role_schema = SCHEMA(rco_view_role, role_fields);
static const struct rco_field roles_fields[] = {LIST(rco_view_roles, "items", items, role_schema)};
const struct rco_schema rco_view_roles_schema = SCHEMA(rco_view_roles, roles_fields);

static const struct rco_field role_ref_fields[] = {
    STRING(rco_view_role_ref, "kind", kind),
    STRING(rco_view_role_ref, "name", name),
};
static const struct rco_schema role_ref_schema = SCHEMA(rco_view_role_ref, role_ref_fields);
static const struct rco_field subject_fields[] = {
    STRING(rco_view_subject, "kind", kind),
    STRING(rco_view_subject, "name", name),
    STRING(rco_view_subject, "namespace", ns),
};
static const struct rco_schema subject_schema = SCHEMA(rco_view_subject, subject_fields);
static const struct rco_field binding_fields[] = {
    STRUCT(rco_view_binding, "metadata", metadata, rco_meta_schema),
    STRUCT(rco_view_binding, "roleRef", role, role_ref_schema),
    LIST(rco_view_binding, "subjects", subjects, subject_schema),
};
static const struct rco_schema binding_schema = SCHEMA(rco_view_binding, binding_fields);
static const struct rco_field bindings_fields[] = {
    LIST(rco_view_bindings, "items", items, binding_schema)};
const struct rco_schema rco_view_bindings_schema = SCHEMA(rco_view_bindings, bindings_fields);
