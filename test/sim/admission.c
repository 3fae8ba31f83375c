/* What schemas, defaults and rules of the API server do to objects of the kinds that the product
 * touches. Those of our own kinds come from the YAML of the CRDs (schema.c, schema_cel.c). */
#include "refusal.h"
#include "schema.h"

#include <string.h>

#define NOTE_MAX 1024
#define DATA_MAX (1024 * 1024)

struct preset {
    const char *path, *json;
};

static const struct preset job_defaults[] = {
    {"spec|parallelism", "1"},
    {"spec|completions", "1"},
    {"spec|backoffLimit", "6"},
    {"spec|completionMode", "\"NonIndexed\""},
    {"spec|suspend", "false"},
    {"spec|manualSelector", "false"},
    {"spec|podReplacementPolicy", "\"TerminatingOrFailed\""},
    {"spec|template|spec|terminationGracePeriodSeconds", "30"},
    {"spec|template|spec|dnsPolicy", "\"ClusterFirst\""},
    {"spec|template|spec|schedulerName", "\"default-scheduler\""},
    {"spec|template|spec|securityContext", "{}"},
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

const struct rco_value *sim_admit_identity(struct sim *s, enum rco_kind kind,
                                           const struct rco_value *tree)
{
    static const char *const labels[] = {"batch.kubernetes.io/job-name", "job-name",
                                         "batch.kubernetes.io/controller-uid", "controller-uid"};
    struct rco_arena *a = &s->arena;
    const char *texts[2] = {sim_tree_str(tree, "metadata|name"),
                            sim_tree_str(tree, "metadata|uid")};

    if (kind != RCO_KIND_JOB)
        return tree;
    for (size_t i = 0; i < RCO_ARRAY_LEN(labels); i++)
        tree = sim_tree_set(a, tree,
                            rco_arena_printf(a, "spec|template|metadata|labels|%s", labels[i]),
                            sim_tree_string(a, texts[i / 2]));
    tree = sim_tree_set(a, tree, "spec|selector|matchLabels|batch.kubernetes.io/controller-uid",
                        sim_tree_string(a, texts[1]));
    /* A Job without labels of its own has those of its pods. */
    if (!sim_tree_get(tree, "metadata|labels"))
        tree = sim_tree_set(a, tree, "metadata|labels",
                            sim_tree_get(tree, "spec|template|metadata|labels"));
    return tree;
}

/* --- built-in kinds --- */

static int64_t data_size(const struct rco_value *tree)
{
    static const char *const maps[] = {"data", "binaryData"};
    int64_t n = 0;

    for (size_t i = 0; i < RCO_ARRAY_LEN(maps); i++) {
        const struct rco_value *map = sim_tree_get(tree, maps[i]);

        for (const struct rco_value *x = map ? map->first : NULL; x; x = x->next)
            n += (int64_t)x->len;
    }
    return n;
}

static void check_event(struct rco_arena *a, const struct rco_value *tree,
                        struct sim_causes *causes)
{
    const char *note = sim_tree_str(tree, "note"), *type = sim_tree_str(tree, "type");
    static const char *const required[] = {"reportingController", "reportingInstance", "action",
                                           "reason"};

    for (size_t i = 0; i < RCO_ARRAY_LEN(required); i++)
        if (rco_str_empty(sim_tree_str(tree, required[i])))
            sim_cause_add(a, causes, "FieldValueRequired", required[i], "Required value");
    if (!rco_streq(type, "Normal") && !rco_streq(type, "Warning"))
        sim_cause_add(a, causes, "FieldValueInvalid", "type",
                      "Invalid value: \"\": has invalid value: %s", rco_str_or_empty(type));
    if (note && strlen(note) > NOTE_MAX)
        sim_cause_add(a, causes, "FieldValueInvalid", "message",
                      "Invalid value: \"\": can have at most 1024 characters");
}

static void check_lease(struct rco_arena *a, const struct rco_value *tree,
                        struct sim_causes *causes)
{
    int64_t duration = sim_tree_int(tree, "spec|leaseDurationSeconds", 1);

    if (duration <= 0)
        sim_cause_add(a, causes, "FieldValueInvalid", "spec.leaseDurationSeconds",
                      "Invalid value: %lld: must be greater than 0", (long long)duration);
}

static void check_builtin(struct rco_arena *a, enum rco_kind kind, const struct rco_value *tree,
                          struct sim_causes *causes)
{
    if ((kind == RCO_KIND_CONFIGMAP || kind == RCO_KIND_SECRET) && data_size(tree) > DATA_MAX)
        sim_cause_add(a, causes, "FieldValueTooLong", "[]",
                      "Too long: may not be more than 1048576 bytes");
    if (kind == RCO_KIND_EVENT)
        check_event(a, tree, causes);
    if (kind == RCO_KIND_LEASE)
        check_lease(a, tree, causes);
}

static const struct rco_value *defaults(struct rco_arena *a, enum rco_kind kind,
                                        const struct rco_value *tree)
{
    switch (kind) {
    case RCO_KIND_JOB:
        return admit_job(a, sim_tree_set(a, tree, "status", sim_tree_f(a, "{}")));
    case RCO_KIND_POD:
        if (!sim_tree_get(tree, "spec|serviceAccountName"))
            tree = sim_tree_set(a, tree, "spec|serviceAccountName", sim_tree_string(a, "default"));
        return sim_tree_set(a, tree, "status", sim_tree_f(a, "{\"phase\":\"Pending\"}"));
    case RCO_KIND_PVC:
        tree = sim_tree_set(a, tree, "spec|volumeMode", sim_tree_string(a, "Filesystem"));
        tree = sim_tree_append(a, tree, "metadata|finalizers", "kubernetes.io/pvc-protection");
        return sim_tree_set(a, tree, "status", sim_tree_f(a, "{\"phase\":\"Pending\"}"));
    case RCO_KIND_NAMESPACE:
        tree = sim_tree_set(a, tree, "spec|finalizers", sim_tree_f(a, "[\"kubernetes\"]"));
        tree = sim_tree_set(a, tree, "metadata|labels|kubernetes.io/metadata.name",
                            sim_tree_get(tree, "metadata|name"));
        return sim_tree_set(a, tree, "status", sim_tree_f(a, "{\"phase\":\"Active\"}"));
    case RCO_KIND_SECRET:
        return sim_tree_get(tree, "type")
                   ? tree
                   : sim_tree_set(a, tree, "type", sim_tree_string(a, "Opaque"));
    default:
        return tree;
    }
}

static void append(struct rco_arena *a, struct sim_causes *causes, const struct sim_cause *more)
{
    for (; more; more = more->next)
        sim_cause_add(a, causes, more->reason, more->field, "%s", more->message);
}

const struct rco_value *sim_admit_create(struct sim *s, enum rco_kind kind,
                                         const struct rco_value *body, struct sim_causes *causes)
{
    struct rco_arena *a = &s->arena;
    const struct sim_schema *schema = sim_schema_of(kind);
    const struct rco_value *tree = body;

    sim_check_meta(a, tree, NULL, causes);
    if (schema) {
        tree = sim_schema_fill(schema, a, sim_tree_set(a, tree, "status", NULL));
        append(a, causes, sim_schema_check(schema, a, tree, NULL));
        return tree;
    }
    tree = defaults(a, kind, tree);
    check_builtin(a, kind, tree, causes);
    return tree;
}

const struct rco_value *sim_admit_fill(struct sim *s, enum rco_kind kind,
                                       const struct rco_value *tree)
{
    const struct sim_schema *schema = sim_schema_of(kind);

    return schema ? sim_schema_fill(schema, &s->arena, tree) : tree;
}

/* --- changes of built-in kinds --- */

static bool equal(const struct rco_value *before, const struct rco_value *now, const char *path)
{
    return rco_value_equal(sim_tree_get(before, path), sim_tree_get(now, path));
}

static bool is_immutable(const struct rco_value *tree)
{
    const struct rco_value *v = sim_tree_get(tree, "immutable");

    return v && v->boolean;
}

static void check_immutable_data(struct rco_arena *a, const struct rco_value *before,
                                 const struct rco_value *now, struct sim_causes *causes)
{
    static const char *const fields[] = {"data", "binaryData"};

    if (!is_immutable(before))
        return;
    if (!is_immutable(now))
        sim_cause_add(a, causes, "FieldValueForbidden", "immutable",
                      "Forbidden: field is immutable when `immutable` is set");
    for (size_t i = 0; i < RCO_ARRAY_LEN(fields); i++)
        if (!equal(before, now, fields[i]))
            sim_cause_add(a, causes, "FieldValueForbidden", fields[i],
                          "Forbidden: field is immutable when `immutable` is set");
}

static void check_fixed(struct rco_arena *a, const struct rco_value *before,
                        const struct rco_value *now, const char *path, const char *field,
                        struct sim_causes *causes)
{
    const struct rco_value *v = sim_tree_get(now, path);
    rco_autobuf text = RCO_BUF_INIT;

    if (equal(before, now, path))
        return;
    if (v)
        rco_value_canonical(v, &text);
    sim_cause_add(a, causes, "FieldValueInvalid", field, "Invalid value: %s: field is immutable",
                  text.len ? rco_buf_str(&text) : "null");
}

void sim_admit_update(struct sim *s, enum rco_kind kind, const struct rco_value *before,
                      const struct rco_value *now, struct sim_causes *causes)
{
    const struct sim_schema *schema = sim_schema_of(kind);
    struct rco_arena *a = &s->arena;

    sim_check_meta(a, now, before, causes);
    if (schema) {
        append(a, causes, sim_schema_check(schema, a, now, before));
        return;
    }
    check_builtin(a, kind, now, causes);
    if (kind == RCO_KIND_CONFIGMAP || kind == RCO_KIND_SECRET)
        check_immutable_data(a, before, now, causes);
    if (kind == RCO_KIND_JOB) {
        check_fixed(a, before, now, "spec|completions", "spec.completions", causes);
        check_fixed(a, before, now, "spec|template", "spec.template", causes);
        check_fixed(a, before, now, "spec|selector", "spec.selector", causes);
    }
    if (kind == RCO_KIND_EVENT)
        check_fixed(a, before, now, "note", "message", causes);
}
