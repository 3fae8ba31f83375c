/* Request paths and their parameters, taken apart. */
#include "transport.h"

#include <string.h>

#define SEGMENTS_MAX 9

static int hex(char c)
{
    return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
}

static const char *unescape(struct rco_arena *a, const char *text, size_t n)
{
    char *out = rco_arena_alloc(a, n + 1);
    size_t len = 0;

    for (size_t i = 0; i < n; i++) {
        if (text[i] == '%' && i + 2 < n) {
            out[len++] = (char)(hex(text[i + 1]) << 4 | hex(text[i + 2]));
            i += 2;
        } else {
            out[len++] = text[i];
        }
    }
    return out;
}

static size_t split(struct rco_arena *a, const char *path, const char *out[SEGMENTS_MAX])
{
    const char *end = path + strcspn(path, "?");
    size_t n = 0;

    for (const char *p = path; p < end && n < SEGMENTS_MAX;) {
        size_t len = strcspn(p + 1, "/?");

        out[n++] = unescape(a, p + 1, len);
        p += 1 + len;
    }
    return n;
}

static enum rco_kind find_kind(const char *group, const char *version, const char *plural)
{
    for (int k = 1; k < RCO_KIND_COUNT; k++) {
        const struct rco_kind_info *i = rco_kind_info((enum rco_kind)k);

        if (strcmp(i->group, group) == 0 && strcmp(i->version, version) == 0 &&
            strcmp(i->plural, plural) == 0)
            return (enum rco_kind)k;
    }
    return RCO_KIND_NONE;
}

static bool has_group(const char *group, const char *version)
{
    for (int k = 1; k < RCO_KIND_COUNT; k++) {
        const struct rco_kind_info *i = rco_kind_info((enum rco_kind)k);

        if (strcmp(i->group, group) == 0 && strcmp(i->version, version) == 0)
            return true;
    }
    return false;
}

/* /api/v1/... or /apis/<group>/<version>/..., with namespaces/<ns> where there is one. */
bool sim_parse_path(struct rco_arena *a, const char *path, struct sim_target *t)
{
    const char *part[SEGMENTS_MAX] = {0};
    size_t n = split(a, path, part), at;
    const char *group = "", *version;

    *t = (struct sim_target){.ns = ""};
    if (n < 3)
        return false;
    if (strcmp(part[0], "apis") == 0) {
        group = part[1];
        version = part[2];
        at = 3;
    } else {
        version = part[1];
        at = 2;
    }
    if (at + 2 < n && strcmp(part[at], "namespaces") == 0) {
        t->ns = part[at + 1];
        at += 2;
    }
    if (at >= n)
        return false;
    t->kind = find_kind(group, version, part[at]);
    t->group_is_known = has_group(group, version);
    t->name = at + 1 < n ? part[at + 1] : NULL;
    t->subresource = at + 2 < n ? part[at + 2] : NULL;
    return t->kind != RCO_KIND_NONE;
}

static void set_parameter(struct sim_query *q, const char *key, const char *value)
{
    const struct {
        const char *key, **text;
    } texts[] = {{"resourceVersion", &q->resource_version},
                 {"resourceVersionMatch", &q->match},
                 {"labelSelector", &q->labels},
                 {"fieldSelector", &q->fields},
                 {"continue", &q->token}};

    for (size_t i = 0; i < RCO_ARRAY_LEN(texts); i++)
        if (strcmp(texts[i].key, key) == 0)
            *texts[i].text = value;
    if (strcmp(key, "limit") == 0)
        q->limit = strtoll(value, NULL, 10);
    if (strcmp(key, "timeoutSeconds") == 0)
        q->timeout_s = strtoll(value, NULL, 10);
    if (strcmp(key, "watch") == 0)
        q->watch = strcmp(value, "true") == 0;
    if (strcmp(key, "sendInitialEvents") == 0)
        q->initial_events = strcmp(value, "true") == 0;
    if (strcmp(key, "allowWatchBookmarks") == 0)
        q->bookmarks = strcmp(value, "true") == 0;
}

void sim_parse_query(struct rco_arena *a, const char *path, struct sim_query *q)
{
    const char *p = strchr(path, '?');

    *q = (struct sim_query){0};
    while (p && *p) {
        size_t n = strcspn(p + 1, "&"), k = strcspn(p + 1, "=&");

        if (k < n)
            set_parameter(q, unescape(a, p + 1, k), unescape(a, p + 2 + k, n - k - 1));
        p += 1 + n;
    }
}
