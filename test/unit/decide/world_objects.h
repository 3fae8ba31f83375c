/* The objects of a small world for decisions, as JSON trees, with what an API server does to them:
 * versions, generations, finalizers, background deletion. */
#ifndef RCO_TEST_DECIDE_WORLD_OBJECTS_H
#define RCO_TEST_DECIDE_WORLD_OBJECTS_H

#include "tree.h"

#include "api/kinds.h"
#include "api/names.h"
#include "api/zz_generated_types.h"
#include "decide/compact.h"
#include "decide/deployment.h"
#include "decide/environment.h"
#include "decide/run.h"
#include "plan/plan.h"
#include "json/writer.h"

#define WORLD_MAX_OBJECTS 512
#define WORLD_OPERATOR_NS "runtime-cloud"

struct world_object {
    enum rco_kind kind;
    struct rco_value *tree;
    const char *sent;    /* body of the create that made it, for COMPARE */
    const void *decoded; /* of the current tree, or NULL */
    bool gone;
};

struct world_reply {
    uint64_t exchange;
    int status;
    const char *body;
};

struct world_outcomes {
    const char *key; /* kind/ns/name */
    struct rco_outcome items[16];
    size_t n;
};

struct world {
    struct rco_arena a; /* everything; grows for the life of one test */
    struct world_object objects[WORLD_MAX_OBJECTS];
    size_t n_objects;
    struct world_outcomes outcomes[64];
    size_t n_outcomes;
    struct rco_decide_config config;
    rco_wall now;
    uint64_t counter; /* of uids and resourceVersions */
    /* mailbox of all runs: each names its run */
    struct {
        const char *run;
        struct rco_mailbox_start start;
        bool live;
    } starts[32];
    size_t n_starts;
    struct {
        const char *run;
        struct rco_mailbox_receipt receipt;
        bool live;
    } receipts[32];
    size_t n_receipts;
    struct world_reply replies[256];
    size_t n_replies;
    unsigned writes, events;
    bool whole;           /* objects as the API server has them, not as the caches keep them */
    struct rco_plan plan; /* of the last decision */
    /* Called for each status patch of a run with the state before and after. */
    void (*transition)(struct world *w, const struct rco_run *before, const struct rco_run *after);
    /* Kinds and names whose create is refused (for tests), NULL-terminated "Kind/name-prefix". */
    const char *refuse[4];
    const char *refuse_message;
};

static inline enum rco_kind world_kind(const char *name)
{
    for (int k = 1; k < RCO_KIND_COUNT; k++)
        if (rco_streq(rco_kind_info((enum rco_kind)k)->kind, name))
            return (enum rco_kind)k;
    fail_msg("unknown kind %s", name);
    return RCO_KIND_NONE;
}

static inline void world_init(struct world *w)
{
    memset(w, 0, sizeof(*w));
    struct rco_error err = RCO_ERROR_INIT;
    assert_int_equal(rco_wall_parse("2026-11-30T07:00:00Z", &w->now, &err), 0);
    w->config = (struct rco_decide_config){
        .operator_namespace = WORLD_OPERATOR_NS,
        .job = {.gateway_url = "https://runtime-cloud-gateway.runtime-cloud.svc:8443",
                .gateway_ca = "-----BEGIN CERTIFICATE-----\n"},
        .runner_image = "runtime-cloud-runner:dev",
        .default_tenant = "default",
    };
}

static inline void world_release(struct world *w)
{
    rco_arena_release(&w->a);
}

static inline const char *world_name(const struct world_object *o)
{
    return tree_string(o->tree, "metadata.name");
}

static inline const char *world_ns(const struct world_object *o)
{
    return rco_str_or_empty(tree_string(o->tree, "metadata.namespace"));
}

static inline struct world_object *world_find(struct world *w, enum rco_kind kind, const char *ns,
                                              const char *name)
{
    for (size_t i = 0; i < w->n_objects; i++)
        if (!w->objects[i].gone && w->objects[i].kind == kind &&
            rco_streq(world_ns(&w->objects[i]), rco_str_or_empty(ns)) &&
            rco_streq(world_name(&w->objects[i]), name))
            return &w->objects[i];
    return NULL;
}

/* The object as the API server has it. */
static inline void *world_decode_whole(struct world *w, const struct world_object *o)
{
    struct rco_error err = RCO_ERROR_INIT;
    const struct rco_schema *schema = rco_kind_info(o->kind)->schema;
    char *text = tree_text(&w->a, o->tree);
    void *obj = rco_arena_alloc(&w->a, schema->size);
    if (rco_codec_decode(schema, text, strlen(text), &w->a, obj, &err) != 0)
        fail_msg("%s %s: %s", schema->name, world_name(o), err.msg);
    return obj;
}

