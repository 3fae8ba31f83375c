/* Operations from schemas: every property, every mutation that fits its type. */
#include "ops.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NON_ASCII "gr\xc3\xbc\xc3\x9f\xf0\x9f\x9a\x80"
#define UNKNOWN_FIELD "notAField"

static const char *const names[SIM_MUTATIONS] = {
    "delete",  "empty",      "change",     "toggle", "double",  "half",      "plus-two",
    "lowest",  "highest",    "below",      "above",  "longest", "too-long",  "non-ascii",
    "misfit",  "word",       "wrong-word", "push",   "pop",     "duplicate", "too-many",
    "unknown", "wrong-type", "value",      "scene",
};

const char *sim_mutation_name(enum sim_mutation m)
{
    return names[m];
}

/* --- the list --- */

struct list {
    struct rco_arena arena;
    struct sim_operation *items;
    size_t n, cap;
};

static void add(struct list *l, const struct sim_operation *like, enum sim_mutation m, int index,
                const char *literal)
{
    if (l->n == l->cap) {
        l->cap = l->cap ? 2 * l->cap : 1024;
        l->items = rco_realloc(l->items, l->cap * sizeof *l->items);
    }
    l->items[l->n] = *like;
    l->items[l->n].mutation = m;
    l->items[l->n].index = index;
    l->items[l->n++].literal = literal;
}

static void add_all(struct list *l, const struct sim_operation *like, const enum sim_mutation *m,
                    size_t n)
{
    for (size_t i = 0; i < n; i++)
        add(l, like, m[i], 0, NULL);
}

static void add_string(struct list *l, const struct sim_operation *like)
{
    static const enum sim_mutation all[] = {SIM_OP_CHANGE, SIM_OP_EMPTY, SIM_OP_NON_ASCII};
    static const enum sim_mutation bounds[] = {SIM_OP_LONGEST, SIM_OP_TOO_LONG};
    const struct sim_schema *s = like->schema;

    if (s->words) {
        for (int i = 0; i < (int)s->words->len; i++)
            add(l, like, SIM_OP_WORD, i, NULL);
        add(l, like, SIM_OP_WRONG_WORD, 0, NULL);
        add(l, like, SIM_OP_EMPTY, 0, NULL);
        return;
    }
    add_all(l, like, all, RCO_ARRAY_LEN(all));
    if (s->max_length >= 0)
        add_all(l, like, bounds, RCO_ARRAY_LEN(bounds));
    if (s->pattern)
        add(l, like, SIM_OP_MISFIT, 0, NULL);
}

/* A run's spec is the operator's: of what it refuses as a whole one kind of each is enough. */
static bool add_fixed(struct list *l, const struct sim_operation *like)
{
    static const enum sim_mutation some[] = {SIM_OP_CHANGE, SIM_OP_DELETE, SIM_OP_WRONG_TYPE};
    enum sim_schema_type type = like->schema->type;

    if (like->kind != RCO_KIND_RUN || strcmp(like->path, "spec") == 0 ||
        strncmp(like->path, "spec|cancel", 11) == 0)
        return false;
    add_all(l, like, some, RCO_ARRAY_LEN(some));
    if (type == SIM_SCHEMA_OBJECT)
        add(l, like, SIM_OP_UNKNOWN, 0, NULL);
    return true;
}

static void add_property(struct list *l, const struct sim_operation *like)
{
    static const enum sim_mutation numbers[] = {SIM_OP_DOUBLE, SIM_OP_HALF,  SIM_OP_PLUS_TWO,
                                                SIM_OP_LOWEST, SIM_OP_BELOW, SIM_OP_HIGHEST,
                                                SIM_OP_ABOVE};
    static const enum sim_mutation lists[] = {SIM_OP_PUSH, SIM_OP_POP, SIM_OP_EMPTY,
                                              SIM_OP_DUPLICATE, SIM_OP_TOO_MANY};
    static const enum sim_mutation objects[] = {SIM_OP_EMPTY, SIM_OP_UNKNOWN};

    if (add_fixed(l, like))
        return;
    switch (like->schema->type) {
    case SIM_SCHEMA_STRING:
        add_string(l, like);
        break;
    case SIM_SCHEMA_BOOLEAN:
        add(l, like, SIM_OP_TOGGLE, 0, NULL);
        break;
    case SIM_SCHEMA_INTEGER:
        add_all(l, like, numbers, RCO_ARRAY_LEN(numbers));
        break;
    case SIM_SCHEMA_ARRAY:
        add_all(l, like, lists, RCO_ARRAY_LEN(lists));
        break;
    default:
        add_all(l, like, objects, RCO_ARRAY_LEN(objects));
        break;
    }
    add(l, like, SIM_OP_DELETE, 0, NULL);
    add(l, like, SIM_OP_WRONG_TYPE, 0, NULL);
    for (const char *const *v = sim_op_values(like->kind, like->path); v && *v; v++)
        add(l, like, SIM_OP_VALUE, 0, *v);
}

