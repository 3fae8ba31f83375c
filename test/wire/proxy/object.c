#include "object.h"

#include "base/arena.h"
#include "base/str.h"
#include "json/value.h"

#include <stdio.h>
#include <string.h>

static void text(const struct rco_json_value *of, const char *key, char *out, size_t size)
{
    const struct rco_json_value *v = rco_json_value_get(of, key);

    snprintf(out, size, "%s", v && v->type == RCO_JSON_STRING ? v->text : "");
}

static void read_value(const struct rco_json_value *v, struct fp_object *ret)
{
    const struct rco_json_value *meta = rco_json_value_get(v, "metadata");

    *ret = (struct fp_object){0};
    text(v, "kind", ret->kind, sizeof ret->kind);
    text(meta, "namespace", ret->ns, sizeof ret->ns);
    text(meta, "name", ret->name, sizeof ret->name);
    text(meta, "uid", ret->uid, sizeof ret->uid);
    text(meta, "resourceVersion", ret->rv, sizeof ret->rv);
    text(rco_json_value_get(meta, "annotations"), "k8s.io/initial-events-end", ret->end,
         sizeof ret->end);
}

bool fp_object_read(const char *json, size_t n, struct fp_object *ret)
{
    rco_autoarena a = RCO_ARENA_INIT;
    struct rco_error err = RCO_ERROR_INIT;
    struct rco_json_value *v;

    *ret = (struct fp_object){0};
    if (rco_json_value_parse(json, n, &a, &v, &err) < 0)
        return false;
    read_value(v, ret);
    return *ret->kind || *ret->name;
}

/* The length of the value that begins at P, strings heeded: what the API server sends is sound. */
static size_t value_length(const char *p, const char *end)
{
    size_t depth = 0;
    bool quoted = false;

    for (const char *q = p; q < end; q++) {
        if (quoted) {
            q += *q == '\\';
            quoted = q < end && *q != '"';
        } else if (*q == '"') {
            quoted = true;
        } else if (*q == '{' || *q == '[') {
            depth++;
        } else if ((*q == '}' || *q == ']') && --depth == 0) {
            return (size_t)(q - p) + 1;
        }
    }
    return 0;
}

bool fp_frame_read(const char *json, size_t n, char *type, struct fp_object *ret, size_t *ret_at,
                   size_t *ret_length)
{
    rco_autoarena a = RCO_ARENA_INIT;
    struct rco_error err = RCO_ERROR_INIT;
    struct rco_json_value *v;
    const char *at;

    *type = '\0';
    *ret = (struct fp_object){0};
    if (rco_json_value_parse(json, n, &a, &v, &err) < 0)
        return false;
    text(v, "type", type, 16);
    read_value(rco_json_value_get(v, "object"), ret);
    at = memmem(json, n, "\"object\":", 9);
    if (!at)
        return false;
    *ret_at = (size_t)(at - json) + 9;
    *ret_length = value_length(at + 9, json + n);
    return *ret_length > 0;
}

bool fp_list_read(const char *json, size_t n, char *kind, char *version, char *rv,
                  void (*item)(void *ctx, const char *text, size_t n), void *ctx)
{
    rco_autoarena a = RCO_ARENA_INIT;
    struct rco_error err = RCO_ERROR_INIT;
    struct rco_json_value *v;
    const char *p, *end = json + n;

    if (rco_json_value_parse(json, n, &a, &v, &err) < 0 || !rco_json_value_get(v, "items"))
        return false;
    text(v, "kind", kind, 64);
    text(v, "apiVersion", version, 64);
    text(rco_json_value_get(v, "metadata"), "resourceVersion", rv, 64);
    p = memmem(json, n, "\"items\":[", 9);
    for (p = p ? p + 9 : end; p < end && *p != ']';) {
        size_t length = value_length(p, end);

        if (!length)
            return false;
        item(ctx, p, length);
        p += length;
        p += p < end && *p == ',';
    }
    return true;
}
