/* What a decision asks for. Decide functions fill a plan; the executor (pkg/runtime) carries it out
 * in order, stops at the first failure and requeues. Nothing else writes to the API server. */
#ifndef RCO_PLAN_PLAN_H
#define RCO_PLAN_PLAN_H

#include "api/kinds.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/time.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum rco_action_type {
    RCO_ACTION_CREATE,       /* POST body */
    RCO_ACTION_PATCH,        /* merge patch of the object, with resourceVersion inside the body */
    RCO_ACTION_PATCH_STATUS, /* merge patch of the status subresource, likewise */
    RCO_ACTION_DELETE,       /* with UID precondition; propagationPolicy Background. With a body only
                                when a live GET shows the object to be what the body says */
    RCO_ACTION_ABSENT,       /* live GET: the plan goes on only when nothing with this uid is there */
    RCO_ACTION_CURRENT,      /* live GET: the plan goes on only when the object has this version */
    RCO_ACTION_EVENT,        /* events.k8s.io/v1, best effort, never stops a plan */
    RCO_ACTION_REPLY         /* answer of a waiting gateway exchange, after the writes before it */
};

/* What a create does when the name is taken (design 1.7). */
enum rco_exists_policy {
    RCO_EXISTS_REPORT,  /* tell the next observe of this key: created / exists, with the uid */
    RCO_EXISTS_COMPARE, /* live GET and compare with what was sent: same or foreign, then report */
    RCO_EXISTS_OK       /* content-addressed: taken counts as written */
};

struct rco_action {
    enum rco_action_type type;
    enum rco_kind kind;
    const char *ns; /* NULL for cluster scope */
    const char *name;
    const char *uid;              /* delete: precondition; patches: of the target */
    const char *resource_version; /* patches: what the patch was computed from */
    const char *body;             /* JSON text */
    size_t body_len;
    enum rco_exists_policy exists;
    /* event */
    const char *event_type; /* "Normal" or "Warning" */
    const char *reason;
    const char *note;
    const char *regarding_uid;
    /* reply */
    uint64_t mailbox; /* id of the waiting exchange */
    int http_status;
    struct rco_action *next;
};

struct rco_plan {
    struct rco_arena *arena; /* owner of everything below; outlives the plan */
    struct rco_action *first, **tail;
    size_t n_actions;
    int64_t requeue_after_ns; /* 0 = none; the smallest asked for wins */
    const char *row;          /* name of the decision row that fired, for logs and tests */
};

/* An empty plan whose actions live in ARENA. */
void rco_plan_init(struct rco_plan *plan, struct rco_arena *arena);

/* Each copies its arguments into the plan's arena. */
struct rco_action *rco_plan_create(struct rco_plan *plan, enum rco_kind kind, const char *ns,
                                   const char *name, const struct rco_buf *body,
                                   enum rco_exists_policy exists);
/* PATCH is a merge patch without resourceVersion (an object's text); it is added here. */
struct rco_action *rco_plan_patch(struct rco_plan *plan, enum rco_kind kind,
                                  const struct rco_meta *target, const struct rco_buf *patch);
/* Compares OLD and NEW status structs (schema of the kind's status) and adds a status patch only
 * when they differ; returns NULL when equal. */
struct rco_action *rco_plan_patch_status(struct rco_plan *plan, enum rco_kind kind,
                                         const struct rco_meta *target, const void *old_status,
                                         const void *new_status);
struct rco_action *rco_plan_delete(struct rco_plan *plan, enum rco_kind kind,
                                   const struct rco_meta *target);
/* The same, of what stands under a name of ours without being recorded: it is deleted only when a
 * live GET shows that it is what BODY says, apart from the API server's defaults. Otherwise it stays
 * and the outcome is RCO_OUTCOME_FOREIGN. */
struct rco_action *rco_plan_delete_same(struct rco_plan *plan, enum rco_kind kind,
                                        const struct rco_meta *target, const struct rco_buf *body);
/* What follows is done only when the API server itself says that NAME with UID is gone: a cache that
 * lags behind shows the same (A78, "live GET before disruptive acts"). Otherwise the plan ends as a
 * conflict, and the key waits until the caches show what is there. An object that carries no mark
 * of ours any more, so that no cache will ever show it, counts as gone. */
struct rco_action *rco_plan_require_absent(struct rco_plan *plan, enum rco_kind kind,
                                           const char *ns, const char *name, const char *uid);
/* What follows is done only when the API server shows TARGET at the version that was decided on, for
 * effects that carry no precondition on it. Otherwise as above. */
struct rco_action *rco_plan_require_current(struct rco_plan *plan, enum rco_kind kind,
                                            const struct rco_meta *target);
struct rco_action *rco_plan_event(struct rco_plan *plan, enum rco_kind kind,
                                  const struct rco_meta *regarding, const char *type,
                                  const char *reason, const char *note);
struct rco_action *rco_plan_reply(struct rco_plan *plan, uint64_t mailbox, int http_status,
                                  const struct rco_buf *body);
/* Adds or removes one finalizer of ours by a patch of the whole list (with resourceVersion). No-ops
 * add nothing and return NULL; so does adding to an object that is being deleted, which no server
 * allows. */
struct rco_action *rco_plan_add_finalizer(struct rco_plan *plan, enum rco_kind kind,
                                          const struct rco_meta *target, const char *finalizer);
struct rco_action *rco_plan_remove_finalizer(struct rco_plan *plan, enum rco_kind kind,
                                             const struct rco_meta *target, const char *finalizer);
/* The key is reconciled again after AFTER_NS at the latest. */
void rco_plan_requeue(struct rco_plan *plan, int64_t after_ns);

/* What earlier creates (and deletes with a body) of the same key came to; part of the next snapshot. */
enum rco_outcome_type {
    RCO_OUTCOME_CREATED,
    RCO_OUTCOME_EXISTS,  /* REPORT policy: taken, uid unknown to us */
    RCO_OUTCOME_SAME,    /* COMPARE: the object is the one we would have made; uid known */
    RCO_OUTCOME_FOREIGN, /* COMPARE: something else stands under our name; message says what differs
                          */
    RCO_OUTCOME_REFUSED  /* 403 or 422; message of the server (quota, Pod Security, admission) */
};

struct rco_outcome {
    enum rco_outcome_type type;
    enum rco_kind kind;
    const char *name;
    const char *uid;     /* or NULL */
    const char *message; /* or NULL */
};

#endif
