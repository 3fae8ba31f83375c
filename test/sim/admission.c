/* What schemas, defaults and rules of the API server do to objects of the kinds that the product
 * touches. Those of our own kinds come from the YAML of the CRDs (schema.c, schema_cel.c). */
#include "schema.h"
#include "sim.h"

struct preset {
    const char *path, *json;
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
                                         const struct rco_value *body, const char **ret_why)
{
    struct rco_arena *a = &s->arena;
    const struct sim_schema *schema = sim_schema_of(kind);
    const struct rco_value *tree = body;

    *ret_why = NULL;
    if (schema) {
        tree = sim_schema_fill(schema, a, sim_tree_set(a, tree, "status", NULL));
        *ret_why = sim_schema_check(schema, a, tree, NULL);
        return tree;
    }
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
    default:
        return tree;
    }
}

static bool equal(const struct rco_value *before, const struct rco_value *now, const char *path)
{
    return rco_value_equal(sim_tree_get(before, path), sim_tree_get(now, path));
}

const struct rco_value *sim_admit_fill(struct sim *s, enum rco_kind kind,
                                       const struct rco_value *tree)
{
    const struct sim_schema *schema = sim_schema_of(kind);

    return schema ? sim_schema_fill(schema, &s->arena, tree) : tree;
}

const char *sim_admit_update(struct sim *s, enum rco_kind kind, const struct rco_value *before,
                             const struct rco_value *now)
{
    const struct sim_schema *schema = sim_schema_of(kind);

    if (schema)
        return sim_schema_check(schema, &s->arena, now, before);
    if ((kind == RCO_KIND_CONFIGMAP || kind == RCO_KIND_SECRET) &&
        sim_tree_get(before, "immutable") &&
        !(equal(before, now, "data") && equal(before, now, "binaryData")))
        return "data: field is immutable when immutable is set";
    return NULL;
}