static void walk(struct list *l, enum rco_kind kind, const struct sim_schema *s, const char *path)
{
    const struct sim_operation like = {.kind = kind, .path = path, .schema = s};

    add_property(l, &like);
    for (const struct sim_schema *p = s->properties; p; p = p->next)
        walk(l, kind, p, rco_arena_printf(&l->arena, "%s|%s", path, p->name));
    if (s->items)
        walk(l, kind, s->items, rco_arena_printf(&l->arena, "%s|[]", path));
    if (s->additional)
        walk(l, kind, s->additional, rco_arena_printf(&l->arena, "%s|{}", path));
}

size_t sim_operations(const struct sim_operation **ret)
{
    static const enum rco_kind kinds[] = {RCO_KIND_DEPSPEC, RCO_KIND_ENV, RCO_KIND_TENANT,
                                          RCO_KIND_RUN};
    static struct list l;
    bool made = l.n > 0;

    for (size_t i = 0; !made && i < RCO_ARRAY_LEN(kinds); i++)
        walk(&l, kinds[i], sim_schema_property(sim_schema_of(kinds[i]), "spec"), "spec");
    for (size_t i = 0; !made && i < sim_n_scenes; i++) {
        const struct sim_operation op = {
            .kind = RCO_KIND_CONFIGMAP, .path = sim_scenes[i].name, .scene = &sim_scenes[i]};

        add(&l, &op, SIM_OP_SCENE, (int)i, NULL);
    }
    *ret = l.items;
    return l.n;
}

/* --- places in a tree --- */

static bool is_step(const char *path, const char *step)
{
    return strncmp(path, step, 2) == 0 && (path[2] == '|' || !path[2]);
}

static const char *rest_of(const char *path)
{
    const char *bar = strchr(path, '|');

    return bar ? bar + 1 : NULL;
}

static const struct rco_value *get(const struct rco_value *v, const char *path)
{
    for (; v && path; path = rest_of(path)) {
        char key[128];
        size_t n = strcspn(path, "|");

        memcpy(key, path, n);
        key[n] = '\0';
        v = is_step(path, "[]") || is_step(path, "{}") ? v->first : rco_value_get(v, key);
    }
    return v;
}

static const struct rco_value *json(struct rco_arena *a, const char *text)
{
    return sim_tree_parse(a, text, strlen(text));
}

/* V with the first child replaced by CHILD (NULL: taken away). */
static const struct rco_value *with_first(struct rco_arena *a, const struct rco_value *v,
                                          const struct rco_value *child)
{
    struct rco_value *copy = rco_arena_memdup(a, v, sizeof *v), *x;

    if (!child) {
        copy->first = v->first ? v->first->next : NULL;
        copy->len -= v->first != NULL;
        return copy;
    }
    x = rco_arena_memdup(a, child, sizeof *child);
    x->key = v->type == RCO_VALUE_OBJECT ? (v->first ? v->first->key : "cpu") : NULL;
    x->next = v->first ? v->first->next : NULL;
    copy->first = x;
    copy->len += v->first == NULL;
    return copy;
}

