/* What schemas, defaults and rules of the API server do to objects of the kinds that the product
 * touches: defaults on create, CEL rules of our CRDs on update. The edges of a run's state are the
 * generated table, which comes from the same YAML as the rule in the CRD. */
#include "sim.h"

#include "api/zz_generated_types.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static bool is_ours(enum rco_kind kind)
{
    return kind == RCO_KIND_DEPSPEC || kind == RCO_KIND_RUN || kind == RCO_KIND_ENV ||
           kind == RCO_KIND_TENANT;
}

struct preset {
    const char *path, *json;
};

static const struct preset env_defaults[] = {
    {"spec|class", "\"production\""},          {"spec|runner", "{}"},
    {"spec|runner|timeout", "\"1h\""},         {"spec|runner|terminationGracePeriod", "\"10m\""},
    {"spec|runner|clusterAccess", "\"None\""},
};

static const struct preset job_defaults[] = {
    {"spec|completionMode", "\"NonIndexed\""},
    {"spec|suspend", "false"},
    {"spec|manualSelector", "false"},
    {"spec|template|metadata|creationTimestamp", "null"},
    {"spec|template|spec|dnsPolicy", "\"ClusterFirst\""},
    {"spec|template|spec|schedulerName", "\"default-scheduler\""},
};

static const struct rco_value *fill(struct rco_arena *a, const struct rco_value *tree,
                                    const struct preset *presets, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!sim_tree_get(tree, presets[i].path))
            tree = sim_tree_set(a, tree, presets[i].path, sim_tree_f(a, "%s", presets[i].json));
    return tree;
}

static const struct rco_value *admit_job(struct rco_arena *a, const struct rco_value *tree)
{
    const char *account = sim_tree_str(tree, "spec|template|spec|serviceAccountName");

    tree = fill(a, tree, job_defaults, RCO_ARRAY_LEN(job_defaults));
    if (account)
        tree =
            sim_tree_set(a, tree, "spec|template|spec|serviceAccount", sim_tree_string(a, account));
    return tree;
}

const struct rco_value *sim_admit_create(struct sim *s, enum rco_kind kind,
                                         const struct rco_value *body)
{
    struct rco_arena *a = &s->arena;
    const struct rco_value *tree = body;

    switch (kind) {
    case RCO_KIND_JOB:
        return admit_job(a, sim_tree_set(a, tree, "status", NULL));
    case RCO_KIND_POD:
        return sim_tree_set(a, tree, "status", sim_tree_f(a, "{\"phase\":\"Pending\"}"));
    case RCO_KIND_PVC:
        tree = sim_tree_set(a, tree, "spec|volumeMode", sim_tree_string(a, "Filesystem"));
        tree = sim_tree_append(a, tree, "metadata|finalizers", "kubernetes.io/pvc-protection");
        return sim_tree_set(a, tree, "status", sim_tree_f(a, "{\"phase\":\"Pending\"}"));
    case RCO_KIND_NAMESPACE:
        return sim_tree_set(a, tree, "status", sim_tree_f(a, "{\"phase\":\"Active\"}"));
    case RCO_KIND_ENV:
        tree = fill(a, tree, env_defaults, RCO_ARRAY_LEN(env_defaults));
        break;
    default:
        break;
    }
    if (is_ours(kind) && kind != RCO_KIND_TENANT)
        tree = sim_tree_set(a, tree, "status", sim_tree_f(a, "{\"observedGeneration\":-1}"));
    return tree;
}

/* --- rules --- */

static bool equal(const struct rco_value *before, const struct rco_value *now, const char *path)
{
    return rco_value_equal(sim_tree_get(before, path), sim_tree_get(now, path));
}

/* Set once, then for ever. */
static bool keeps(const struct rco_value *before, const struct rco_value *now, const char *path)
{
    return !sim_tree_get(before, path) || equal(before, now, path);
}

static const char *immutable(const struct rco_value *before, const struct rco_value *now,
                             const char *const *paths)
{
    for (; *paths; paths++)
        if (!equal(before, now, *paths))
            return *paths;
    return NULL;
}

static const char *kept(const struct rco_value *before, const struct rco_value *now,
                        const char *const *paths)
{
    for (; *paths; paths++)
        if (!keeps(before, now, *paths))
            return *paths;
    return NULL;
}

static enum rco_run_state state_of(const struct rco_value *tree)
{
    const char *word = sim_tree_str(tree, "status|state");

    for (int v = RCO_RUN_STATE_PENDING; word && v <= RCO_RUN_STATE_CANCELLED; v++)
        if (strcmp(rco_run_state_name((enum rco_run_state)v), word) == 0)
            return (enum rco_run_state)v;
    return RCO_RUN_STATE_UNSET;
}

