/* The little of any object that the client itself reads. Internal to pkg/kube and pkg/runtime. */
#ifndef RCO_KUBE_OBJECT_SCHEMA_H
#define RCO_KUBE_OBJECT_SCHEMA_H

#include "api/meta.h"
#include "json/codec.h"

/* Any object, metadata only. */
struct rco_bare_object {
    struct rco_meta metadata;
    bool has_metadata;
    const char *kind;
};
extern const struct rco_schema rco_bare_object_schema;

/* A bookmark: resourceVersion and all annotations (the end of a streaming list is marked by one
 * that is not of our own domain). */
struct rco_bookmark_meta {
    const char *resource_version;
    struct rco_kv *annotations;
    size_t n_annotations;
};
struct rco_bookmark {
    struct rco_bookmark_meta metadata;
    bool has_metadata;
};
extern const struct rco_schema rco_bookmark_schema;

#endif
