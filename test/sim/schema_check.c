/* What the API server refuses: structure first, and rules only where the structure is right. */
#include "refusal.h"
#include "schema.h"

#include "tree.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define FAULTS_MAX 12
#define PATH_MAX_LEN 512
#define UNCHECKED                                                                                  \
    "Invalid value: null: some validation rules were not checked because the object was invalid; " \
    "correct the existing errors to complete validation"

struct check {
    struct rco_arena *a;
    struct sim_causes causes;
    bool blocked; /* a fault after which rules are not looked at */
    char path[PATH_MAX_LEN];
};

/* Kinds of faults after which the server looks at no rule. */
static bool blocks(const char *reason)
{
    static const char *const words[] = {"FieldValueRequired", "FieldValueTypeInvalid",
                                        "FieldValueNotSupported", "FieldValueTooLong",
                                        "FieldValueTooMany"};

    for (size_t i = 0; i < RCO_ARRAY_LEN(words); i++)
        if (strcmp(words[i], reason) == 0)
            return true;
    return false;
}

static void fault(struct check *c, const char *reason, const char *fmt, ...) RCO_PRINTF(3, 4);

static void fault(struct check *c, const char *reason, const char *fmt, ...)
{
    rco_autobuf text = RCO_BUF_INIT;
    va_list ap;

    c->blocked |= blocks(reason);
    if (c->causes.n >= FAULTS_MAX)
        return;
    va_start(ap, fmt);
    rco_buf_addv(&text, fmt, ap);
    va_end(ap);
    sim_cause_add(c->a, &c->causes, reason, *c->path ? c->path : "<nil>", "%s", rco_buf_str(&text));
}

/* The path as the words of a fault name it: what is below the status is judged on its own. */
static const char *body_path(const struct check *c)
{
    return rco_str_has_prefix(c->path, "status.") ? c->path + 7 : c->path;
}

/* Appends a step to the path; returns the length before it. */
static size_t enter(struct check *c, const char *key, size_t index)
{
    size_t n = strlen(c->path);

    if (key)
        snprintf(c->path + n, sizeof c->path - n, "%s%s", n ? "." : "", key);
    else
        snprintf(c->path + n, sizeof c->path - n, "[%zu]", index);
    return n;
}

static const char *type_name(const struct rco_value *v)
{
    static const char *const names[] = {"null", "boolean", "number", "string", "array", "object"};

    if (v->type == RCO_VALUE_NUMBER && strspn(v->text, "-0123456789") == v->len)
        return "integer";
    return names[v->type];
}

/* --- structure --- */

static void check_structure(struct check *c, const struct sim_schema *s, const struct rco_value *v);

static bool has_type(const struct sim_schema *s, const struct rco_value *v)
{
    switch (s->type) {
    case SIM_SCHEMA_OBJECT:
        return v->type == RCO_VALUE_OBJECT;
    case SIM_SCHEMA_ARRAY:
        return v->type == RCO_VALUE_ARRAY;
    case SIM_SCHEMA_STRING:
        return v->type == RCO_VALUE_STRING;
    case SIM_SCHEMA_BOOLEAN:
        return v->type == RCO_VALUE_BOOL;
    case SIM_SCHEMA_INTEGER:
        return v->type == RCO_VALUE_NUMBER && strspn(v->text, "-0123456789") == v->len;
    default:
        return true;
    }
}

static void check_words(struct check *c, const struct sim_schema *s, const struct rco_value *v)
{
    rco_autobuf all = RCO_BUF_INIT;

    for (const struct rco_value *w = s->words->first; w; w = w->next)
        if (rco_value_equal(w, v))
            return;
    for (const struct rco_value *w = s->words->first; w; w = w->next)
        rco_buf_addf(&all, "%s\"%s\"", all.len ? ", " : "", w->text);
    fault(c, "FieldValueNotSupported", "Unsupported value: \"%s\": supported values: %s",
          rco_str_or_empty(v->text), rco_buf_str(&all));
}

