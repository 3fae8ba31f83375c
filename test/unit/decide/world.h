/* A small world for decisions: objects as JSON trees, the observe functions of the program over
 * them, and an API server that carries plans out with uids, resourceVersions, generations and
 * finalizers. */
#ifndef RCO_TEST_DECIDE_WORLD_H
#define RCO_TEST_DECIDE_WORLD_H

#include "world_objects.h"

/* ---- observe ---- */

static inline const struct rco_namespace *world_namespace(struct world *w, const char *ns)
{
    return world_get(w, RCO_KIND_NAMESPACE, "", ns);
}

static inline const char *world_label(const struct world_object *o, const char *key)
{
    const struct rco_value *labels = tree_get(o->tree, "metadata.labels");
    return labels ? rco_value_text(labels, key) : NULL;
}

/* Objects of KIND that FIT accepts, as a list for an observed struct. */
static inline const void *const *world_list(struct world *w, enum rco_kind kind,
                                            bool (*fit)(const struct world_object *, const char *,
                                                        const char *),
                                            const char *x, const char *y, size_t *ret_n)
{
    const void **list = rco_arena_array(&w->a, w->n_objects + 1, sizeof(*list));
    size_t n = 0;
    for (size_t i = 0; i < w->n_objects; i++)
        if (!w->objects[i].gone && w->objects[i].kind == kind && fit(&w->objects[i], x, y))
            list[n++] = world_decode(w, &w->objects[i]);
    *ret_n = n;
    return list;
}

static inline bool fit_environment(const struct world_object *o, const char *ns, const char *env)
{
    return rco_streq(world_ns(o), ns) && rco_streq(tree_string(o->tree, "spec.environmentId"), env);
}

static inline bool fit_env_label(const struct world_object *o, const char *ns, const char *env)
{
    return rco_streq(world_ns(o), ns) && rco_streq(world_label(o, RCO_LABEL_ENVIRONMENT), env);
}

static inline bool fit_specification(const struct world_object *o, const char *ns, const char *name)
{
    return rco_streq(world_ns(o), ns) &&
           rco_streq(tree_string(o->tree, "spec.specificationRef.name"), name);
}

static inline bool fit_run_uid(const struct world_object *o, const char *ns, const char *uid)
{
    return rco_streq(world_ns(o), ns) && rco_streq(world_label(o, RCO_LABEL_RUN_UID), uid);
}

static inline bool fit_holder(const struct world_object *o, const char *uid, const char *unused)
{
    return rco_streq(tree_string(o->tree, "spec.holderIdentity"), uid);
}

static inline bool fit_engine_run(const struct world_object *o, const char *uid, const char *unused)
{
    const struct rco_value *ann = tree_get(o->tree, "metadata.annotations");
    return ann && rco_streq(rco_value_text(ann, RCO_ANNOTATION_CLAIM_ENGINE_RUN_UID), uid);
}

static inline bool fit_run_name(const struct world_object *o, const char *ns, const char *name)
{
    return rco_streq(world_ns(o), ns) && rco_streq(world_label(o, RCO_LABEL_RUN), name);
}

static inline bool fit_engine_run_name(const struct world_object *o, const char *ref,
                                       const char *unused)
{
    const struct rco_value *ann = tree_get(o->tree, "metadata.annotations");
    return ann && rco_streq(rco_value_text(ann, RCO_ANNOTATION_CLAIM_ENGINE_RUN), ref);
}

static inline bool fit_uid(const struct world_object *o, const char *uid, const char *unused)
{
    return rco_streq(tree_string(o->tree, "metadata.uid"), uid);
}

static inline struct world_outcomes *world_outcomes(struct world *w, enum rco_kind kind,
                                                    const char *ns, const char *name)
{
    char *key = rco_arena_printf(&w->a, "%d/%s/%s", kind, ns, name);
    for (size_t i = 0; i < w->n_outcomes; i++)
        if (rco_streq(w->outcomes[i].key, key))
            return &w->outcomes[i];
    assert_true(w->n_outcomes < RCO_ARRAY_LEN(w->outcomes));
    w->outcomes[w->n_outcomes] = (struct world_outcomes){.key = key};
    return &w->outcomes[w->n_outcomes++];
}