/* TREE with VALUE (NULL: nothing) at PATH; what is missing on the way is made. */
static const struct rco_value *put(struct rco_arena *a, const struct rco_value *tree,
                                   const char *path, const struct rco_value *value)
{
    const char *rest = rest_of(path);
    char key[128];
    size_t n = strcspn(path, "|");
    const struct rco_value *inner, *child;

    memcpy(key, path, n);
    key[n] = '\0';
    if (is_step(path, "[]") || is_step(path, "{}")) {
        bool wrong = tree && tree->type != (*path == '[' ? RCO_VALUE_ARRAY : RCO_VALUE_OBJECT);

        if (!tree || wrong)
            tree = json(a, *path == '[' ? "[]" : "{}");
        child = rest ? put(a, tree->first, rest, value) : value;
        return with_first(a, tree, child);
    }
    if (tree && tree->type != RCO_VALUE_OBJECT)
        tree = NULL;
    inner = tree ? rco_value_get(tree, key) : NULL;
    if (!rest)
        return sim_tree_set(a, tree ? tree : json(a, "{}"), key, value);
    if (!inner && !value)
        return tree ? tree : json(a, "{}");
    return sim_tree_set(a, tree, key, put(a, inner, rest, value));
}

/* --- values --- */

/* Something that the schema of the property lets through, other than NOW when there is a choice. */
static const struct rco_value *other_string(const struct sim_schema *s, struct rco_arena *a,
                                            const struct rco_value *now)
{
    static const char *const tries[] = {
        "",
        "other",
        "b2",
        "1h30m",
        "40m",
        "https://git.example.com/shop/other",
        "https://git.example.com/shop/infra.git//other",
        "s3://state/other",
        "http://other.example.com:3128",
        "2222222222222222222222222222222222222222",
        "2222222222222222222222222222222222222222222222222222222222222222",
        "123e4567-e89b-42d3-a456-426614174002",
        "2",
        "passphrase"};
    const struct rco_value *found = NULL;

    for (size_t i = 0; i < RCO_ARRAY_LEN(tries); i++) {
        const char *text = tries[i];
        const struct rco_value *v;

        if (i == 0)
            text = now && now->type == RCO_VALUE_STRING ? rco_arena_printf(a, "%sx", now->text)
                                                        : "other";
        v = sim_tree_string(a, text);
        if (sim_schema_check(s, a, v, NULL))
            continue;
        found = v;
        if (!now || !rco_value_equal(v, now))
            return v;
    }
    return found ? found : sim_tree_string(a, "other");
}

/* The smallest value of a schema. */
static const struct rco_value *sample(const struct sim_operation *op, const struct sim_schema *s,
                                      struct rco_arena *a, const struct rco_value *now)
{
    const struct rco_value *v;

    switch (s->type) {
    case SIM_SCHEMA_STRING:
        return s->words ? s->words->first : other_string(s, a, now);
    case SIM_SCHEMA_INTEGER:
        return sim_tree_number(a, s->has_minimum ? s->minimum : 1);
    case SIM_SCHEMA_BOOLEAN:
        return json(a, "true");
    case SIM_SCHEMA_ARRAY:
        return json(a, "[]");
    default:
        break;
    }
    v = json(a, "{}");
    for (const struct rco_value *r = s->required ? s->required->first : NULL; r; r = r->next)
        v = sim_tree_set(a, v, r->text, sample(op, sim_schema_property(s, r->text), a, NULL));
    return v;
}

/* Another allowed value: what the table knows, else what the schema lets through. */
static const struct rco_value *change(const struct sim_operation *op, struct rco_arena *a,
                                      const struct rco_value *now)
{
    const char *known = sim_op_example(op->kind, op->path);

    return known ? json(a, known) : sample(op, op->schema, a, now);
}

static const struct rco_value *long_string(struct rco_arena *a, const struct rco_value *now,
                                           int64_t n)
{
    const char *text = now && now->type == RCO_VALUE_STRING && now->len ? now->text : "a";
    size_t have = strlen(text);
    char *out = rco_arena_alloc(a, (size_t)n + 1);

    for (size_t i = 0; i < (size_t)n; i++)
        out[i] = i < have ? text[i] : 'a';
    return sim_tree_string(a, out);
}