static bool is_beyond_planning(enum rco_run_state state)
{
    return state == RCO_RUN_STATE_PLANNED || state == RCO_RUN_STATE_AWAITING_APPROVAL ||
           state == RCO_RUN_STATE_APPLYING || state == RCO_RUN_STATE_APPLIED ||
           state == RCO_RUN_STATE_REJECTED;
}

static bool plan_is_empty(const struct rco_value *tree)
{
    static const char *const counts[] = {"adds", "changes", "deletes", "replaces"};
    const struct rco_value *receipt = sim_tree_get(tree, "status|planReceipt");

    for (size_t i = 0; i < RCO_ARRAY_LEN(counts); i++)
        if (sim_tree_int(receipt, counts[i], -1) != 0)
            return false;
    return true;
}

static const char *check_state(const struct rco_value *before, const struct rco_value *now)
{
    enum rco_run_state from = state_of(before), to = state_of(now);

    if (from == to)
        return NULL;
    if (to == RCO_RUN_STATE_UNSET)
        return "status.state: must not be removed";
    if (from == RCO_RUN_STATE_UNSET)
        return to == RCO_RUN_STATE_PENDING ? NULL : "status.state: the first must be Pending";
    if (!rco_run_state_may_become(from, to))
        return "status.state: this change of state is not one of a run's edges";
    if (is_beyond_planning(to) && !sim_tree_get(now, "status|planReceipt"))
        return "status.state: the plan must be recorded before a run goes beyond Planning";
    if (to == RCO_RUN_STATE_APPLIED && !sim_tree_get(now, "status|applyReceipt"))
        return "status.state: an Applied run must have an applyReceipt";
    if ((to == RCO_RUN_STATE_APPLYING || to == RCO_RUN_STATE_APPLIED) && !plan_is_empty(now) &&
        rco_streq(sim_tree_str(now, "spec|environmentClass"), "production"))
        return "status.state: an apply to production needs an approval";
    return NULL;
}

static const char *check_run(const struct rco_value *before, const struct rco_value *now)
{
    static const char *const fixed[] = {"spec|tenantId",
                                        "spec|projectId",
                                        "spec|environmentId",
                                        "spec|specificationId",
                                        "spec|specificationRef",
                                        "spec|specificationVersion",
                                        "spec|kind",
                                        "spec|environmentClass",
                                        "spec|snapshot",
                                        NULL};
    static const char *const once[] = {"spec|cancel",
                                       "status|planReceipt",
                                       "status|applyReceipt",
                                       "status|provisioningRunId",
                                       "status|startedAt",
                                       "status|completedAt",
                                       NULL};
    const char *why = immutable(before, now, fixed);

    if (!why)
        why = kept(before, now, once);
    if (!why)
        why = check_state(before, now);
    if (!why && sim_tree_get(before, "status") && !sim_tree_get(now, "status"))
        why = "status must not be removed";
    return why;
}

static const char *check_depspec(const struct rco_value *before, const struct rco_value *now)
{
    static const char *const fixed[] = {"spec|tenantId", "spec|projectId", "spec|environmentId",
                                        "spec|kind",     "spec|stackName", NULL};

    return immutable(before, now, fixed);
}

/* A condition that the schema would refuse. */
static const char *check_conditions(const struct rco_value *now)
{
    const struct rco_value *list = sim_tree_get(now, "status|conditions");

    for (const struct rco_value *c = list ? list->first : NULL; c; c = c->next) {
        if (!sim_tree_str(c, "type") || !sim_tree_str(c, "status") ||
            !sim_tree_str(c, "lastTransitionTime") || rco_str_empty(sim_tree_str(c, "reason")) ||
            !sim_tree_str(c, "message"))
            return "status.conditions: type, status, lastTransitionTime, reason and message are "
                   "required";
        for (const struct rco_value *d = c->next; d; d = d->next)
            if (rco_streq(sim_tree_str(c, "type"), sim_tree_str(d, "type")))
                return "status.conditions: the same type twice";
    }
    return NULL;
}

const char *sim_admit_update(struct sim *s, enum rco_kind kind, const struct rco_value *before,
                             const struct rco_value *now, bool status)
{
    static const char *const env_fixed[] = {"spec|tenantId", "spec|projectId", NULL};
    const char *why = NULL;

    (void)s;
    if (kind == RCO_KIND_RUN)
        why = check_run(before, now);
    else if (kind == RCO_KIND_DEPSPEC)
        why = check_depspec(before, now);
    else if (kind == RCO_KIND_ENV)
        why = immutable(before, now, env_fixed);
    else if ((kind == RCO_KIND_CONFIGMAP || kind == RCO_KIND_SECRET) &&
             sim_tree_get(before, "immutable"))
        why = equal(before, now, "data") && equal(before, now, "binaryData")
                  ? NULL
                  : "data: field is immutable when immutable is set";
    if (!why && status && is_ours(kind))
        why = check_conditions(now);
    return why;
}
