/* Turns schemas into C structs and enums. One path names each place
 * ("ProvisioningRun.status.engine",
 * "[]" behind a list); hack/gen/names.yaml gives names and flags by patterns over these paths. */
#include "gen.h"

#include <stdlib.h>
#include <string.h>

/* UTF-8 needs up to four bytes for one of the characters that maxLength counts. */
#define BYTES_PER_CHARACTER 4

static struct gen_struct *build_struct(struct gen_model *m, const struct node *schema,
                                       const char *name, const char *path);

void gen_model_init(struct gen_model *m, const struct node *names)
{
    *m = (struct gen_model){.names = names};
    m->structs_tail = &m->structs;
    m->enums_tail = &m->enums;
    m->kinds_tail = &m->kinds;
    static const char *const builtin[] = {"meta", "condition"};
    for (size_t i = 0; i < sizeof(builtin) / sizeof(builtin[0]); i++) {
        struct gen_struct *s = gen_alloc(sizeof(*s));
        s->name = builtin[i];
        s->builtin = true;
        *m->structs_tail = s;
        m->structs_tail = &s->next;
    }
}

/* Whether PATH matches a pattern of the list SECTION of names.yaml. */
static bool listed(const struct gen_model *m, const char *section, const char *path)
{
    const struct node *list = gen_get(m->names, section);
    for (size_t i = 0; list && i < list->n; i++)
        if (gen_glob(list->items[i]->text, path))
            return true;
    return false;
}

/* The name that the map SECTION of names.yaml (name -> list of patterns) gives to PATH, or NULL. */
static const char *mapped(const struct gen_model *m, const char *section, const char *path)
{
    const struct node *map = gen_get(m->names, section);
    for (size_t i = 0; map && i < map->n; i++)
        for (size_t k = 0; k < map->items[i]->n; k++)
            if (gen_glob(map->items[i]->items[k]->text, path))
                return map->keys[i];
    return NULL;
}

static bool contains_words(const struct gen_enum *e, const char **words, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        bool found = false;
        for (size_t k = 0; k < e->n_words && !found; k++)
            found = strcmp(e->words[k], words[i]) == 0;
        if (!found)
            return false;
    }
    return true;
}

/* The enum NAME with the words of LIST. A place that allows fewer words shares the larger enum. */
static struct gen_enum *build_enum(struct gen_model *m, const struct node *list, const char *name,
                                   const char *path)
{
    struct gen_enum fresh = {.name = name};
    fresh.words = gen_alloc(list->n * sizeof(*fresh.words));
    for (size_t i = 0; i < list->n; i++)
        if (strcmp(list->items[i]->text, "Unknown") !=
            0) /* is what the decoder makes of it anyway */
            fresh.words[fresh.n_words++] = list->items[i]->text;
    for (struct gen_enum *e = m->enums; e; e = e->next) {
        if (strcmp(e->name, name) != 0)
            continue;
        if (contains_words(e, fresh.words, fresh.n_words))
            return e;
        if (!contains_words(&fresh, e->words, e->n_words) || e->n_edges)
            gen_die("%s: enum %s has other words elsewhere; name them apart in names.yaml", path,
                    name);
        e->words = fresh.words;
        e->n_words = fresh.n_words;
        return e;
    }
    struct gen_enum *e = gen_alloc(sizeof(*e));
    *e = fresh;
    *m->enums_tail = e;
    m->enums_tail = &e->next;
    return e;
}

static const struct node *resolve_ref(const struct gen_model *m, const struct node *schema,
                                      const char **ret_name, const char *path)
{
    const char *ref = gen_text(schema, "$ref");
    if (!ref)
        return schema;
    *ret_name = ref;
    if (strcmp(ref, "condition") == 0)
        return schema;
    const struct node *def = gen_get(m->definitions, ref);
    if (!def)
        gen_die("%s: $ref %s is not among the definitions", path, ref);
    return def;
}

