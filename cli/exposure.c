#include "exposure.h"

#include "base/buf.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    unsigned power;
    const char *group;
    const char *resource;
    const char *verbs[4];
} powers[] = {
    {RCO_POWER_CREATE_PODS, "", "pods", {"create"}},
    {RCO_POWER_CREATE_PODS, "", "replicationcontrollers", {"create", "update", "patch"}},
    {RCO_POWER_CREATE_PODS, "apps", "deployments", {"create", "update", "patch"}},
    {RCO_POWER_CREATE_PODS, "apps", "daemonsets", {"create", "update", "patch"}},
    {RCO_POWER_CREATE_PODS, "apps", "statefulsets", {"create", "update", "patch"}},
    {RCO_POWER_CREATE_PODS, "apps", "replicasets", {"create", "update", "patch"}},
    {RCO_POWER_CREATE_PODS, "batch", "jobs", {"create"}},
    {RCO_POWER_CREATE_PODS, "batch", "cronjobs", {"create", "update", "patch"}},
    {RCO_POWER_READ_SECRETS, "", "secrets", {"get", "list", "watch"}},
    {RCO_POWER_EXEC, "", "pods/exec", {"create", "get"}},
    {RCO_POWER_EXEC, "", "pods/attach", {"create", "get"}},
    {RCO_POWER_EXEC, "", "pods/ephemeralcontainers", {"update", "patch"}},
    {RCO_POWER_MAKE_TOKENS, "", "serviceaccounts/token", {"create"}},
    {RCO_POWER_GIVE_RIGHTS, "rbac.authorization.k8s.io", "roles", {"bind", "escalate"}},
    {RCO_POWER_GIVE_RIGHTS, "rbac.authorization.k8s.io", "clusterroles", {"bind", "escalate"}},
    {RCO_POWER_GIVE_RIGHTS, "", "serviceaccounts", {"impersonate"}},
    {RCO_POWER_GIVE_RIGHTS, "", "users", {"impersonate"}},
    {RCO_POWER_GIVE_RIGHTS, "", "groups", {"impersonate"}},
};

static bool has(const char *const *items, size_t n, const char *word)
{
    for (size_t i = 0; i < n; i++)
        if (rco_streq(items[i], "*") || rco_streq(items[i], word))
            return true;
    return false;
}

/* RBAC also knows "*" followed by a subresource. */
static bool has_resource(const struct rco_view_rule *rule, const char *resource)
{
    const char *sub = strchr(resource, '/');

    if (has(rule->resources, rule->n_resources, resource))
        return true;
    for (size_t i = 0; sub && i < rule->n_resources; i++)
        if (rule->resources[i][0] == '*' && rco_streq(rule->resources[i] + 1, sub))
            return true;
    return false;
}

/* A rule for named objects never matches a create: there the name is not known yet. */
static bool verb_counts(const struct rco_view_rule *rule, const char *verb)
{
    return has(rule->verbs, rule->n_verbs, verb) && !(rule->n_names && rco_streq(verb, "create"));
}

unsigned rco_exposure_of_rule(const struct rco_view_rule *rule)
{
    unsigned found = 0;

    for (size_t i = 0; i < RCO_ARRAY_LEN(powers); i++) {
        if (!has(rule->groups, rule->n_groups, powers[i].group) ||
            !has_resource(rule, powers[i].resource))
            continue;
        for (size_t v = 0; v < RCO_ARRAY_LEN(powers[i].verbs) && powers[i].verbs[v]; v++)
            if (verb_counts(rule, powers[i].verbs[v]))
                found |= powers[i].power;
    }
    return found;
}

const char *rco_exposure_words(unsigned found, struct rco_arena *a)
{
    static const struct {
        unsigned power;
        const char *words;
    } names[] = {
        {RCO_POWER_CREATE_PODS, "create pods"},
        {RCO_POWER_READ_SECRETS, "read Secrets"},
        {RCO_POWER_EXEC, "run commands in pods"},
        {RCO_POWER_MAKE_TOKENS, "make tokens of service accounts"},
        {RCO_POWER_GIVE_RIGHTS, "give themselves rights"},
    };
    rco_autobuf out = RCO_BUF_INIT;

    for (size_t i = 0; i < RCO_ARRAY_LEN(names); i++)
        if (found & names[i].power)
            rco_buf_addf(&out, "%s%s", out.len ? ", " : "", names[i].words);
    return rco_arena_strdup(a, rco_buf_str(&out));
}