static inline struct rco_env_observed world_observe_env(struct world *w, const char *ns,
                                                        const char *name)
{
    char claim[RCO_NAME_SIZE];
    struct rco_env_observed o = {.config = &w->config};
    struct world_outcomes *outcomes = world_outcomes(w, RCO_KIND_ENV, ns, name);
    o.env = world_get(w, RCO_KIND_ENV, ns, name);
    o.ns = world_namespace(w, ns);
    o.outcomes = outcomes->items;
    o.n_outcomes = outcomes->n;
    memset(o.random, 0xa5, sizeof(o.random));
    if (!o.env)
        return o;
    const char *claim_name = rco_env_claim_name(o.env, claim);
    o.claim = world_get(w, RCO_KIND_PVC, ns, claim_name);
    o.specs = (const void *)world_list(w, RCO_KIND_DEPSPEC, fit_environment, ns, name, &o.n_specs);
    o.runs = (const void *)world_list(w, RCO_KIND_RUN, fit_environment, ns, name, &o.n_runs);
    return o;
}

static inline struct rco_depspec_observed world_observe_depspec(struct world *w, const char *ns,
                                                                const char *name)
{
    struct rco_depspec_observed o = {.config = &w->config};
    struct world_outcomes *outcomes = world_outcomes(w, RCO_KIND_DEPSPEC, ns, name);
    o.spec = world_get(w, RCO_KIND_DEPSPEC, ns, name);
    o.ns = world_namespace(w, ns);
    o.outcomes = outcomes->items;
    o.n_outcomes = outcomes->n;
    if (!o.spec)
        return o;
    const char *env = o.spec->spec.environment_id;
    o.tenant = world_get(w, RCO_KIND_TENANT, "", o.spec->spec.tenant_id);
    o.env = world_get(w, RCO_KIND_ENV, ns, env);
    o.configmaps =
        (const void *)world_list(w, RCO_KIND_CONFIGMAP, fit_env_label, ns, env, &o.n_configmaps);
    o.runs = (const void *)world_list(w, RCO_KIND_RUN, fit_specification, ns, name, &o.n_runs);
    o.claims = (const void *)world_list(w, RCO_KIND_LEASE, fit_holder, o.spec->metadata.uid, NULL,
                                        &o.n_claims);
    o.blocking_claim =
        world_get(w, RCO_KIND_LEASE, WORLD_OPERATOR_NS, o.spec->status.failure.blocked_by);
    if (o.blocking_claim) {
        size_t n;
        world_list(w, RCO_KIND_DEPSPEC, fit_uid, o.blocking_claim->spec.holder_identity, NULL, &n);
        o.blocking_holder_exists = n > 0;
    }
    return o;
}

static inline void world_observe_mailbox(struct world *w, const char *run,
                                         struct rco_mailbox_facts *m)
{
    struct rco_mailbox_start *starts = rco_arena_array(&w->a, 32, sizeof(*starts));
    struct rco_mailbox_receipt *receipts = rco_arena_array(&w->a, 32, sizeof(*receipts));
    for (size_t i = 0; i < w->n_starts; i++)
        if (w->starts[i].live && rco_streq(w->starts[i].run, run))
            starts[m->n_starts++] = w->starts[i].start;
    for (size_t i = 0; i < w->n_receipts; i++)
        if (w->receipts[i].live && rco_streq(w->receipts[i].run, run))
            receipts[m->n_receipts++] = w->receipts[i].receipt;
    m->starts = starts;
    m->receipts = receipts;
}

static inline void world_observe_pods(struct world *w, struct rco_run_observed *o)
{
    const struct rco_meta *meta = &o->run->metadata;
    o->jobs =
        (const void *)world_list(w, RCO_KIND_JOB, fit_run_uid, meta->ns, meta->uid, &o->n_jobs);
    o->pods =
        (const void *)world_list(w, RCO_KIND_POD, fit_run_uid, meta->ns, meta->uid, &o->n_pods);
    size_t n;
    const struct rco_pod *const *all = (const void *)world_list(
        w, RCO_KIND_POD, fit_env_label, meta->ns, o->run->spec.environment_id, &n);
    const struct rco_pod **rest = rco_arena_array(&w->a, n + 1, sizeof(*rest));
    for (size_t i = 0; i < n; i++)
        if (!rco_streq(rco_meta_label(&all[i]->metadata, RCO_LABEL_RUN_UID), meta->uid))
            rest[o->n_other_pods++] = all[i];
    o->other_pods = rest;
}

