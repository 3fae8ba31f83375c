#include "api/meta.h"

#include "api/labels.h"
#include "json/codec.h"

static const struct rco_field owner_fields[] = {
    {.name = "apiVersion",
     .name_len = 10,
     .type = RCO_FIELD_STRING,
     .flags = RCO_FIELD_INTERN,
     .offset = offsetof(struct rco_owner, api_version)},
    {.name = "kind",
     .name_len = 4,
     .type = RCO_FIELD_STRING,
     .flags = RCO_FIELD_INTERN,
     .offset = offsetof(struct rco_owner, kind)},
    {.name = "name",
     .name_len = 4,
     .type = RCO_FIELD_STRING,
     .offset = offsetof(struct rco_owner, name)},
    {.name = "uid",
     .name_len = 3,
     .type = RCO_FIELD_STRING,
     .offset = offsetof(struct rco_owner, uid)},
    {.name = "controller",
     .name_len = 10,
     .type = RCO_FIELD_BOOL,
     .offset = offsetof(struct rco_owner, controller),
     .aux_offset = offsetof(struct rco_owner, has_controller)},
};

static const struct rco_schema owner_schema = {.name = "owner",
                                               .size = sizeof(struct rco_owner),
                                               .fields = owner_fields,
                                               .n_fields = RCO_ARRAY_LEN(owner_fields)};

/* Other people's annotations may be large (kubectl keeps whole objects there) and mean nothing
 * here. */
static const char *const kept_annotations[] = {RCO_DOMAIN "/", NULL};

/* In the order in which the API server writes them. */
static const struct rco_field meta_fields[] = {
    {.name = "name",
     .name_len = 4,
     .type = RCO_FIELD_STRING,
     .offset = offsetof(struct rco_meta, name)},
    {.name = "namespace",
     .name_len = 9,
     .type = RCO_FIELD_STRING,
     .flags = RCO_FIELD_INTERN,
     .offset = offsetof(struct rco_meta, ns)},
    {.name = "uid",
     .name_len = 3,
     .type = RCO_FIELD_STRING,
     .offset = offsetof(struct rco_meta, uid)},
    {.name = "resourceVersion",
     .name_len = 15,
     .type = RCO_FIELD_STRING,
     .offset = offsetof(struct rco_meta, resource_version)},
    {.name = "generation",
     .name_len = 10,
     .type = RCO_FIELD_INT,
     .offset = offsetof(struct rco_meta, generation),
     .aux_offset = offsetof(struct rco_meta, has_generation)},
    {.name = "creationTimestamp",
     .name_len = 17,
     .type = RCO_FIELD_TIME,
     .offset = offsetof(struct rco_meta, creation)},
    {.name = "deletionTimestamp",
     .name_len = 17,
     .type = RCO_FIELD_TIME,
     .offset = offsetof(struct rco_meta, deletion)},
    {.name = "labels",
     .name_len = 6,
     .type = RCO_FIELD_MAP_STRING,
     .flags = RCO_FIELD_INTERN,
     .offset = offsetof(struct rco_meta, labels),
     .aux_offset = offsetof(struct rco_meta, n_labels)},
    {.name = "annotations",
     .name_len = 11,
     .type = RCO_FIELD_MAP_STRING,
     .words = kept_annotations,
     .offset = offsetof(struct rco_meta, annotations),
     .aux_offset = offsetof(struct rco_meta, n_annotations)},
    {.name = "ownerReferences",
     .name_len = 15,
     .type = RCO_FIELD_LIST_STRUCT,
     .sub = &owner_schema,
     .offset = offsetof(struct rco_meta, owners),
     .aux_offset = offsetof(struct rco_meta, n_owners)},
    {.name = "finalizers",
     .name_len = 10,
     .type = RCO_FIELD_LIST_STRING,
     .flags = RCO_FIELD_INTERN,
     .offset = offsetof(struct rco_meta, finalizers),
     .aux_offset = offsetof(struct rco_meta, n_finalizers)},
};

const struct rco_schema rco_meta_schema = {.name = "metadata",
                                           .size = sizeof(struct rco_meta),
                                           .fields = meta_fields,
                                           .n_fields = RCO_ARRAY_LEN(meta_fields)};

static const struct rco_field condition_fields[] = {
    {.name = "type",
     .name_len = 4,
     .type = RCO_FIELD_STRING,
     .flags = RCO_FIELD_INTERN,
     .offset = offsetof(struct rco_condition, type)},
    {.name = "status",
     .name_len = 6,
     .type = RCO_FIELD_STRING,
     .flags = RCO_FIELD_INTERN,
     .offset = offsetof(struct rco_condition, status)},
    {.name = "observedGeneration",
     .name_len = 18,
     .type = RCO_FIELD_INT,
     .offset = offsetof(struct rco_condition, observed_generation),
     .aux_offset = offsetof(struct rco_condition, has_observed_generation)},
    {.name = "lastTransitionTime",
     .name_len = 18,
     .type = RCO_FIELD_TIME,
     .offset = offsetof(struct rco_condition, last_transition_time)},
    {.name = "reason",
     .name_len = 6,
     .type = RCO_FIELD_STRING,
     .flags = RCO_FIELD_INTERN,
     .offset = offsetof(struct rco_condition, reason)},
    {.name = "message",
     .name_len = 7,
     .type = RCO_FIELD_STRING,
     .offset = offsetof(struct rco_condition, message)},
};

const struct rco_schema rco_condition_schema = {.name = "condition",
                                                .size = sizeof(struct rco_condition),
                                                .fields = condition_fields,
                                                .n_fields = RCO_ARRAY_LEN(condition_fields)};

const char *rco_meta_label(const struct rco_meta *m, const char *key)
{
    return rco_kv_get(m->labels, m->n_labels, key);
}

const char *rco_meta_annotation(const struct rco_meta *m, const char *key)
{
    return rco_kv_get(m->annotations, m->n_annotations, key);
}

bool rco_meta_is_controlled_by(const struct rco_meta *m, const char *kind, const char *uid)
{
    for (size_t i = 0; i < m->n_owners; i++)
        if (m->owners[i].controller && rco_streq(m->owners[i].kind, kind) &&
            rco_streq(m->owners[i].uid, uid))
            return true;
    return false;
}

bool rco_meta_has_finalizer(const struct rco_meta *m, const char *finalizer)
{
    for (size_t i = 0; i < m->n_finalizers; i++)
        if (rco_streq(m->finalizers[i], finalizer))
            return true;
    return false;
}