static unsigned long number(const struct node *schema, const char *key)
{
    const char *text = gen_text(schema, key);
    return text ? strtoul(text, NULL, 10) : 0;
}

static bool is_condition(const struct node *schema, const char *path)
{
    return gen_glob("*.status.conditions[]", path) &&
           gen_path(schema, "properties", "type", NULL) &&
           gen_path(schema, "properties", "status", NULL);
}

static struct gen_struct *find_struct(struct gen_model *m, const char *name)
{
    for (struct gen_struct *s = m->structs; s; s = s->next)
        if (strcmp(s->name, name) == 0)
            return s;
    return NULL;
}

/* Struct for an object value; NAME is what it is called unless names.yaml or a $ref say otherwise.
 */
static struct gen_struct *sub_struct(struct gen_model *m, const struct node *schema,
                                     const char *name, const char *path)
{
    if (is_condition(schema, path))
        return find_struct(m, "condition");
    const char *ref = NULL;
    schema = resolve_ref(m, schema, &ref, path);
    if (gen_streq(ref, "condition"))
        return find_struct(m, "condition");
    const char *given = mapped(m, "structs", path);
    return build_struct(m, schema, given ? given : ref ? ref : name, path);
}

static void scalar_field(struct gen_model *m, struct gen_field *f, const struct node *schema,
                         const char *owner, const char *path)
{
    const char *type = gen_text(schema, "type");
    const char *format = gen_text(schema, "format");
    f->int_or_string = gen_streq(gen_text(schema, "x-kubernetes-int-or-string"), "true");
    if (f->int_or_string || gen_streq(type, "string")) {
        f->type = "STRING";
        f->max = number(schema, "maxLength") * BYTES_PER_CHARACTER;
        if (gen_streq(format, "date-time"))
            f->type = "TIME";
        if (gen_streq(format, "date-time-micro"))
            f->type = "TIME_MICRO";
        const struct node *words = gen_get(schema, "enum");
        if (words && !listed(m, "strings", path)) {
            const char *given = mapped(m, "enums", path);
            f->type = "ENUM";
            f->words =
                build_enum(m, words, given ? given : gen_printf("%s_%s", owner, f->member), path);
        }
        if (strcmp(f->type, "STRING") != 0)
            f->max = 0;
    } else if (gen_streq(type, "integer")) {
        f->type = "INT";
    } else if (gen_streq(type, "boolean")) {
        f->type = "BOOL";
    } else {
        f->type = "RAW";
    }
}

static void list_field(struct gen_model *m, struct gen_field *f, const struct node *schema,
                       const char *owner, const char *path)
{
    const struct node *items = gen_get(schema, "items");
    char *item_path = gen_printf("%s[]", path);
    const char *item_type = gen_text(items, "type");
    f->max = number(schema, "maxItems");
    if (gen_streq(item_type, "string")) {
        f->type = "LIST_STRING";
    } else if (gen_get(items, "properties") || gen_text(items, "$ref")) {
        f->type = "LIST_STRUCT";
        f->sub = sub_struct(m, items, gen_printf("%s_%s", owner, gen_singular(gen_snake(f->json))),
                            item_path);
    } else {
        f->type = "RAW";
        f->max = 0;
    }
}

static struct gen_field build_field(struct gen_model *m, const char *json,
                                    const struct node *schema, const char *owner, const char *path)
{
    struct gen_field f = {.json = json,
                          .member = gen_member(json),
                          .description = gen_text(schema, "description"),
                          .intern = listed(m, "intern", path),
                          .skip_pack = listed(m, "skipPack", path)};
    const struct node *more = gen_get(schema, "additionalProperties");
    if (gen_streq(gen_text(schema, "type"), "array")) {
        list_field(m, &f, schema, owner, path);
    } else if (gen_get(schema, "properties") || gen_text(schema, "$ref")) {
        f.type = "STRUCT";
        f.sub = sub_struct(m, schema, gen_printf("%s_%s", owner, gen_snake(json)), path);
    } else if (more && gen_streq(gen_text(more, "type"), "string")) {
        f.type = "MAP_STRING";
        f.max = number(schema, "maxProperties");
    } else {
        scalar_field(m, &f, schema, owner, path);
    }
    return f;
}