/* Nodes that the run's pods name. */
static inline void world_observe_nodes(struct world *w, struct rco_run_observed *o)
{
    const char **fenced = rco_arena_array(&w->a, o->n_pods + 1, sizeof(*fenced));
    const char **gone = rco_arena_array(&w->a, o->n_pods + 1, sizeof(*gone));
    for (size_t i = 0; i < o->n_pods; i++) {
        const char *name = o->pods[i]->spec.node_name;
        const struct rco_node *node = world_get(w, RCO_KIND_NODE, "", name);
        if (name && !node)
            gone[o->n_gone_nodes++] = name;
        else if (name && rco_node_is_fenced(node))
            fenced[o->n_fenced_nodes++] = name;
    }
    o->fenced_nodes = fenced;
    o->gone_nodes = gone;
}

static inline void world_observe_leftovers(struct world *w, struct rco_run_observed *o,
                                           const char *ns, const char *name)
{
    size_t n;
    o->jobs = (const void *)world_list(w, RCO_KIND_JOB, fit_run_name, ns, name, &o->n_jobs);
    o->pods = (const void *)world_list(w, RCO_KIND_POD, fit_run_name, ns, name, &o->n_pods);
    o->engine_claims = (const void *)world_list(w, RCO_KIND_LEASE, fit_engine_run_name,
                                                rco_arena_printf(&w->a, "%s/%s", ns, name), NULL,
                                                &o->n_engine_claims);
    const void *const *anchors = world_list(w, RCO_KIND_CONFIGMAP, fit_run_name, ns, name, &n);
    o->anchor = n ? anchors[0] : NULL;
}

static inline struct rco_run_observed world_observe_run(struct world *w, const char *ns,
                                                        const char *name)
{
    char text[RCO_NAME_SIZE];
    size_t n;
    struct rco_run_observed o = {.config = &w->config};
    struct world_outcomes *outcomes = world_outcomes(w, RCO_KIND_RUN, ns, name);
    o.run = world_get(w, RCO_KIND_RUN, ns, name);
    o.outcomes = outcomes->items;
    o.n_outcomes = outcomes->n;
    world_observe_mailbox(w, name, &o.mailbox);
    if (!o.run) {
        world_observe_leftovers(w, &o, ns, name);
        world_observe_nodes(w, &o);
        return o;
    }
    const struct rco_meta *meta = &o.run->metadata;
    o.spec = world_get(w, RCO_KIND_DEPSPEC, ns, o.run->spec.specification_ref.name);
    o.env = world_get(w, RCO_KIND_ENV, ns, o.run->spec.environment_id);
    world_observe_pods(w, &o);
    world_observe_nodes(w, &o);
    rco_name_anchor(meta->uid, text);
    o.anchor = world_get(w, RCO_KIND_CONFIGMAP, ns, text);
    const char *project = o.mailbox.n_starts && o.mailbox.starts[0].request
                              ? o.mailbox.starts[0].request->project
                              : NULL;
    if (rco_run_claim_name(o.run, project, text))
        o.claim = world_get(w, RCO_KIND_LEASE, WORLD_OPERATOR_NS, text);
    if (o.claim) {
        world_list(w, RCO_KIND_DEPSPEC, fit_uid, o.claim->spec.holder_identity, NULL, &n);
        o.claim_holder_exists = n > 0;
    }
    o.held_claims = (const void *)world_list(w, RCO_KIND_LEASE, fit_holder,
                                             o.run->spec.specification_id, NULL, &o.n_held_claims);
    o.engine_claims = (const void *)world_list(w, RCO_KIND_LEASE, fit_engine_run, meta->uid, NULL,
                                               &o.n_engine_claims);
    const struct rco_run *const *all = (const void *)world_list(w, RCO_KIND_RUN, fit_environment,
                                                                ns, o.run->spec.environment_id, &n);
    const struct rco_run **rest = rco_arena_array(&w->a, n + 1, sizeof(*rest));
    for (size_t i = 0; i < n; i++)
        if (all[i] != o.run)
            rest[o.n_others++] = all[i];
    o.others = rest;
    return o;
}

/* ---- decide and execute ---- */

static inline void world_decide(struct world *w, enum rco_kind kind, const char *ns,
                                const char *name)
{
    rco_plan_init(&w->plan, &w->a);
    if (kind == RCO_KIND_ENV) {
        struct rco_env_observed o = world_observe_env(w, ns, name);
        rco_env_decide(&o, w->now, &w->plan);
    } else if (kind == RCO_KIND_DEPSPEC) {
        struct rco_depspec_observed o = world_observe_depspec(w, ns, name);
        rco_depspec_decide(&o, w->now, &w->plan);
    } else {
        struct rco_run_observed o = world_observe_run(w, ns, name);
        rco_run_decide(&o, w->now, &w->plan);
    }
}