/* As the program's informers do. */
static inline void world_compact(enum rco_kind kind, void *obj, struct rco_arena *a)
{
    static void (*const compact[RCO_KIND_COUNT])(void *, struct rco_arena *) = {
        [RCO_KIND_NAMESPACE] = rco_compact_namespace,
        [RCO_KIND_NODE] = rco_compact_node,
        [RCO_KIND_ENV] = rco_compact_env,
        [RCO_KIND_DEPSPEC] = rco_compact_depspec,
        [RCO_KIND_RUN] = rco_compact_run,
        [RCO_KIND_JOB] = rco_compact_job,
        [RCO_KIND_POD] = rco_compact_pod,
        [RCO_KIND_CONFIGMAP] = rco_compact_configmap,
        [RCO_KIND_PVC] = rco_compact_pvc};
    if (compact[kind])
        compact[kind](obj, a);
}

/* The object as the caches keep it. */
static inline const void *world_decode(struct world *w, struct world_object *o)
{
    if (!o->decoded) {
        void *obj = world_decode_whole(w, o);
        if (!w->whole || o->kind == RCO_KIND_CONFIGMAP)
            world_compact(o->kind, obj, &w->a);
        o->decoded = obj;
    }
    return o->decoded;
}

static inline const void *world_get(struct world *w, enum rco_kind kind, const char *ns,
                                    const char *name)
{
    struct world_object *o = name ? world_find(w, kind, ns, name) : NULL;
    return o ? world_decode(w, o) : NULL;
}

/* A new resourceVersion after a change of the tree. */
static inline void world_touch(struct world *w, struct world_object *o)
{
    char text[64];
    snprintf(text, sizeof(text), "\"%llu\"", (unsigned long long)(1000 + ++w->counter));
    tree_set(&w->a, o->tree, "metadata.resourceVersion", text);
    o->decoded = NULL;
}

static inline const char *world_time(struct world *w)
{
    char at[RCO_TIME_STR_MAX];
    rco_wall_format(w->now, at);
    return rco_arena_printf(&w->a, "\"%s\"", at);
}

/* Adds an object; fills in what an API server does. */
static inline struct world_object *world_add(struct world *w, enum rco_kind kind,
                                             struct rco_value *tree)
{
    assert_true(w->n_objects < WORLD_MAX_OBJECTS);
    struct world_object *o = &w->objects[w->n_objects++];
    *o = (struct world_object){.kind = kind, .tree = tree};
    if (!tree_get(tree, "metadata.uid"))
        tree_set(&w->a, tree, "metadata.uid",
                 rco_arena_printf(&w->a, "\"%08llx-0000-4000-8000-000000000000\"",
                                  (unsigned long long)(0x10000000 + ++w->counter * 7919)));
    if (!tree_get(tree, "metadata.generation"))
        tree_set(&w->a, tree, "metadata.generation", "1");
    if (!tree_get(tree, "metadata.creationTimestamp"))
        tree_set(&w->a, tree, "metadata.creationTimestamp", world_time(w));
    if (!tree_get(tree, "metadata.namespace") && rco_kind_info(kind)->namespaced)
        tree_set(&w->a, tree, "metadata.namespace", "\"team-a\"");
    world_touch(w, o);
    return o;
}

static inline struct world_object *world_add_json(struct world *w, enum rco_kind kind,
                                                  const char *json)
{
    return world_add(w, kind, tree_parse(&w->a, json));
}

/* A change by somebody else: merge patch; a changed spec is a new generation. */
static inline void world_change(struct world *w, struct world_object *o, const char *patch)
{
    char *before = tree_get(o->tree, "spec") ? tree_text(&w->a, tree_get(o->tree, "spec")) : NULL;
    tree_merge(&w->a, o->tree, tree_parse(&w->a, patch));
    char *after = tree_get(o->tree, "spec") ? tree_text(&w->a, tree_get(o->tree, "spec")) : NULL;
    if (before && after && strcmp(before, after) != 0)
        tree_set(&w->a, o->tree, "metadata.generation",
                 rco_arena_printf(
                     &w->a, "%lld",
                     (long long)rco_value_int(tree_get(o->tree, "metadata"), "generation", 1) + 1));
    world_touch(w, o);
}

static inline bool world_has_finalizers(const struct world_object *o)
{
    const struct rco_value *f = tree_get(o->tree, "metadata.finalizers");
    return f && f->len;
}

static inline void world_collect(struct world *w, struct world_object *o);

/* A delete with background propagation. */
static inline void world_delete(struct world *w, struct world_object *o)
{
    if (world_has_finalizers(o)) {
        if (!tree_get(o->tree, "metadata.deletionTimestamp"))
            tree_set(&w->a, o->tree, "metadata.deletionTimestamp", world_time(w));
        world_touch(w, o);
        return;
    }
    o->gone = true;
    world_collect(w, o);
}

/* What the owner's end takes with it: pods of a Job. */
static inline void world_collect(struct world *w, struct world_object *o)
{
    const char *uid = tree_string(o->tree, "metadata.uid");
    for (size_t i = 0; i < w->n_objects; i++) {
        struct world_object *x = &w->objects[i];
        const struct rco_value *owners = tree_get(x->tree, "metadata.ownerReferences");
        if (!x->gone && owners && owners->first &&
            rco_streq(tree_string(owners->first, "uid"), uid))
            world_delete(w, x);
    }
}

#endif