/* spec and status do not appear in the names of what stands in them. */
static const char *child_owner(const char *kind, const char *json, const char *name)
{
    return kind && (strcmp(json, "spec") == 0 || strcmp(json, "status") == 0) ? kind : name;
}

static bool same_shape(const struct gen_struct *a, const struct gen_struct *b)
{
    if (a->n_fields != b->n_fields)
        return false;
    for (size_t i = 0; i < a->n_fields; i++) {
        const struct gen_field *x = &a->fields[i], *y = &b->fields[i];
        if (strcmp(x->json, y->json) != 0 || strcmp(x->type, y->type) != 0 || x->sub != y->sub ||
            x->words != y->words)
            return false;
    }
    return true;
}

static struct gen_struct *register_struct(struct gen_model *m, struct gen_struct *s,
                                          const char *path)
{
    struct gen_struct *old = find_struct(m, s->name);
    if (!old) {
        *m->structs_tail = s;
        m->structs_tail = &s->next;
        return s;
    }
    if (!same_shape(old, s))
        gen_die("%s: struct %s has other fields elsewhere; name them apart in names.yaml", path,
                s->name);
    for (size_t i = 0; i < s->n_fields;
         i++) { /* the widest cap and every flag hold for all places */
        struct gen_field *x = &old->fields[i];
        const struct gen_field *y = &s->fields[i];
        x->max = !x->max || !y->max ? 0 : x->max > y->max ? x->max : y->max;
        x->intern |= y->intern;
        x->skip_pack &= y->skip_pack;
    }
    return old;
}

/* NAME is the struct's name without rco_. Children are called after OWNER. */
static struct gen_struct *build_struct_of(struct gen_model *m, const struct node *schema,
                                          const char *name, const char *owner, const char *path)
{
    const struct node *properties = gen_get(schema, "properties");
    if (!properties || !properties->n)
        gen_die("%s: an object without properties has no struct", path);
    struct gen_struct *s = gen_alloc(sizeof(*s));
    s->name = name;
    s->description = gen_text(schema, "description");
    s->fields = gen_alloc(properties->n * sizeof(*s->fields));
    for (size_t i = 0; i < properties->n; i++) {
        const char *json = properties->keys[i];
        s->fields[s->n_fields++] =
            build_field(m, json, properties->items[i], owner, gen_printf("%s.%s", path, json));
    }
    return register_struct(m, s, path);
}

static struct gen_struct *build_struct(struct gen_model *m, const struct node *schema,
                                       const char *name, const char *path)
{
    return build_struct_of(m, schema, name, name, path);
}

/* The struct of a whole object: metadata first, then everything of the schema but the header. */
static struct gen_struct *build_object(struct gen_model *m, const struct gen_kind *k)
{
    const struct node *properties = gen_get(k->schema, "properties");
    struct gen_struct *s = gen_alloc(sizeof(*s));
    s->name = k->c_name;
    s->description = gen_text(k->schema, "description");
    s->fields = gen_alloc((1 + (properties ? properties->n : 0)) * sizeof(*s->fields));
    s->fields[s->n_fields++] = (struct gen_field){.json = "metadata",
                                                  .member = "metadata",
                                                  .type = "STRUCT",
                                                  .no_has = true,
                                                  .sub = find_struct(m, "meta")};
    for (size_t i = 0; properties && i < properties->n; i++) {
        const char *json = properties->keys[i];
        const struct node *schema = properties->items[i];
        char *path = gen_printf("%s.%s", k->kind, json);
        if (strcmp(json, "apiVersion") == 0 || strcmp(json, "kind") == 0 ||
            strcmp(json, "metadata") == 0)
            continue;
        bool part = (strcmp(json, "spec") == 0 || strcmp(json, "status") == 0) &&
                    gen_get(schema, "properties");
        if (!part) {
            s->fields[s->n_fields++] = build_field(m, json, schema, k->c_name, path);
            continue;
        }
        char *name = gen_printf("%s_%s", k->c_name, json);
        s->fields[s->n_fields++] = (struct gen_field){
            .json = json,
            .member = json,
            .type = "STRUCT",
            .description = gen_text(schema, "description"),
            .skip_pack = listed(m, "skipPack", path),
            .sub = build_struct_of(m, schema, name, child_owner(k->c_name, json, name), path)};
    }
    return register_struct(m, s, k->kind);
}

