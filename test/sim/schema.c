/* Schemas from YAML; filling in and pruning. */
#include "schema.h"

#include "tree.h"

#include "base/file.h"
#include "json/yaml.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CRD_MAX (1024 * 1024)

/* Never given back: schemas are read once a process. */
static struct rco_arena forever;

static void die(const char *file, const char *what, const char *why)
{
    fprintf(stderr, "sim: %s: %s: %s\n", file, what, why);
    exit(2);
}

/* --- reading --- */

static int64_t bound(const struct rco_value *v, const char *key)
{
    return sim_tree_int(v, key, -1);
}

static const struct sim_schema *convert(const char *file, const char *name,
                                        const struct rco_value *v);

static const struct sim_schema *convert_properties(const char *file, const struct rco_value *v)
{
    const struct sim_schema *first = NULL, **tail = &first;

    for (const struct rco_value *p = v ? v->first : NULL; p; p = p->next) {
        struct sim_schema *s = (struct sim_schema *)convert(file, p->key, p);

        *tail = s;
        tail = &s->next;
    }
    return first;
}

static void convert_rules(const char *file, struct sim_schema *s, const struct rco_value *list)
{
    struct sim_rule *rules;
    const char *why;

    if (!list)
        return;
    s->rules = rules = rco_arena_array(&forever, list->len, sizeof *rules);
    for (const struct rco_value *r = list->first; r; r = r->next) {
        struct sim_rule *rule = &rules[s->n_rules++];

        rule->text = sim_tree_str(r, "rule");
        rule->message = sim_tree_str(r, "message");
        rule->field_path = sim_tree_str(r, "fieldPath");
        rule->reason = sim_tree_str(r, "reason");
        rule->cel = rule->text ? sim_cel_new(&forever, rule->text, &why) : NULL;
        if (!rule->cel || !rule->message)
            die(file, rule->text ? rule->text : "a rule", rule->message ? why : "no message");
    }
}

static enum sim_schema_type type_of(const char *file, const char *name, const char *word)
{
    static const char *const words[] = {"", "object", "array", "string", "integer", "boolean"};

    for (size_t i = 1; word && i < RCO_ARRAY_LEN(words); i++)
        if (strcmp(words[i], word) == 0)
            return (enum sim_schema_type)i;
    die(file, name, "a type that is not known");
    return SIM_SCHEMA_ANY;
}

/* What none of the functions here looks at would be a rule that the simulation does not have. */
static void check_keys(const char *file, const char *name, const struct rco_value *v)
{
    static const char *const known[] = {"type",
                                        "description",
                                        "format",
                                        "properties",
                                        "items",
                                        "additionalProperties",
                                        "required",
                                        "enum",
                                        "default",
                                        "minLength",
                                        "maxLength",
                                        "maxItems",
                                        "maxProperties",
                                        "minimum",
                                        "maximum",
                                        "pattern",
                                        "x-kubernetes-preserve-unknown-fields",
                                        "x-kubernetes-list-type",
                                        "x-kubernetes-list-map-keys",
                                        "x-kubernetes-validations"};

    for (const struct rco_value *k = v->first; k; k = k->next) {
        bool found = false;

        for (size_t i = 0; i < RCO_ARRAY_LEN(known) && !found; i++)
            found = strcmp(known[i], k->key) == 0;
        if (!found)
            die(file, name, k->key);
    }
}

static const struct sim_schema *convert(const char *file, const char *name,
                                        const struct rco_value *v)
{
    struct sim_schema *s = RCO_NEW(&forever, struct sim_schema);
    const struct rco_value *items = rco_value_get(v, "items");
    const struct rco_value *additional = rco_value_get(v, "additionalProperties");

    check_keys(file, name, v);
    s->name = name;
    s->type = type_of(file, name, sim_tree_str(v, "type"));
    s->properties = convert_properties(file, rco_value_get(v, "properties"));
    s->items = items ? convert(file, name, items) : NULL;
    s->additional = additional ? convert(file, name, additional) : NULL;
    s->required = rco_value_get(v, "required");
    s->words = rco_value_get(v, "enum");
    s->preset = rco_value_get(v, "default");
    s->min_length = bound(v, "minLength");
    s->max_length = bound(v, "maxLength");
    s->max_items = bound(v, "maxItems");
    s->max_properties = bound(v, "maxProperties");
    s->has_minimum = rco_value_get(v, "minimum") != NULL;
    s->has_maximum = rco_value_get(v, "maximum") != NULL;
    s->minimum = bound(v, "minimum");
    s->maximum = bound(v, "maximum");
    s->pattern_text = sim_tree_str(v, "pattern");
    s->pattern = s->pattern_text ? sim_regex_new(&forever, s->pattern_text) : NULL;
    if (s->pattern_text && !s->pattern)
        die(file, s->pattern_text, "a pattern that is not known");
    s->preserves = rco_value_bool(v, "x-kubernetes-preserve-unknown-fields");
    s->is_time = rco_streq(sim_tree_str(v, "format"), "date-time");
    s->is_set = rco_streq(sim_tree_str(v, "x-kubernetes-list-type"), "set");
    s->map_keys = rco_value_get(v, "x-kubernetes-list-map-keys");
    convert_rules(file, s, rco_value_get(v, "x-kubernetes-validations"));
    return s;
}