static inline void world_outcome(struct world *w, struct world_outcomes *out,
                                 enum rco_outcome_type type, const struct rco_action *action,
                                 const char *uid, const char *message)
{
    assert_true(out->n < RCO_ARRAY_LEN(out->items));
    out->items[out->n++] = (struct rco_outcome){
        .type = type, .kind = action->kind, .name = action->name, .uid = uid, .message = message};
}

static inline bool world_refuses(const struct world *w, const struct rco_action *action)
{
    for (size_t i = 0; i < RCO_ARRAY_LEN(w->refuse) && w->refuse[i]; i++) {
        const char *kind = rco_kind_info(action->kind)->kind;
        size_t n = strlen(kind);
        if (strncmp(w->refuse[i], kind, n) == 0 && w->refuse[i][n] == '/' &&
            rco_str_has_prefix(action->name, w->refuse[i] + n + 1))
            return true;
    }
    return false;
}

/* A delete with a body is one of what is the same. False: the plan stops here. */
static inline bool world_remove(struct world *w, const struct rco_action *action,
                                struct world_outcomes *out)
{
    struct world_object *o = world_find(w, action->kind, action->ns, action->name);
    if (o && action->body && !rco_streq(o->sent, action->body)) {
        world_outcome(w, out, RCO_OUTCOME_FOREIGN, action, tree_string(o->tree, "metadata.uid"),
                      "spec: differs");
        return false;
    }
    if (!o || !rco_streq(tree_string(o->tree, "metadata.uid"), action->uid))
        return false;
    world_delete(w, o);
    return true;
}

/* False: the plan stops here. */
static inline bool world_create(struct world *w, const struct rco_action *action,
                                struct world_outcomes *out)
{
    struct world_object *o = world_find(w, action->kind, action->ns, action->name);
    if (!o && world_refuses(w, action)) {
        world_outcome(w, out, RCO_OUTCOME_REFUSED, action, NULL, w->refuse_message);
        return false;
    }
    if (!o) {
        o = world_add(w, action->kind, tree_parse_n(&w->a, action->body, action->body_len));
        o->sent = action->body;
        assert_string_equal(world_name(o), action->name);
        world_outcome(w, out, RCO_OUTCOME_CREATED, action, tree_string(o->tree, "metadata.uid"),
                      NULL);
        return true;
    }
    if (action->exists == RCO_EXISTS_OK)
        return true;
    if (action->exists == RCO_EXISTS_REPORT) {
        world_outcome(w, out, RCO_OUTCOME_EXISTS, action, NULL, "exists");
        return false;
    }
    if (rco_streq(o->sent, action->body)) {
        world_outcome(w, out, RCO_OUTCOME_SAME, action, tree_string(o->tree, "metadata.uid"), NULL);
        return true;
    }
    world_outcome(w, out, RCO_OUTCOME_FOREIGN, action, NULL, "spec: differs");
    return false;
}

static inline bool world_patch(struct world *w, const struct rco_action *action)
{
    struct world_object *o = world_find(w, action->kind, action->ns, action->name);
    struct rco_value *patch = tree_parse_n(&w->a, action->body, action->body_len);
    const char *rv = tree_string(patch, "metadata.resourceVersion");
    assert_non_null(rv);
    if (!o || !rco_streq(rv, tree_string(o->tree, "metadata.resourceVersion")))
        return false;
    bool run = action->kind == RCO_KIND_RUN;
    const void *before = run ? world_decode_whole(w, o) : NULL;
    bool status = action->type == RCO_ACTION_PATCH_STATUS;
    char *old = tree_text(&w->a, o->tree);
    if (status) {
        const struct rco_value *s = rco_value_get(patch, "status");
        assert_non_null(s);
        tree_put(&w->a, o->tree, "status",
                 tree_merge(&w->a, (struct rco_value *)rco_value_get(o->tree, "status"), s));
    } else {
        tree_put(&w->a, (struct rco_value *)rco_value_get(patch, "metadata"), "resourceVersion",
                 NULL);
        tree_merge(&w->a, o->tree, patch);
    }
    if (strcmp(old, tree_text(&w->a, o->tree)) == 0)
        fail_msg("row %s: a patch of %s that changes nothing", w->plan.row, action->name);
    world_touch(w, o);
    if (status && run && w->transition)
        w->transition(w, before, world_decode_whole(w, o));
    if (!world_has_finalizers(o) && tree_get(o->tree, "metadata.deletionTimestamp")) {
        o->gone = true;
        world_collect(w, o);
    }
    return true;
}