static unsigned powers_of_role(const struct rco_view_roles *roles, const char *name)
{
    unsigned found = 0;

    for (size_t i = 0; i < roles->n_items; i++) {
        if (!rco_streq(roles->items[i].metadata.name, name))
            continue;
        for (size_t r = 0; r < roles->items[i].n_rules; r++)
            found |= rco_exposure_of_rule(&roles->items[i].rules[r]);
    }
    return found;
}

/* Kubernetes' own components. Everybody who is logged in, or not even that, is never one of them.
 */
static bool is_system(const struct rco_view_subject *s)
{
    if (rco_streq(s->kind, "ServiceAccount"))
        return rco_streq(s->ns, "kube-system");
    if (rco_streq(s->name, "system:authenticated") ||
        rco_streq(s->name, "system:unauthenticated") || rco_streq(s->name, "system:anonymous") ||
        rco_str_has_prefix(s->name, "system:serviceaccount"))
        return false;
    return rco_str_has_prefix(s->name, "system:");
}

static struct rco_exposed *find(struct rco_exposed *items, size_t n,
                                const struct rco_view_subject *s)
{
    for (size_t i = 0; i < n; i++)
        if (rco_streq(items[i].kind, s->kind) && rco_streq(items[i].name, s->name) &&
            rco_streq(items[i].ns, s->ns))
            return &items[i];
    return NULL;
}

struct search {
    const struct rco_exposure_input *in;
    struct rco_arena *a;
    struct rco_exposed *items;
    size_t n, n_system;
};

static void add_bindings(struct search *s, const struct rco_view_bindings *bindings,
                         const char *kind)
{
    for (size_t i = 0; i < bindings->n_items; i++) {
        const struct rco_view_binding *b = &bindings->items[i];
        bool of_cluster = rco_streq(b->role.kind, "ClusterRole");
        unsigned found =
            powers_of_role(of_cluster ? s->in->cluster_roles : s->in->roles, b->role.name);

        for (size_t k = 0; found && k < b->n_subjects; k++) {
            const struct rco_view_subject *subject = &b->subjects[k];
            struct rco_exposed *e = find(s->items, s->n, subject);

            if (is_system(subject)) {
                s->n_system++;
                continue;
            }
            if (!e) {
                e = &s->items[s->n++];
                *e = (struct rco_exposed){
                    .kind = subject->kind, .name = subject->name, .ns = subject->ns};
                e->through = rco_arena_printf(s->a, "%s %s", kind, b->metadata.name);
            }
            e->powers |= found;
        }
    }
}

static int compare(const void *a, const void *b)
{
    const struct rco_exposed *x = a, *y = b;
    int by_kind = strcmp(rco_str_or_empty(x->kind), rco_str_or_empty(y->kind));

    return by_kind ? by_kind : strcmp(rco_str_or_empty(x->name), rco_str_or_empty(y->name));
}

void rco_exposure_find(const struct rco_exposure_input *in, struct rco_arena *a,
                       struct rco_exposed **ret, size_t *ret_n, size_t *ret_n_system)
{
    struct search s = {.in = in, .a = a};
    size_t most = 0;

    for (size_t i = 0; i < in->bindings->n_items; i++)
        most += in->bindings->items[i].n_subjects;
    for (size_t i = 0; i < in->cluster_bindings->n_items; i++)
        most += in->cluster_bindings->items[i].n_subjects;
    s.items = rco_arena_array(a, most + 1, sizeof(*s.items));
    add_bindings(&s, in->bindings, "RoleBinding");
    add_bindings(&s, in->cluster_bindings, "ClusterRoleBinding");
    if (s.n)
        qsort(s.items, s.n, sizeof(*s.items), compare);
    *ret = s.items;
    *ret_n = s.n;
    *ret_n_system = s.n_system;
}
