#include "plan/plan.h"

#include "json/edit.h"
#include "json/writer.h"

#include <assert.h>
#include <string.h>

void rco_plan_init(struct rco_plan *plan, struct rco_arena *arena)
{
    *plan = (struct rco_plan){.arena = arena};
    plan->tail = &plan->first;
}

static struct rco_action *add(struct rco_plan *plan, enum rco_action_type type, enum rco_kind kind)
{
    struct rco_action *a = RCO_NEW(plan->arena, struct rco_action);
    a->type = type;
    a->kind = kind;
    *plan->tail = a;
    plan->tail = &a->next;
    plan->n_actions++;
    return a;
}

static struct rco_action *add_for(struct rco_plan *plan, enum rco_action_type type,
                                  enum rco_kind kind, const struct rco_meta *target)
{
    struct rco_action *a = add(plan, type, kind);
    a->ns = rco_arena_strdup(plan->arena, target->ns);
    a->name = rco_arena_strdup(plan->arena, target->name);
    return a;
}

static void set_body(struct rco_plan *plan, struct rco_action *a, const struct rco_buf *body)
{
    a->body = rco_arena_strndup(plan->arena, rco_buf_str(body), body->len);
    a->body_len = body->len;
}

struct rco_action *rco_plan_create(struct rco_plan *plan, enum rco_kind kind, const char *ns,
                                   const char *name, const struct rco_buf *body,
                                   enum rco_exists_policy exists)
{
    struct rco_action *a = add(plan, RCO_ACTION_CREATE, kind);
    a->ns = rco_arena_strdup(plan->arena, ns);
    a->name = rco_arena_strdup(plan->arena, name);
    a->exists = exists;
    set_body(plan, a, body);
    return a;
}

/* Every change names what it was computed from, so that the API server refuses it when the object
 * has moved on meanwhile. */
static struct rco_action *add_patch(struct rco_plan *plan, enum rco_action_type type,
                                    enum rco_kind kind, const struct rco_meta *target,
                                    const struct rco_buf *patch)
{
    rco_autobuf body = RCO_BUF_INIT;
    struct rco_error err = RCO_ERROR_INIT;
    assert(!rco_str_empty(target->resource_version));
    int rc = rco_json_set_nested(rco_buf_str(patch), patch->len, "metadata", "resourceVersion",
                                 target->resource_version, &body, &err);
    assert(rc == 0); /* the patch is our own text */
    (void)rc;
    struct rco_action *a = add_for(plan, type, kind, target);
    a->uid = rco_arena_strdup(plan->arena, target->uid);
    a->resource_version = rco_arena_strdup(plan->arena, target->resource_version);
    set_body(plan, a, &body);
    return a;
}

struct rco_action *rco_plan_patch(struct rco_plan *plan, enum rco_kind kind,
                                  const struct rco_meta *target, const struct rco_buf *patch)
{
    return add_patch(plan, RCO_ACTION_PATCH, kind, target, patch);
}

struct rco_action *rco_plan_patch_status(struct rco_plan *plan, enum rco_kind kind,
                                         const struct rco_meta *target, const void *old_status,
                                         const void *new_status)
{
    const struct rco_schema *schema = rco_kind_info(kind)->status_schema;
    rco_autobuf status = RCO_BUF_INIT;
    rco_autobuf patch = RCO_BUF_INIT;
    struct rco_json_writer w;
    assert(schema);
    if (!rco_codec_merge_patch(schema, old_status, new_status, &status))
        return NULL;
    rco_json_writer_init(&w, &patch);
    rco_json_begin_object(&w);
    rco_json_key(&w, "status");
    rco_json_raw(&w, status.data, status.len);
    rco_json_end_object(&w);
    return add_patch(plan, RCO_ACTION_PATCH_STATUS, kind, target, &patch);
}

struct rco_action *rco_plan_delete(struct rco_plan *plan, enum rco_kind kind,
                                   const struct rco_meta *target)
{
    assert(!rco_str_empty(target->uid));
    struct rco_action *a = add_for(plan, RCO_ACTION_DELETE, kind, target);
    a->uid = rco_arena_strdup(plan->arena, target->uid);
    a->resource_version = rco_arena_strdup(plan->arena, target->resource_version);
    return a;
}