static const struct sim_schema *read_crd(enum rco_kind kind)
{
    const char *file =
        rco_arena_printf(&forever, "crds/runtimecloud.io_%s.yaml", rco_kind_info(kind)->plural);
    rco_autobuf yaml = RCO_BUF_INIT, json = RCO_BUF_INIT;
    struct rco_error err = RCO_ERROR_INIT;
    const struct rco_value *crd, *schema;
    struct sim_schema *root, *metadata;

    if (rco_file_read(file, CRD_MAX, &yaml, &err) != 0 ||
        rco_yaml_to_json(yaml.data, yaml.len, &json, &err) != 0)
        die(file, "cannot be read (sim runs in the root of the repository)", err.msg);
    crd = sim_tree_parse(&forever, json.data, json.len);
    schema = sim_tree_get(crd, "spec|versions");
    schema = schema ? sim_tree_get(schema->first, "schema|openAPIV3Schema") : NULL;
    if (!schema)
        die(file, "spec.versions", "no schema");
    root = (struct sim_schema *)convert(file, "", schema);
    metadata = (struct sim_schema *)sim_schema_property(root, "metadata");
    metadata->preserves = true;
    return root;
}

const struct sim_schema *sim_schema_of(enum rco_kind kind)
{
    static const struct sim_schema *all[RCO_KIND_COUNT];

    if (kind != RCO_KIND_DEPSPEC && kind != RCO_KIND_RUN && kind != RCO_KIND_ENV &&
        kind != RCO_KIND_TENANT)
        return NULL;
    if (!all[kind])
        all[kind] = read_crd(kind);
    return all[kind];
}

const struct sim_schema *sim_schema_property(const struct sim_schema *s, const char *name)
{
    for (const struct sim_schema *p = s->properties; p; p = p->next)
        if (strcmp(p->name, name) == 0)
            return p;
    return s->additional;
}

/* --- filling in --- */

static const struct rco_value *with_defaults(const struct sim_schema *s, struct rco_arena *a,
                                             const struct rco_value *tree)
{
    for (const struct sim_schema *p = s->properties; p; p = p->next)
        if (p->preset && !rco_value_get(tree, p->name))
            tree = sim_tree_set(a, tree, p->name, p->preset);
    return tree;
}

static const struct rco_value *linked(struct rco_arena *a, const struct rco_value *v,
                                      const char *key)
{
    struct rco_value *copy = rco_arena_memdup(a, v, sizeof *v);

    copy->key = key;
    copy->next = NULL;
    return copy;
}

/* Children that are what they were stay the same nodes. */
static const struct rco_value *fill_children(const struct sim_schema *s, struct rco_arena *a,
                                             const struct rco_value *tree)
{
    struct rco_value *copy = rco_arena_memdup(a, tree, sizeof *tree);
    struct rco_value **tail = &copy->first;
    bool changed = false;

    copy->len = 0;
    copy->first = NULL;
    for (const struct rco_value *x = tree->first; x; x = x->next) {
        const struct sim_schema *p =
            tree->type == RCO_VALUE_ARRAY ? s->items : sim_schema_property(s, x->key);
        const struct rco_value *v = p ? sim_schema_fill(p, a, x) : s->preserves ? x : NULL;

        changed |= v != x;
        if (!v)
            continue;
        *tail = (struct rco_value *)linked(a, v, x->key);
        tail = &(*tail)->next;
        copy->len++;
    }
    return changed ? copy : tree;
}

const struct rco_value *sim_schema_fill(const struct sim_schema *s, struct rco_arena *a,
                                        const struct rco_value *tree)
{
    bool is_object = s->type == SIM_SCHEMA_OBJECT && tree->type == RCO_VALUE_OBJECT;
    bool is_list = s->type == SIM_SCHEMA_ARRAY && tree->type == RCO_VALUE_ARRAY;

    if (is_object)
        tree = with_defaults(s, a, tree);
    if ((is_object && !(s->preserves && !s->properties)) || (is_list && s->items))
        return fill_children(s, a, tree);
    return tree;
}

/* --- unknown fields --- */

const char *sim_schema_unknown(const struct sim_schema *s, struct rco_arena *a,
                               const struct rco_value *tree)
{
    bool in_list = tree->type == RCO_VALUE_ARRAY;
    size_t i = 0;

    if (s->preserves)
        return NULL;
    for (const struct rco_value *x = tree->first; x; x = x->next, i++) {
        const struct sim_schema *p = in_list ? s->items : sim_schema_property(s, x->key);
        const char *step = in_list ? rco_arena_printf(a, "[%zu]", i) : x->key, *rest;

        if (!p)
            return step;
        rest = sim_schema_unknown(p, a, x);
        if (rest)
            return rco_arena_printf(a, "%s%s%s", step, *rest == '[' ? "" : ".", rest);
    }
    return NULL;
}
