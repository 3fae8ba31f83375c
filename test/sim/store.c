/* Objects with revisions, as etcd and the generic registry of the API server keep them. */
#include "refusal.h"

#include "schema.h"

#include "api/labels.h"
#include "base/sha256.h"
#include "runtime/selector.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define FOREGROUND "foregroundDeletion"
#define GRACE "metadata|deletionGracePeriodSeconds"

/* --- index of live objects --- */

/* As the storage sorts keys "namespace/name": the slash takes part. */
static int compare(const struct sim_version *v, const char *ns, const char *name)
{
    const char *x = v->ns, *y = ns;

    while (*x && *x == *y) {
        x++;
        y++;
    }
    if (!*x && !*y)
        return strcmp(v->name, name);
    return (unsigned char)(*x ? *x : '/') - (unsigned char)(*y ? *y : '/');
}

static size_t position(const struct sim_kind *k, const char *ns, const char *name, bool *ret_found)
{
    size_t lo = 0, hi = k->n_live;

    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        int c = compare(k->live[mid], ns, name);

        if (c == 0) {
            *ret_found = true;
            return mid;
        }
        if (c < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    *ret_found = false;
    return lo;
}

const struct sim_version *sim_get(struct sim *s, enum rco_kind kind, const char *ns,
                                  const char *name)
{
    bool found;
    size_t at = position(&s->kinds[kind], rco_str_or_empty(ns), rco_str_or_empty(name), &found);

    return found ? s->kinds[kind].live[at] : NULL;
}

static void put_live(struct sim_kind *k, const struct sim_version *v)
{
    bool found;
    size_t at = position(k, v->ns, v->name, &found);

    if (found) {
        k->live[at] = v;
        return;
    }
    if (k->n_live == k->cap_live) {
        k->cap_live = k->cap_live ? 2 * k->cap_live : 16;
        k->live = rco_realloc(k->live, k->cap_live * sizeof *k->live);
    }
    memmove(k->live + at + 1, k->live + at, (k->n_live - at) * sizeof *k->live);
    k->live[at] = v;
    k->n_live++;
}

static void drop_live(struct sim_kind *k, const struct sim_version *v)
{
    bool found;
    size_t at = position(k, v->ns, v->name, &found);

    if (!found)
        return;
    k->n_live--;
    memmove(k->live + at, k->live + at + 1, (k->n_live - at) * sizeof *k->live);
}

/* --- commit --- */

static bool is_background(const struct sim_version *v)
{
    return v->kind == RCO_KIND_EVENT ||
           (v->kind == RCO_KIND_LEASE && strncmp(v->name, "rco-claim-", 10) != 0);
}

static void describe(struct sim *s, int actor, const struct sim_change *c)
{
    const struct sim_version *v = c->now ? c->now : c->before;
    const char *state = sim_tree_str(v->tree, "status|state");
    const char *phase = sim_tree_str(v->tree, "status|phase");
    char who[32];

    if (actor >= SIM_OPERATOR)
        snprintf(who, sizeof who, "operator%d", actor - SIM_OPERATOR);
    else
        snprintf(who, sizeof who, "%s", actor == SIM_USER ? "user" : "cluster");
    sim_trace(s, "%s %s %s %s/%s rv=%" PRId64 "%s%s%s%s%s", who,
              !c->before ? "creates"
              : !c->now  ? "removes"
                         : "changes",
              rco_kind_info(v->kind)->kind, v->ns, v->name, c->rv, state ? " state=" : "",
              rco_str_or_empty(state), phase ? " phase=" : "", rco_str_or_empty(phase),
              sim_tree_get(v->tree, "metadata|deletionTimestamp") ? " deleting" : "");
}

static void commit(struct sim *s, int actor, const struct sim_version *before,
                   const struct sim_version *now)
{
    const struct sim_version *v = now ? now : before;
    struct sim_kind *k = &s->kinds[v->kind];
    struct sim_change change = {
        .rv = s->revision, .at = s->now, .actor = actor, .before = before, .now = now};

    if (k->n_history == k->cap_history) {
        k->cap_history = k->cap_history ? 2 * k->cap_history : 64;
        k->history = rco_realloc(k->history, k->cap_history * sizeof *k->history);
    }
    k->history[k->n_history++] = change;
    if (now)
        put_live(k, now);
    else
        drop_live(k, before);
    describe(s, actor, &change);
    if (!is_background(v)) {
        s->last_change = s->now;
        s->operator_changes += actor >= SIM_OPERATOR;
    }
    sim_oracle_changed(s, actor, &change);
    sim_links_notify(s, v->kind);
    sim_cluster_changed(s, &change);
    s->poked = true;
}

/* A new revision of an object. */
static struct sim_version *revise(struct sim *s, enum rco_kind kind, const char *ns,
                                  const char *name, const struct rco_value *tree)
{
    struct sim_version *v = RCO_NEW(&s->arena, struct sim_version);

    v->rv = ++s->revision;
    v->kind = kind;
    v->ns = ns;
    v->name = name;
    v->tree =
        sim_tree_set(&s->arena, tree, "metadata|resourceVersion",
                     sim_tree_string(&s->arena, rco_arena_printf(&s->arena, "%" PRId64, v->rv)));
    v->uid = sim_tree_str(v->tree, "metadata|uid");
    return v;
}

const char *sim_text(struct sim *s, const struct sim_version *v, size_t *ret_len)
{
    struct sim_version *w = (struct sim_version *)v;

    if (!w->text) {
        rco_autobuf out = RCO_BUF_INIT;

        rco_value_write(w->tree, &out);
        w->len = out.len;
        w->text = rco_arena_strndup(&s->arena, rco_buf_str(&out), out.len);
    }
    *ret_len = w->len;
    return w->text;
}

/* --- create --- */

/* A uid that follows from kind, name and how often the name was used: the same objects have the
 * same uids in runs that differ in nothing but their faults. */
const char *sim_uid_of(struct sim *s, enum rco_kind kind, const char *ns, const char *name,
                       unsigned n)
{
    rco_autofree char *key = rco_asprintf("%d/%s/%s", kind, ns, name);
    uint64_t a = rco_hash(key, strlen(key), n), b = rco_hash(key, strlen(key), n + 1000);

    return rco_arena_printf(&s->arena, "%08x-%04x-4%03x-8%03x-%012llx", (unsigned)(a >> 32),
                            (unsigned)(a >> 16 & 0xffff), (unsigned)(a & 0xfff),
                            (unsigned)(b & 0xfff), (unsigned long long)(b >> 16));
}

static const char *make_uid(struct sim *s, enum rco_kind kind, const char *ns, const char *name)
{
    rco_autofree char *key = rco_asprintf("%d/%s/%s", kind, ns, name);
    uintptr_t n = (uintptr_t)rco_map_get(&s->incarnations, key) + 1;

    rco_map_set(&s->incarnations, key, (void *)n);
    return sim_uid_of(s, kind, ns, name, (unsigned)n);
}

static bool is_terminating(struct sim *s, const char *ns)
{
    const struct sim_version *v = sim_get(s, RCO_KIND_NAMESPACE, "", ns);

    return v && sim_tree_get(v->tree, "metadata|deletionTimestamp");
}

/* Kinds that the server counts generations of. */
static bool has_generation(enum rco_kind kind)
{
    return sim_schema_of(kind) || kind == RCO_KIND_JOB || kind == RCO_KIND_POD;
}

/* The name that BODY has, or gets. */
static const char *name_of(struct sim *s, const struct rco_value *body)
{
    const char *name = sim_tree_str(body, "metadata|name");
    const char *prefix = sim_tree_str(body, "metadata|generateName");

    if (!rco_str_empty(name) || rco_str_empty(prefix))
        return rco_str_or_empty(name);
    return rco_arena_printf(&s->arena, "%s%05x", prefix, (unsigned)(sim_random(s) & 0xfffff));
}

/* Code 0: it may go on. */
static struct sim_answer check_place(struct sim *s, enum rco_kind kind, const char *ns,
                                     const char *name, const struct rco_value *body)
{
    const struct rco_kind_info *info = rco_kind_info(kind);
    const struct sim_version *old = sim_get(s, kind, ns, name);
    const char *other = sim_tree_str(body, "metadata|namespace");

    if (info->namespaced && other && strcmp(other, ns) != 0)
        return sim_refuse(s, 400, "BadRequest",
                          "the namespace of the provided object does not match the namespace sent "
                          "on the request");
    if (info->namespaced && !sim_get(s, RCO_KIND_NAMESPACE, "", ns))
        return sim_not_found(s, RCO_KIND_NAMESPACE, ns);
    if (info->namespaced && is_terminating(s, ns)) {
        struct sim_answer a = sim_refuse_of(
            s, kind, name, 403, "Forbidden",
            "%s \"%s\" is forbidden: unable to create new content in namespace %s because it is "
            "being terminated",
            sim_plural_of(&s->arena, kind), name, ns);
        struct sim_causes causes = {0};

        sim_cause_add(&s->arena, &causes, "NamespaceTerminating", "metadata.namespace",
                      "namespace %s is being terminated", ns);
        a.causes = causes.first;
        return a;
    }
    if (sim_tree_str(body, "metadata|resourceVersion"))
        return sim_refuse(s, 500, "", "resourceVersion should not be set on objects to be created");
    if (old)
        return sim_refuse_of(s, kind, name, 409, "AlreadyExists", "%s%s \"%s\" already exists",
                             sim_tree_get(old->tree, "metadata|deletionTimestamp")
                                 ? "object is being deleted: "
                                 : "",
                             sim_plural_of(&s->arena, kind), name);
    return (struct sim_answer){0};
}

/* BODY with what is the server's. */
static const struct rco_value *stamped(struct sim *s, enum rco_kind kind, const char *ns,
                                       const char *name, const struct rco_value *body)
{
    const struct rco_kind_info *info = rco_kind_info(kind);
    struct rco_arena *a = &s->arena;
    const struct rco_value *tree = body;
    char version[128];

    rco_kind_api_version(kind, version);
    if (!sim_tree_str(tree, "kind"))
        tree = sim_tree_set(a, tree, "kind", sim_tree_string(a, info->kind));
    if (!sim_tree_str(tree, "apiVersion"))
        tree = sim_tree_set(a, tree, "apiVersion", sim_tree_string(a, version));
    if (info->namespaced)
        tree = sim_tree_set(a, tree, "metadata|namespace", sim_tree_string(a, ns));
    tree = sim_tree_set(a, tree, "metadata|uid", sim_tree_string(a, make_uid(s, kind, ns, name)));
    tree = sim_tree_set(a, tree, "metadata|creationTimestamp", sim_tree_string(a, sim_time(s)));
    tree = sim_tree_set(a, tree, "metadata|deletionTimestamp", NULL);
    tree = sim_tree_set(a, tree, GRACE, NULL);
    tree = sim_tree_set(a, tree, "metadata|generation",
                        has_generation(kind) ? sim_tree_number(a, 1) : NULL);
    return sim_admit_identity(s, kind, tree);
}

struct sim_answer sim_create(struct sim *s, int actor, enum rco_kind kind, const char *ns,
                             const struct rco_value *body)
{
    struct rco_arena *a = &s->arena;
    const char *name = name_of(s, body);
    struct sim_causes causes = {0};
    struct sim_answer refusal;
    const struct rco_value *tree;
    struct sim_version *v;

    ns = rco_kind_info(kind)->namespaced ? rco_arena_strdup(a, ns) : "";
    if (rco_str_empty(name)) {
        sim_cause_add(a, &causes, "FieldValueRequired", "metadata.name",
                      "Required value: name or generateName is required");
        return sim_invalid(s, kind, "", causes.first);
    }
    body = sim_tree_set(a, body, "metadata|name", sim_tree_string(a, name));
    refusal = check_place(s, kind, ns, name, body);
    if (refusal.code)
        return refusal;
    tree = sim_admit_create(s, kind, body, &causes);
    if (causes.n)
        return sim_invalid(s, kind, name, causes.first);
    v = revise(s, kind, ns, rco_arena_strdup(a, name), stamped(s, kind, ns, name, tree));
    v->bare = sim_schema_of(kind) && sim_tree_get(tree, "status");
    commit(s, actor, NULL, v);
    return (struct sim_answer){.code = 201, .v = v};
}

/* --- end of life --- */

static bool has_finalizers(const struct rco_value *tree)
{
    const struct rco_value *list = sim_tree_get(tree, "metadata|finalizers");

    return list && list->len > 0;
}

static bool is_over(enum rco_kind kind, const struct rco_value *tree)
{
    return sim_tree_get(tree, "metadata|deletionTimestamp") && !has_finalizers(tree) &&
           !(kind == RCO_KIND_NAMESPACE && sim_tree_get(tree, "spec|finalizers")) &&
           (kind != RCO_KIND_POD || sim_tree_int(tree, GRACE, -1) == 0);
}

/* --- update --- */

bool sim_has_status(enum rco_kind kind)
{
    switch (kind) {
    case RCO_KIND_LEASE:
    case RCO_KIND_CONFIGMAP:
    case RCO_KIND_SECRET:
    case RCO_KIND_EVENT:
        return false;
    default:
        return true;
    }
}

/* Equal apart from what the server itself changes; shared parts are not looked at. */
static bool same(const struct rco_value *x, const struct rco_value *y)
{
    if (!x || !y)
        return x == y;
    if (x->type != y->type || x->len != y->len || x->boolean != y->boolean)
        return false;
    if (x->type == RCO_VALUE_STRING || x->type == RCO_VALUE_NUMBER)
        return x->text == y->text || strcmp(x->text, y->text) == 0;
    if (x->first == y->first)
        return true;
    for (const struct rco_value *p = x->first, *q = y->first; p; p = p->next, q = q->next) {
        const struct rco_value *other = x->type == RCO_VALUE_OBJECT ? rco_value_get(y, p->key) : q;

        if (!other || !same(p, other))
            return false;
    }
    return true;
}

/* No member instead of an empty list or map, as the server stores it. */
static const struct rco_value *tidy(struct rco_arena *a, const struct rco_value *tree)
{
    static const char *const paths[] = {"metadata|finalizers", "metadata|ownerReferences",
                                        "metadata|labels", "metadata|annotations"};

    for (size_t i = 0; i < RCO_ARRAY_LEN(paths); i++) {
        const struct rco_value *v = sim_tree_get(tree, paths[i]);

        if (v && v->len == 0)
            tree = sim_tree_set(a, tree, paths[i], NULL);
    }
    return tree;
}

static bool counts_as_new_generation(enum rco_kind kind, const struct rco_value *old,
                                     const struct rco_value *now)
{
    return has_generation(kind) && kind != RCO_KIND_POD &&
           !same(sim_tree_get(old, "spec"), sim_tree_get(now, "spec"));
}

static const struct rco_value *next_generation(struct rco_arena *a, const struct rco_value *tree)
{
    return sim_tree_set(a, tree, "metadata|generation",
                        sim_tree_number(a, sim_tree_int(tree, "metadata|generation", 0) + 1));
}

static const struct rco_value *updated(struct sim *s, const struct sim_version *old,
                                       enum sim_write how, const struct rco_value *body)
{
    struct rco_arena *a = &s->arena;
    static const char *const fixed[] = {"apiVersion",
                                        "kind",
                                        "metadata|name",
                                        "metadata|namespace",
                                        "metadata|uid",
                                        "metadata|generation",
                                        "metadata|creationTimestamp",
                                        "metadata|deletionTimestamp",
                                        GRACE,
                                        "metadata|resourceVersion"};
    const struct rco_value *tree =
        how == SIM_WRITE_UPDATE ? body : sim_tree_merge(a, old->tree, body);

    if (how == SIM_WRITE_STATUS)
        return sim_admit_fill(s, old->kind,
                              sim_tree_set(a, old->tree, "status", sim_tree_get(tree, "status")));
    for (size_t i = 0; i < RCO_ARRAY_LEN(fixed); i++)
        tree = sim_tree_set(a, tree, fixed[i], sim_tree_get(old->tree, fixed[i]));
    if (sim_has_status(old->kind))
        tree = sim_tree_set(a, tree, "status", sim_tree_get(old->tree, "status"));
    tree = tidy(a, sim_admit_fill(s, old->kind, tree));
    return counts_as_new_generation(old->kind, old->tree, tree) ? next_generation(a, tree) : tree;
}

/* What a write names must be what it is sent to. Code 0: it is. */
static struct sim_answer check_identity(struct sim *s, const struct sim_version *old,
                                        const struct rco_value *body)
{
    const char *name = sim_tree_str(body, "metadata|name");
    const char *rv = sim_tree_str(body, "metadata|resourceVersion");
    const char *uid = sim_tree_str(body, "metadata|uid");
    struct sim_causes causes = {0};

    if (name && strcmp(name, old->name) != 0)
        return sim_refuse(s, 400, "BadRequest",
                          "the name of the object (%s) does not match the name on the URL (%s)",
                          name, old->name);
    if (!rco_str_empty(rv) && strtoll(rv, NULL, 10) != old->rv)
        return sim_refuse_of(s, old->kind, old->name, 409, "Conflict",
                             "Operation cannot be fulfilled on %s \"%s\": the object has been "
                             "modified; please apply your changes to the latest version and try "
                             "again",
                             sim_plural_of(&s->arena, old->kind), old->name);
    if (uid && strcmp(uid, old->uid) != 0) {
        sim_cause_add(&s->arena, &causes, "FieldValueInvalid", "metadata.uid",
                      "Invalid value: \"%s\": field is immutable", uid);
        return sim_invalid(s, old->kind, old->name, causes.first);
    }
    return (struct sim_answer){0};
}

/* The end of an object: the answer shows the version before, watches see the new one. */
static struct sim_answer finish(struct sim *s, int actor, const struct sim_version *old,
                                const struct rco_value *tree)
{
    struct sim_version *last = rco_arena_memdup(&s->arena, old, sizeof *old);

    last->tree = tree;
    last->text = last->item = NULL;
    commit(s, actor, revise(s, old->kind, old->ns, old->name, tree), NULL);
    return (struct sim_answer){.code = 200, .v = last};
}

struct sim_answer sim_write(struct sim *s, int actor, enum rco_kind kind, const char *ns,
                            const char *name, enum sim_write how, const struct rco_value *body)
{
    const struct sim_version *old = sim_get(s, kind, ns, name);
    struct sim_causes causes = {0};
    struct sim_answer refusal;
    const struct rco_value *tree;
    struct sim_version *v;

    if (!old)
        return sim_not_found(s, kind, name);
    refusal = check_identity(s, old, body);
    if (refusal.code)
        return refusal;
    tree = updated(s, old, how, body);
    if (!old->bare && same(old->tree, tree))
        return (struct sim_answer){.code = 200, .v = old};
    sim_admit_update(s, kind, old->tree, tree, &causes);
    if (causes.n)
        return sim_invalid(s, kind, name, causes.first);
    if (is_over(kind, tree))
        return finish(s, actor, old, tree);
    v = revise(s, kind, old->ns, old->name, tree);
    commit(s, actor, old, v);
    return (struct sim_answer){.code = 200, .v = v};
}

struct sim_answer sim_patch(struct sim *s, int actor, enum rco_kind kind, const char *ns,
                            const char *name, bool status, const struct rco_value *patch)
{
    return sim_write(s, actor, kind, ns, name, status ? SIM_WRITE_STATUS : SIM_WRITE_PATCH, patch);
}

/* --- delete --- */

static bool needs_grace(const struct sim_version *v)
{
    const char *phase = sim_tree_str(v->tree, "status|phase");

    return v->kind == RCO_KIND_POD && sim_tree_str(v->tree, "spec|nodeName") &&
           !rco_streq(phase, "Succeeded") && !rco_streq(phase, "Failed");
}

/* The mark says when the grace is over. */
static const struct rco_value *with_grace(struct sim *s, const struct rco_value *tree,
                                          int64_t grace)
{
    struct rco_arena *a = &s->arena;
    char *text = rco_arena_alloc(a, RCO_TIME_STR_MAX);

    rco_wall_format(sim_wall(s) + grace * RCO_US_PER_S, text);
    tree = sim_tree_set(a, tree, "metadata|deletionTimestamp", sim_tree_string(a, text));
    return sim_tree_set(a, tree, GRACE, sim_tree_number(a, grace));
}

static const struct rco_value *marked(struct sim *s, const struct sim_version *old,
                                      const struct sim_delete *o)
{
    struct rco_arena *a = &s->arena;
    const struct rco_value *tree = old->tree;
    int64_t grace = needs_grace(old) && !o->now
                        ? sim_tree_int(tree, "spec|terminationGracePeriodSeconds", 30)
                        : 0;

    if (!sim_tree_get(tree, "metadata|deletionTimestamp")) {
        if (has_generation(old->kind))
            tree = next_generation(a, tree);
        if (o->foreground)
            tree = sim_tree_append(a, tree, "metadata|finalizers", FOREGROUND);
        if (old->kind == RCO_KIND_NAMESPACE) {
            tree = sim_tree_set(a, tree, "status|phase", sim_tree_string(a, "Terminating"));
            return sim_tree_set(a, tree, "metadata|deletionTimestamp",
                                sim_tree_string(a, sim_time(s)));
        }
        return with_grace(s, tree, grace);
    }
    /* Asked for again: the grace can only become shorter. */
    return grace < sim_tree_int(tree, GRACE, 0) ? with_grace(s, tree, grace) : tree;
}

struct sim_answer sim_remove(struct sim *s, int actor, enum rco_kind kind, const char *ns,
                             const char *name, const struct sim_delete *o)
{
    const struct sim_version *old = sim_get(s, kind, ns, name);
    const struct rco_value *tree;
    struct sim_answer answer;
    struct sim_version *v;

    if (!old)
        return sim_not_found(s, kind, name);
    if (o->uid && strcmp(o->uid, old->uid) != 0)
        return sim_precondition(s, old, "UID", o->uid, old->uid, "deleted and then recreated");
    if (o->rv && strtoll(o->rv, NULL, 10) != old->rv)
        return sim_precondition(s, old, "ResourceVersion", o->rv,
                                rco_arena_printf(&s->arena, "%" PRId64, old->rv), "modified");
    tree = marked(s, old, o);
    if (same(old->tree, tree))
        return (struct sim_answer){.code = 200, .v = old};
    if (is_over(kind, tree)) {
        answer = finish(s, actor, old, tree);
        answer.removed = kind != RCO_KIND_POD && kind != RCO_KIND_PVC; /* these are shown */
        return answer;
    }
    v = revise(s, kind, old->ns, old->name, tree);
    commit(s, actor, old, v);
    return (struct sim_answer){.code = 200, .v = v};
}

/* --- lists --- */

static const struct sim_version **copy_live(struct sim *s, const struct sim_kind *k)
{
    const struct sim_version **list = rco_arena_array(&s->arena, k->n_live + 1, sizeof *list);

    if (k->n_live)
        memcpy(list, k->live, k->n_live * sizeof *list);
    return list;
}

size_t sim_list_at(struct sim *s, enum rco_kind kind, int64_t rv, const struct sim_version ***ret)
{
    const struct sim_kind *k = &s->kinds[kind];
    struct sim_kind then = {0};
    size_t n;

    if (rv >= s->revision) {
        *ret = copy_live(s, k);
        return k->n_live;
    }
    for (size_t i = 0; i < k->n_history && k->history[i].rv <= rv; i++) {
        if (k->history[i].now)
            put_live(&then, k->history[i].now);
        else
            drop_live(&then, k->history[i].before);
    }
    n = then.n_live;
    *ret = copy_live(s, &then);
    free(then.live);
    return n;
}

#define LABELS_MAX 32

bool sim_matches(const struct sim_version *v, const char *ns, const char *labels,
                 const char *fields)
{
    const struct rco_value *map = sim_tree_get(v->tree, "metadata|labels");
    struct rco_kv kv[LABELS_MAX];
    size_t n = 0;

    if (!rco_str_empty(ns) && strcmp(ns, v->ns) != 0)
        return false;
    if (rco_str_has_prefix(fields, "metadata.name=") && strcmp(fields + 14, v->name) != 0)
        return false;
    if (rco_str_empty(labels))
        return true;
    for (const struct rco_value *x = map ? map->first : NULL; x && n < LABELS_MAX; x = x->next) {
        size_t at = n++;

        while (at > 0 && strcmp(kv[at - 1].key, x->key) > 0) {
            kv[at] = kv[at - 1];
            at--;
        }
        kv[at] = (struct rco_kv){x->key, x->text};
    }
    return rco_selector_matches(labels, kv, n);
}
