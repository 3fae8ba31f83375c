/* JSON trees for tests: parsing YAML, merge patches, subset comparison. Everything lives in an
 * arena. */
#ifndef RCO_TEST_DECIDE_TREE_H
#define RCO_TEST_DECIDE_TREE_H

#include "pulumi/value.h"
#include "json/yaml.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static inline struct rco_value *tree_parse_n(struct rco_arena *a, const char *json, size_t n)
{
    struct rco_error err = RCO_ERROR_INIT;
    struct rco_value *v = NULL;
    if (rco_value_parse(json, n, a, &v, &err) != 0)
        fail_msg("%s in %.200s", err.msg, json);
    return v;
}

static inline struct rco_value *tree_parse(struct rco_arena *a, const char *json)
{
    return tree_parse_n(a, json, strlen(json));
}

static inline char *tree_text(struct rco_arena *a, const struct rco_value *v)
{
    rco_autobuf out = RCO_BUF_INIT;
    rco_value_write(v, &out);
    return rco_arena_strndup(a, rco_buf_str(&out), out.len);
}

/* The member KEY, through dots: "status.state". */
static inline const struct rco_value *tree_get(const struct rco_value *v, const char *path)
{
    char key[128];
    while (v && *path) {
        size_t n = strcspn(path, ".");
        memcpy(key, path, n);
        key[n] = '\0';
        v = rco_value_get(v, key);
        path += n;
        path += *path == '.';
    }
    return v;
}

static inline const char *tree_string(const struct rco_value *v, const char *path)
{
    const struct rco_value *x = tree_get(v, path);
    return x && x->type == RCO_VALUE_STRING ? x->text : NULL;
}

static inline struct rco_value *tree_copy(struct rco_arena *a, const struct rco_value *v)
{
    struct rco_value *x = RCO_NEW(a, struct rco_value);
    struct rco_value **tail = &x->first;
    *x = *v;
    x->first = x->next = NULL;
    tail = &x->first;
    for (const struct rco_value *c = v->first; c; c = c->next) {
        *tail = tree_copy(a, c);
        tail = &(*tail)->next;
    }
    return x;
}

/* Puts VALUE (moved, NULL removes) under KEY of the object OBJ. */
static inline void tree_put(struct rco_arena *a, struct rco_value *obj, const char *key,
                            struct rco_value *value)
{
    struct rco_value **at = &obj->first;
    while (*at && strcmp((*at)->key, key) != 0)
        at = &(*at)->next;
    struct rco_value *rest = *at ? (*at)->next : NULL;
    if (*at)
        obj->len--;
    *at = rest;
    if (!value)
        return;
    value->key = rco_arena_strdup(a, key);
    value->next = rest;
    *at = value;
    obj->len++;
}

/* RFC 7386. TARGET may be NULL. */
static inline struct rco_value *tree_merge(struct rco_arena *a, struct rco_value *target,
                                           const struct rco_value *patch)
{
    if (patch->type != RCO_VALUE_OBJECT) {
        struct rco_value *x = tree_copy(a, patch);
        x->key = target ? target->key : NULL;
        return x;
    }
    if (!target || target->type != RCO_VALUE_OBJECT) {
        struct rco_value *fresh = RCO_NEW(a, struct rco_value);
        fresh->type = RCO_VALUE_OBJECT;
        target = fresh;
    }
    for (const struct rco_value *c = patch->first; c; c = c->next) {
        if (c->type == RCO_VALUE_NULL) {
            tree_put(a, target, c->key, NULL);
            continue;
        }
        struct rco_value *old = (struct rco_value *)rco_value_get(target, c->key);
        tree_put(a, target, c->key, tree_merge(a, old, c));
    }
    return target;
}

/* Sets a dotted path of objects to the JSON text. */
static inline void tree_set(struct rco_arena *a, struct rco_value *v, const char *path,
                            const char *json)
{
    rco_autobuf text = RCO_BUF_INIT;
    unsigned depth = 0;
    while (*path) {
        size_t n = strcspn(path, ".");
        rco_buf_addf(&text, "{\"%.*s\":", (int)n, path);
        depth++;
        path += n;
        path += *path == '.';
    }
    rco_buf_adds(&text, json);
    while (depth--)
        rco_buf_addc(&text, '}');
    tree_merge(a, v, tree_parse(a, rco_buf_str(&text)));
}

/* Whether GOT holds everything that WANT says. "*" is anything that is there, null is absence, a
 * list must have the same length; a text "~x" is a text that contains x. On a difference the path
 * goes to WHERE. */
static inline bool tree_contains(const struct rco_value *want, const struct rco_value *got,
                                 const char *path, struct rco_buf *where)
{
    if (want->type == RCO_VALUE_STRING && strcmp(want->text, "*") == 0 && got)
        return true;
    if (want->type == RCO_VALUE_NULL && !got)
        return true;
    if (want->type == RCO_VALUE_STRING && want->text[0] == '~' && got &&
        got->type == RCO_VALUE_STRING && strstr(got->text, want->text + 1))
        return true;
    bool same = got && want->type == got->type;
    if (same && want->type == RCO_VALUE_OBJECT) {
        for (const struct rco_value *c = want->first; c; c = c->next) {
            char sub[512];
            snprintf(sub, sizeof(sub), "%.380s.%.100s", path, c->key);
            if (!tree_contains(c, rco_value_get(got, c->key), sub, where))
                return false;
        }
        return true;
    }
    if (same && want->type == RCO_VALUE_ARRAY && want->len == got->len) {
        size_t i = 0;
        for (const struct rco_value *c = want->first, *g = got->first; c;
             c = c->next, g = g->next) {
            char sub[512];
            snprintf(sub, sizeof(sub), "%.400s[%zu]", path, i++);
            if (!tree_contains(c, g, sub, where))
                return false;
        }
        return true;
    }
    if (same && want->type != RCO_VALUE_ARRAY && rco_value_equal(want, got))
        return true;
    rco_buf_addf(where, "%s: want ", path);
    rco_value_write(want, where);
    rco_buf_adds(where, ", got ");
    if (got)
        rco_value_write(got, where);
    else
        rco_buf_adds(where, "nothing");
    return false;
}

static inline struct rco_value *tree_load(struct rco_arena *a, const char *path)
{
    struct rco_error err = RCO_ERROR_INIT;
    rco_autobuf text = RCO_BUF_INIT, json = RCO_BUF_INIT;
    char block[4096];
    FILE *f = fopen(path, "r");
    if (!f)
        fail_msg("%s cannot be opened", path);
    for (size_t n; (n = fread(block, 1, sizeof(block), f)) > 0;)
        rco_buf_add(&text, block, n);
    fclose(f);
    if (rco_yaml_to_json(rco_buf_str(&text), text.len, &json, &err) != 0)
        fail_msg("%s: %s", path, err.msg);
    return tree_parse_n(a, rco_arena_strndup(a, json.data, json.len), json.len);
}

#endif