static const struct rco_value *new_string(const struct sim_operation *op, struct rco_arena *a,
                                          const struct rco_value *now)
{
    const struct rco_value *word = op->schema->words ? op->schema->words->first : NULL;

    switch (op->mutation) {
    case SIM_OP_LONGEST:
        return long_string(a, now, op->schema->max_length);
    case SIM_OP_TOO_LONG:
        return long_string(a, now, op->schema->max_length + 1);
    case SIM_OP_NON_ASCII:
        return sim_tree_string(a, NON_ASCII);
    case SIM_OP_MISFIT:
        return sim_tree_string(a, "!mis fit\n");
    case SIM_OP_WRONG_WORD:
        return sim_tree_string(a, "NoSuchWord");
    default:
        for (int i = 0; word && i < op->index; i++)
            word = word->next;
        return word;
    }
}

static const struct rco_value *new_number(const struct sim_operation *op, struct rco_arena *a,
                                          const struct rco_value *now)
{
    const struct sim_schema *s = op->schema;
    int64_t n = now && now->type == RCO_VALUE_NUMBER ? strtoll(now->text, NULL, 10) : 1;

    switch (op->mutation) {
    case SIM_OP_DOUBLE:
        return sim_tree_number(a, n * 2);
    case SIM_OP_HALF:
        return sim_tree_number(a, n / 2);
    case SIM_OP_PLUS_TWO:
        return sim_tree_number(a, n + 2);
    case SIM_OP_LOWEST:
        return sim_tree_number(a, s->has_minimum ? s->minimum : INT64_MIN);
    case SIM_OP_BELOW:
        return sim_tree_number(a, s->has_minimum ? s->minimum - 1 : INT64_MIN);
    case SIM_OP_HIGHEST:
        return sim_tree_number(a, s->has_maximum ? s->maximum : INT64_MAX);
    default:
        return sim_tree_number(a, s->has_maximum ? s->maximum + 1 : INT64_MAX);
    }
}

/* --- lists --- */

static const struct rco_value *appended(struct rco_arena *a, const struct rco_value *list,
                                        const struct rco_value *item)
{
    struct rco_value *copy = rco_arena_memdup(a, list, sizeof *list), **tail = &copy->first;

    for (const struct rco_value *x = list->first; x; x = x->next) {
        *tail = rco_arena_memdup(a, x, sizeof *x);
        tail = &(*tail)->next;
    }
    *tail = rco_arena_memdup(a, item, sizeof *item);
    (*tail)->key = NULL;
    (*tail)->next = NULL;
    copy->len++;
    return copy;
}

/* An item that is like none of the list: its first text is numbered. */
static const struct rco_value *another_item(const struct sim_operation *op, struct rco_arena *a,
                                            const struct rco_value *list, int number)
{
    const struct rco_value *like = list->first, *first;
    const char *key = op->schema->map_keys ? op->schema->map_keys->first->text : NULL;

    if (!like) {
        const char *known = sim_op_example(op->kind, rco_arena_printf(a, "%s|[]", op->path));

        return known ? json(a, known) : sample(op, op->schema->items, a, NULL);
    }
    if (like->type == RCO_VALUE_STRING)
        return sim_tree_string(a, rco_arena_printf(a, "%s%d", like->text, number));
    first = key ? rco_value_get(like, key) : like->first;
    if (!first || first->type != RCO_VALUE_STRING)
        return like;
    return sim_tree_set(a, like, first->key,
                        sim_tree_string(a, rco_arena_printf(a, "%s%d", first->text, number)));
}

static const struct rco_value *new_list(const struct sim_operation *op, struct rco_arena *a,
                                        const struct rco_value *now)
{
    const struct rco_value *list = now && now->type == RCO_VALUE_ARRAY ? now : json(a, "[]");
    int64_t want = op->schema->max_items >= 0 ? op->schema->max_items + 1 : 100;

    switch (op->mutation) {
    case SIM_OP_PUSH:
        return appended(a, list, another_item(op, a, list, 2));
    case SIM_OP_POP:
        return list->first ? with_first(a, list, NULL) : NULL;
    case SIM_OP_DUPLICATE:
        if (!list->first)
            list = appended(a, list, another_item(op, a, list, 2));
        return appended(a, list, list->first);
    default:
        for (int i = 3; (int64_t)list->len < want; i++)
            list = appended(a, list, another_item(op, a, list, i));
        return list;
    }
}