struct rco_action *rco_plan_delete_same(struct rco_plan *plan, enum rco_kind kind,
                                        const struct rco_meta *target, const struct rco_buf *body)
{
    struct rco_action *a = rco_plan_delete(plan, kind, target);
    set_body(plan, a, body);
    return a;
}

struct rco_action *rco_plan_require_absent(struct rco_plan *plan, enum rco_kind kind,
                                           const char *ns, const char *name, const char *uid)
{
    assert(!rco_str_empty(name) && !rco_str_empty(uid));
    struct rco_action *a = add(plan, RCO_ACTION_ABSENT, kind);
    a->ns = rco_arena_strdup(plan->arena, ns);
    a->name = rco_arena_strdup(plan->arena, name);
    a->uid = rco_arena_strdup(plan->arena, uid);
    return a;
}

struct rco_action *rco_plan_require_current(struct rco_plan *plan, enum rco_kind kind,
                                            const struct rco_meta *target)
{
    struct rco_action *a = add_for(plan, RCO_ACTION_CURRENT, kind, target);
    a->resource_version = rco_arena_strdup(plan->arena, target->resource_version);
    return a;
}

struct rco_action *rco_plan_event(struct rco_plan *plan, enum rco_kind kind,
                                  const struct rco_meta *regarding, const char *type,
                                  const char *reason, const char *note)
{
    struct rco_action *a = add_for(plan, RCO_ACTION_EVENT, kind, regarding);
    a->regarding_uid = rco_arena_strdup(plan->arena, regarding->uid);
    a->resource_version = rco_arena_strdup(plan->arena, regarding->resource_version);
    a->event_type = rco_arena_strdup(plan->arena, type);
    a->reason = rco_arena_strdup(plan->arena, reason);
    a->note = rco_arena_strdup(plan->arena, note);
    return a;
}

struct rco_action *rco_plan_reply(struct rco_plan *plan, uint64_t mailbox, int http_status,
                                  const struct rco_buf *body)
{
    struct rco_action *a = add(plan, RCO_ACTION_REPLY, RCO_KIND_NONE);
    a->mailbox = mailbox;
    a->http_status = http_status;
    if (body)
        set_body(plan, a, body);
    return a;
}

/* A merge patch replaces lists whole, so other people's finalizers are written again as they were
 * read; the resourceVersion makes that safe. */
static struct rco_action *patch_finalizers(struct rco_plan *plan, enum rco_kind kind,
                                           const struct rco_meta *target, const char *without,
                                           const char *with)
{
    rco_autobuf patch = RCO_BUF_INIT;
    struct rco_json_writer w;
    rco_json_writer_init(&w, &patch);
    rco_json_begin_object(&w);
    rco_json_kv_object(&w, "metadata");
    rco_json_kv_array(&w, "finalizers");
    for (size_t i = 0; i < target->n_finalizers; i++)
        if (!rco_streq(target->finalizers[i], without))
            rco_json_string(&w, target->finalizers[i]);
    if (with)
        rco_json_string(&w, with);
    rco_json_end_array(&w);
    rco_json_end_object(&w);
    rco_json_end_object(&w);
    return add_patch(plan, RCO_ACTION_PATCH, kind, target, &patch);
}

struct rco_action *rco_plan_add_finalizer(struct rco_plan *plan, enum rco_kind kind,
                                          const struct rco_meta *target, const char *finalizer)
{
    if (target->deletion || rco_meta_has_finalizer(target, finalizer))
        return NULL;
    return patch_finalizers(plan, kind, target, NULL, finalizer);
}

struct rco_action *rco_plan_remove_finalizer(struct rco_plan *plan, enum rco_kind kind,
                                             const struct rco_meta *target, const char *finalizer)
{
    if (!rco_meta_has_finalizer(target, finalizer))
        return NULL;
    return patch_finalizers(plan, kind, target, finalizer, NULL);
}

void rco_plan_requeue(struct rco_plan *plan, int64_t after_ns)
{
    if (after_ns < 1)
        after_ns = 1; /* 0 means that nothing was asked for */
    if (!plan->requeue_after_ns || after_ns < plan->requeue_after_ns)
        plan->requeue_after_ns = after_ns;
}