static inline void world_answer(struct world *w, const struct rco_action *action)
{
    assert_true(w->n_replies < RCO_ARRAY_LEN(w->replies));
    w->replies[w->n_replies++] =
        (struct world_reply){action->mailbox, action->http_status, action->body};
    for (size_t i = 0; i < w->n_starts; i++)
        if (w->starts[i].start.exchange == action->mailbox)
            w->starts[i].live = false;
    for (size_t i = 0; i < w->n_receipts; i++)
        if (w->receipts[i].receipt.exchange == action->mailbox)
            w->receipts[i].live = false;
}

/* Carries w->plan out for the key; whether anything was done. */
static inline bool world_execute(struct world *w, enum rco_kind kind, const char *ns,
                                 const char *name)
{
    struct world_outcomes fresh = {0};
    struct world_outcomes *kept = world_outcomes(w, kind, ns, name);
    bool done = true, any = false;
    if (getenv("RCO_TEST_TRACE") && w->plan.n_actions)
        for (const struct rco_action *x = w->plan.first; x; x = x->next)
            printf("%-18s %d %d %s %.200s\n", w->plan.row, x->type, x->kind, x->name ? x->name : "",
                   x->body   ? x->body
                   : x->note ? x->note
                             : "");
    for (const struct rco_action *x = w->plan.first; x && done; x = x->next) {
        any |= x->type != RCO_ACTION_EVENT;
        switch (x->type) {
        case RCO_ACTION_CREATE:
            done = world_create(w, x, &fresh);
            w->writes++;
            break;
        case RCO_ACTION_PATCH:
        case RCO_ACTION_PATCH_STATUS:
            done = world_patch(w, x);
            w->writes++;
            break;
        case RCO_ACTION_DELETE:
            done = world_remove(w, x, &fresh);
            w->writes++;
            break;
        case RCO_ACTION_ABSENT:
        case RCO_ACTION_CURRENT:
            break; /* nothing lags behind in this world */
        case RCO_ACTION_EVENT:
            w->events++;
            break;
        case RCO_ACTION_REPLY:
            world_answer(w, x);
            break;
        }
    }
    const char *key = kept->key;
    struct world_outcomes all = done ? (struct world_outcomes){.key = key} : *kept;
    for (size_t i = 0; i < fresh.n; i++) {
        size_t at = all.n;
        for (size_t k = 0; k < all.n; k++)
            if (all.items[k].kind == fresh.items[i].kind &&
                rco_streq(all.items[k].name, fresh.items[i].name))
                at = k;
        all.items[at] = fresh.items[i];
        all.n += at == all.n;
    }
    *kept = all;
    return any || fresh.n;
}

/* Decides and executes all keys until nothing changes; fails when it does not come to rest. */
static inline void world_settle(struct world *w)
{
    static const enum rco_kind kinds[] = {RCO_KIND_ENV, RCO_KIND_DEPSPEC, RCO_KIND_RUN};
    for (unsigned round = 0; round < 60; round++) {
        bool any = false;
        for (size_t k = 0; k < RCO_ARRAY_LEN(kinds); k++)
            for (size_t i = 0; i < w->n_objects; i++) {
                if (w->objects[i].gone || w->objects[i].kind != kinds[k])
                    continue;
                const char *ns = world_ns(&w->objects[i]), *name = world_name(&w->objects[i]);
                world_decide(w, kinds[k], ns, name);
                any |= world_execute(w, kinds[k], ns, name);
            }
        for (size_t i = 0; i < w->n_objects; i++) { /* a deleted run's key, and its objects' */
            if (!w->objects[i].gone || w->objects[i].kind != RCO_KIND_RUN)
                continue;
            const char *ns = world_ns(&w->objects[i]), *name = world_name(&w->objects[i]);
            if (world_find(w, RCO_KIND_RUN, ns, name))
                continue;
            world_decide(w, RCO_KIND_RUN, ns, name);
            any |= world_execute(w, RCO_KIND_RUN, ns, name);
        }
        if (!any)
            return;
    }
    fail_msg("no fixed point: the last row was %s", w->plan.row);
}

#endif