static void check_string(struct check *c, const struct sim_schema *s, const struct rco_value *v)
{
    int64_t n = 0;

    for (size_t i = 0; i < v->len; i++)
        n += ((unsigned char)v->text[i] & 0xc0) != 0x80;
    if (s->max_length >= 0 && n > s->max_length)
        fault(c, "FieldValueTooLong", "Too long: may not be more than %" PRId64 " bytes",
              s->max_length);
    if (s->min_length >= 0 && n < s->min_length)
        fault(c, "FieldValueInvalid",
              "Invalid value: \"%s\": %s in body should be at least %" PRId64 " chars long",
              v->text, body_path(c), s->min_length);
    if (s->pattern && !sim_regex_matches(s->pattern, v->text, v->len))
        fault(c, "FieldValueInvalid", "Invalid value: \"%s\": %s in body should match '%s'",
              v->text, body_path(c), s->pattern_text);
    if (s->is_time && (v->len < 20 || v->text[10] != 'T' || v->text[v->len - 1] != 'Z'))
        fault(c, "FieldValueTypeInvalid",
              "Invalid value: \"%s\": %s in body must be of type date-time: \"%s\"", v->text,
              body_path(c), v->text);
}

static void check_integer(struct check *c, const struct sim_schema *s, const struct rco_value *v)
{
    int64_t n = strtoll(v->text, NULL, 10);

    if (s->has_minimum && n < s->minimum)
        fault(c, "FieldValueInvalid",
              "Invalid value: %s: %s in body should be greater than or equal to %" PRId64, v->text,
              body_path(c), s->minimum);
    if (s->has_maximum && n > s->maximum)
        fault(c, "FieldValueInvalid",
              "Invalid value: %s: %s in body should be less than or equal to %" PRId64, v->text,
              body_path(c), s->maximum);
}

static bool same_keys(const struct sim_schema *s, const struct rco_value *x,
                      const struct rco_value *y)
{
    for (const struct rco_value *k = s->map_keys->first; k; k = k->next) {
        const struct rco_value *p = rco_value_get(x, k->text), *q = rco_value_get(y, k->text);

        if (!p || !q || !rco_value_equal(p, q))
            return false;
    }
    return true;
}

/* Names what is twice: the item of a set, the keys of an item of a map. */
static void duplicate(struct check *c, const struct sim_schema *s, const struct rco_value *item)
{
    rco_autobuf text = RCO_BUF_INIT;

    if (s->is_set) {
        rco_value_canonical(item, &text);
    } else {
        rco_buf_addc(&text, '{');
        for (const struct rco_value *k = s->map_keys->first; k; k = k->next) {
            rco_buf_addf(&text, "%s\"%s\":", text.len > 1 ? "," : "", k->text);
            rco_value_canonical(rco_value_get(item, k->text), &text);
        }
        rco_buf_addc(&text, '}');
    }
    fault(c, "FieldValueDuplicate", "Duplicate value: %s", rco_buf_str(&text));
}

static void check_list(struct check *c, const struct sim_schema *s, const struct rco_value *v)
{
    size_t i = 0;

    if (s->max_items >= 0 && (int64_t)v->len > s->max_items)
        fault(c, "FieldValueTooMany", "Too many: %zu: must have at most %" PRId64 " items", v->len,
              s->max_items);
    for (const struct rco_value *x = v->first; x; x = x->next, i++) {
        size_t n = enter(c, NULL, i);

        check_structure(c, s->items, x);
        for (const struct rco_value *y = v->first; y != x; y = y->next)
            if ((s->is_set && rco_value_equal(x, y)) || (s->map_keys && same_keys(s, x, y))) {
                duplicate(c, s, x);
                break;
            }
        c->path[n] = '\0';
    }
}

