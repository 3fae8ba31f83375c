#include "tree.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define KEY_MAX 256

const struct rco_value *sim_tree_parse(struct rco_arena *a, const char *json, size_t n)
{
    struct rco_error err = RCO_ERROR_INIT;
    struct rco_value *v = NULL;

    return rco_value_parse(json, n, a, &v, &err) == 0 ? v : NULL;
}

const struct rco_value *sim_tree_f(struct rco_arena *a, const char *fmt, ...)
{
    rco_autobuf text = RCO_BUF_INIT;
    const struct rco_value *v;
    va_list ap;

    va_start(ap, fmt);
    rco_buf_addv(&text, fmt, ap);
    va_end(ap);
    v = sim_tree_parse(a, rco_buf_str(&text), text.len);
    if (!v) {
        fprintf(stderr, "sim: not JSON: %s\n", rco_buf_str(&text));
        abort();
    }
    return v;
}

/* Copies the first key of PATH and returns what is behind it, NULL at the end. */
static const char *first_key(const char *path, char key[KEY_MAX])
{
    size_t n = strcspn(path, "|");

    assert(n < KEY_MAX);
    memcpy(key, path, n);
    key[n] = '\0';
    return path[n] ? path + n + 1 : NULL;
}

const struct rco_value *sim_tree_get(const struct rco_value *v, const char *path)
{
    char key[KEY_MAX];

    while (v && path) {
        path = first_key(path, key);
        v = rco_value_get(v, key);
    }
    return v;
}

const char *sim_tree_str(const struct rco_value *v, const char *path)
{
    const struct rco_value *x = sim_tree_get(v, path);

    return x && x->type == RCO_VALUE_STRING ? x->text : NULL;
}

int64_t sim_tree_int(const struct rco_value *v, const char *path, int64_t fallback)
{
    const struct rco_value *x = sim_tree_get(v, path);

    return x && x->type == RCO_VALUE_NUMBER ? strtoll(x->text, NULL, 10) : fallback;
}

bool sim_tree_has(const struct rco_value *v, const char *path, const char *text)
{
    const struct rco_value *list = sim_tree_get(v, path);

    for (const struct rco_value *x = list ? list->first : NULL; x; x = x->next)
        if (x->type == RCO_VALUE_STRING && strcmp(x->text, text) == 0)
            return true;
    return false;
}

const struct rco_value *sim_tree_string(struct rco_arena *a, const char *text)
{
    struct rco_value *v = RCO_NEW(a, struct rco_value);

    v->type = RCO_VALUE_STRING;
    v->len = strlen(text);
    v->text = rco_arena_strdup(a, text);
    return v;
}

const struct rco_value *sim_tree_number(struct rco_arena *a, int64_t n)
{
    struct rco_value *v = RCO_NEW(a, struct rco_value);

    v->type = RCO_VALUE_NUMBER;
    v->text = rco_arena_printf(a, "%" PRId64, n);
    v->len = strlen(v->text);
    return v;
}

/* A node of its own for the value of V, to be linked under KEY (NULL: in a list). */
static struct rco_value *node(struct rco_arena *a, const struct rco_value *v, const char *key)
{
    struct rco_value *n = rco_arena_memdup(a, v, sizeof *v);

    n->key = key;
    n->next = NULL;
    return n;
}

struct builder {
    struct rco_arena *a;
    struct rco_value *object;
    struct rco_value **tail;
};

static struct builder begin(struct rco_arena *a, enum rco_value_type type)
{
    struct builder b = {.a = a, .object = RCO_NEW(a, struct rco_value)};

    b.object->type = type;
    b.tail = &b.object->first;
    return b;
}

static void add(struct builder *b, const struct rco_value *v, const char *key)
{
    *b->tail = node(b->a, v, key);
    b->tail = &(*b->tail)->next;
    b->object->len++;
}

static bool is_object(const struct rco_value *v)
{
    return v && v->type == RCO_VALUE_OBJECT;
}

const struct rco_value *sim_tree_set(struct rco_arena *a, const struct rco_value *root,
                                     const char *path, const struct rco_value *value)
{
    char key[KEY_MAX];
    const char *rest = first_key(path, key);
    struct builder b = begin(a, RCO_VALUE_OBJECT);
    bool found = false;

    if (!value && !sim_tree_get(root, path))
        return root;
    for (const struct rco_value *x = is_object(root) ? root->first : NULL; x; x = x->next) {
        const struct rco_value *v = x;

        if (strcmp(x->key, key) == 0) {
            found = true;
            v = rest ? sim_tree_set(a, x, rest, value) : value;
        }
        if (v)
            add(&b, v, x->key);
    }
    if (!found && value)
        add(&b, rest ? sim_tree_set(a, NULL, rest, value) : value, rco_arena_strdup(a, key));
    return b.object;
}

const struct rco_value *sim_tree_merge(struct rco_arena *a, const struct rco_value *old,
                                       const struct rco_value *patch)
{
    struct builder b = begin(a, RCO_VALUE_OBJECT);

    if (!is_object(patch))
        return patch;
    for (const struct rco_value *x = is_object(old) ? old->first : NULL; x; x = x->next) {
        const struct rco_value *p = rco_value_get(patch, x->key);

        if (!p)
            add(&b, x, x->key);
        else if (p->type != RCO_VALUE_NULL)
            add(&b, sim_tree_merge(a, x, p), x->key);
    }
    for (const struct rco_value *p = patch->first; p; p = p->next)
        if (p->type != RCO_VALUE_NULL && !(is_object(old) && rco_value_get(old, p->key)))
            add(&b, sim_tree_merge(a, NULL, p), p->key);
    return b.object;
}

const struct rco_value *sim_tree_drop(struct rco_arena *a, const struct rco_value *root,
                                      const char *path, const char *text)
{
    const struct rco_value *list = sim_tree_get(root, path);
    struct builder b = begin(a, RCO_VALUE_ARRAY);

    for (const struct rco_value *x = list ? list->first : NULL; x; x = x->next)
        if (x->type != RCO_VALUE_STRING || strcmp(x->text, text) != 0)
            add(&b, x, NULL);
    return sim_tree_set(a, root, path, b.object->len ? b.object : NULL);
}

const struct rco_value *sim_tree_append(struct rco_arena *a, const struct rco_value *root,
                                        const char *path, const char *text)
{
    const struct rco_value *list = sim_tree_get(root, path);
    struct builder b = begin(a, RCO_VALUE_ARRAY);

    for (const struct rco_value *x = list ? list->first : NULL; x; x = x->next)
        add(&b, x, NULL);
    add(&b, sim_tree_string(a, text), NULL);
    return sim_tree_set(a, root, path, b.object);
}