static const char *kind_c_name(const struct gen_model *m, const char *kind)
{
    const char *name = gen_text(gen_get(m->names, "kinds"), kind);
    if (!name)
        gen_die("kind %s has no short name under kinds in names.yaml", kind);
    return name;
}

static void add_kind(struct gen_model *m, struct gen_kind *k)
{
    k->c_name = kind_c_name(m, k->kind);
    k->object = build_object(m, k);
    const struct node *status = gen_path(k->schema, "properties", "status", "properties", NULL);
    k->has_status = status != NULL;
    const struct node *state = gen_get(status, "state");
    if (state && gen_get(state, "enum")) {
        char *path = gen_printf("%s.status.state", k->kind);
        const char *given = mapped(m, "enums", path);
        struct gen_enum *e = build_enum(m, gen_get(state, "enum"),
                                        given ? given : gen_printf("%s_state", k->c_name), path);
        gen_edges_read(gen_path(k->schema, "properties", "status", NULL), "state", e, path);
    }
    *m->kinds_tail = k;
    m->kinds_tail = &k->next;
}

void gen_model_add_crd(struct gen_model *m, const struct node *crd)
{
    const struct node *spec = gen_get(crd, "spec");
    const struct node *versions = gen_get(spec, "versions");
    if (!versions || versions->n != 1)
        gen_die("a CRD must have exactly one version");
    struct gen_kind *k = gen_alloc(sizeof(*k));
    k->crd = crd;
    k->kind = gen_text(gen_get(spec, "names"), "kind");
    k->plural = gen_text(gen_get(spec, "names"), "plural");
    k->group = gen_text(spec, "group");
    k->version = gen_text(versions->items[0], "name");
    k->namespaced = gen_streq(gen_text(spec, "scope"), "Namespaced");
    k->schema = gen_path(versions->items[0], "schema", "openAPIV3Schema", NULL);
    if (!k->kind || !k->plural || !k->group || !k->version || !k->schema)
        gen_die("a CRD lacks kind, plural, group, version or schema");
    add_kind(m, k);
}

void gen_model_add_external(struct gen_model *m, const struct node *doc)
{
    m->definitions = gen_get(doc, "definitions");
    const struct node *kinds = gen_get(doc, "kinds");
    for (size_t i = 0; kinds && i < kinds->n; i++) {
        const struct node *n = kinds->items[i];
        struct gen_kind *k = gen_alloc(sizeof(*k));
        k->external = true;
        k->kind = gen_text(n, "kind");
        k->plural = gen_text(n, "plural");
        k->group = gen_text(n, "group");
        k->version = gen_text(n, "version");
        k->namespaced = gen_streq(gen_text(n, "scope"), "Namespaced");
        k->schema = gen_get(n, "schema");
        if (!k->kind || !k->plural || !k->group || !k->version)
            gen_die("an external kind lacks kind, plural, group or version");
        add_kind(m, k);
    }
    const struct node *structs = gen_get(doc, "structs");
    for (size_t i = 0; structs && i < structs->n; i++)
        build_struct(m, structs->items[i], structs->keys[i], structs->keys[i]);
}