static void check_object(struct check *c, const struct sim_schema *s, const struct rco_value *v)
{
    if (s->max_properties >= 0 && (int64_t)v->len > s->max_properties)
        fault(c, "FieldValueTooMany", "Too many: %zu: must have at most %" PRId64 " items", v->len,
              s->max_properties);
    for (const struct rco_value *x = v->first; x; x = x->next) {
        const struct sim_schema *p = sim_schema_property(s, x->key);
        size_t n = enter(c, x->key, 0);

        if (p)
            check_structure(c, p, x);
        c->path[n] = '\0';
    }
    for (const struct rco_value *r = s->required ? s->required->first : NULL; r; r = r->next) {
        size_t n = enter(c, r->text, 0);

        if (!rco_value_get(v, r->text))
            fault(c, "FieldValueRequired", "Required value");
        c->path[n] = '\0';
    }
}

static void check_structure(struct check *c, const struct sim_schema *s, const struct rco_value *v)
{
    static const char *const names[] = {"", "object", "array", "string", "integer", "boolean"};

    if (!has_type(s, v)) {
        fault(c, "FieldValueTypeInvalid",
              "Invalid value: \"%s\": %s in body must be of type %s: \"%s\"", type_name(v),
              body_path(c), names[s->type], type_name(v));
        return;
    }
    if (s->words)
        check_words(c, s, v);
    switch (s->type) {
    case SIM_SCHEMA_STRING:
        check_string(c, s, v);
        break;
    case SIM_SCHEMA_INTEGER:
        check_integer(c, s, v);
        break;
    case SIM_SCHEMA_ARRAY:
        if (s->items)
            check_list(c, s, v);
        break;
    case SIM_SCHEMA_OBJECT:
        check_object(c, s, v);
        break;
    default:
        break;
    }
}

/* --- rules --- */

/* Content that is the same node for node was judged when it was stored. */
static bool is_shared(const struct rco_value *v, const struct rco_value *old)
{
    return old && v->first && v->first == old->first;
}

static const struct rco_value *item_before(const struct sim_schema *s, const struct rco_value *old,
                                           const struct rco_value *item)
{
    for (const struct rco_value *x = s->map_keys && old ? old->first : NULL; x; x = x->next)
        if (same_keys(s, x, item))
            return x;
    return NULL; /* items of other lists have no past */
}

static void check_rules(struct check *c, const struct sim_schema *s, const struct rco_value *v,
                        const struct rco_value *old)
{
    size_t i = 0, n;

    if (is_shared(v, old))
        return;
    for (size_t r = 0; r < s->n_rules; r++) {
        const struct sim_rule *rule = &s->rules[r];

        if ((sim_cel_is_transition(rule->cel) && !old) || sim_cel_holds(rule->cel, c->a, v, old))
            continue;
        n = strlen(c->path);
        snprintf(c->path + n, sizeof c->path - n, "%s",
                 rco_str_or_empty(rule->field_path) + (n == 0 && rule->field_path));
        if (rco_streq(rule->reason, "FieldValueForbidden"))
            fault(c, rule->reason, "Forbidden: %s", rule->message);
        else
            fault(c, "FieldValueInvalid", "Invalid value: \"%s\": %s", type_name(v), rule->message);
        c->path[n] = '\0';
    }
    for (const struct rco_value *x = v->first; x; x = x->next, i++) {
        bool in_list = v->type == RCO_VALUE_ARRAY;
        const struct sim_schema *p = in_list ? s->items : sim_schema_property(s, x->key);
        n = enter(c, in_list ? NULL : x->key, i);
        if (p)
            check_rules(c, p, x, in_list ? item_before(s, old, x) : rco_value_get(old, x->key));
        c->path[n] = '\0';
    }
}

const struct sim_cause *sim_schema_check(const struct sim_schema *s, struct rco_arena *a,
                                         const struct rco_value *tree, const struct rco_value *old)
{
    struct check c = {.a = a};

    check_structure(&c, s, tree);
    if (c.blocked)
        sim_cause_add(a, &c.causes, "FieldValueInvalid", "<nil>", UNCHECKED);
    else
        check_rules(&c, s, tree, old);
    return c.causes.first;
}
