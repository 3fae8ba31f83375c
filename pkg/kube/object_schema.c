#include "kube/object_schema.h"

#include <stddef.h>

static const struct rco_field bare_fields[] = {
    {.name = "metadata",
     .name_len = 8,
     .type = RCO_FIELD_STRUCT,
     .offset = offsetof(struct rco_bare_object, metadata),
     .aux_offset = offsetof(struct rco_bare_object, has_metadata),
     .sub = &rco_meta_schema},
    {.name = "kind",
     .name_len = 4,
     .type = RCO_FIELD_STRING,
     .offset = offsetof(struct rco_bare_object, kind)},
};

const struct rco_schema rco_bare_object_schema = {
    .name = "Object",
    .size = sizeof(struct rco_bare_object),
    .fields = bare_fields,
    .n_fields = RCO_ARRAY_LEN(bare_fields),
};

static const struct rco_field bookmark_meta_fields[] = {
    {.name = "resourceVersion",
     .name_len = 15,
     .type = RCO_FIELD_STRING,
     .offset = offsetof(struct rco_bookmark_meta, resource_version)},
    {.name = "annotations",
     .name_len = 11,
     .type = RCO_FIELD_MAP_STRING,
     .offset = offsetof(struct rco_bookmark_meta, annotations),
     .aux_offset = offsetof(struct rco_bookmark_meta, n_annotations)},
};

static const struct rco_schema bookmark_meta_schema = {
    .name = "ObjectMeta",
    .size = sizeof(struct rco_bookmark_meta),
    .fields = bookmark_meta_fields,
    .n_fields = RCO_ARRAY_LEN(bookmark_meta_fields),
};

static const struct rco_field bookmark_fields[] = {
    {.name = "metadata",
     .name_len = 8,
     .type = RCO_FIELD_STRUCT,
     .offset = offsetof(struct rco_bookmark, metadata),
     .aux_offset = offsetof(struct rco_bookmark, has_metadata),
     .sub = &bookmark_meta_schema},
};

const struct rco_schema rco_bookmark_schema = {
    .name = "Bookmark",
    .size = sizeof(struct rco_bookmark),
    .fields = bookmark_fields,
    .n_fields = RCO_ARRAY_LEN(bookmark_fields),
};