static const struct rco_value *empty_of(const struct sim_operation *op, struct rco_arena *a)
{
    switch (op->schema->type) {
    case SIM_SCHEMA_STRING:
        return sim_tree_string(a, "");
    case SIM_SCHEMA_ARRAY:
        return json(a, "[]");
    default:
        return json(a, "{}");
    }
}

static const struct rco_value *wrong_type(const struct sim_operation *op, struct rco_arena *a)
{
    switch (op->schema->type) {
    case SIM_SCHEMA_STRING:
        return json(a, "7");
    case SIM_SCHEMA_OBJECT:
        return json(a, "[\"x\"]");
    case SIM_SCHEMA_ARRAY:
        return json(a, "{\"x\":\"y\"}");
    default:
        return json(a, "\"1\"");
    }
}

static const struct rco_value *new_value(const struct sim_operation *op, struct rco_arena *a,
                                         const struct rco_value *now)
{
    switch (op->mutation) {
    case SIM_OP_EMPTY:
        return empty_of(op, a);
    case SIM_OP_CHANGE:
        return change(op, a, now);
    case SIM_OP_TOGGLE:
        return json(a, now && now->boolean ? "false" : "true");
    case SIM_OP_UNKNOWN:
        return sim_tree_set(a, now && now->type == RCO_VALUE_OBJECT ? now : json(a, "{}"),
                            UNKNOWN_FIELD, json(a, "\"x\""));
    case SIM_OP_WRONG_TYPE:
        return wrong_type(op, a);
    case SIM_OP_VALUE:
        return json(a, op->literal);
    case SIM_OP_PUSH:
    case SIM_OP_POP:
    case SIM_OP_DUPLICATE:
    case SIM_OP_TOO_MANY:
        return new_list(op, a, now);
    default:
        return op->schema->type == SIM_SCHEMA_STRING ? new_string(op, a, now)
                                                     : new_number(op, a, now);
    }
}

/* What is on the way to the property and missing is made as small as its schema lets it be. */
static const struct rco_value *with_parents(const struct sim_operation *op, struct rco_arena *a,
                                            const struct rco_value *tree)
{
    const struct sim_schema *s = sim_schema_of(op->kind);

    for (const char *bar = strchr(op->path, '|'), *from = op->path; bar;
         from = bar + 1, bar = strchr(from, '|')) {
        const char *path = rco_arena_strndup(a, op->path, (size_t)(bar - op->path));
        const char *step = rco_arena_strndup(a, from, (size_t)(bar - from));
        const char *known = sim_op_example(op->kind, path);

        s = is_step(from, "[]")   ? s->items
            : is_step(from, "{}") ? s->additional
                                  : sim_schema_property(s, step);
        if (!get(tree, path))
            tree = put(a, tree, path, known ? json(a, known) : sample(op, s, a, NULL));
    }
    return tree;
}

const struct rco_value *sim_operation_apply(const struct sim_operation *op, struct rco_arena *a,
                                            const struct rco_value *tree)
{
    const struct rco_value *now = get(tree, op->path), *value;

    if (op->mutation == SIM_OP_DELETE)
        return now ? put(a, tree, op->path, NULL) : NULL;
    value = new_value(op, a, now);
    return value ? put(a, with_parents(op, a, tree), op->path, value) : NULL;
}

/* --- patches --- */

const struct rco_value *sim_merge_patch(struct rco_arena *a, const struct rco_value *old,
                                        const struct rco_value *now)
{
    const struct rco_value *patch = NULL;

    if (now->type != RCO_VALUE_OBJECT || !old || old->type != RCO_VALUE_OBJECT)
        return old && rco_value_equal(old, now) ? NULL : now;
    for (const struct rco_value *x = now->first; x; x = x->next) {
        const struct rco_value *inner = sim_merge_patch(a, rco_value_get(old, x->key), x);

        if (inner)
            patch = sim_tree_set(a, patch, x->key, inner);
    }
    for (const struct rco_value *x = old->first; x; x = x->next)
        if (!rco_value_get(now, x->key))
            patch = sim_tree_set(a, patch, x->key, json(a, "null"));
    return patch;
}
