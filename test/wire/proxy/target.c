#include "target.h"

#include "base/str.h"

#include <stdio.h>
#include <string.h>

#define PARTS_MAX 10

const char *fp_verb_name(enum fp_verb verb)
{
    static const char *const names[] = {
        [FP_GET] = "get",     [FP_LIST] = "list",     [FP_WATCH] = "watch", [FP_CREATE] = "create",
        [FP_PATCH] = "patch", [FP_DELETE] = "delete", [FP_OTHER] = "other"};

    return names[verb];
}

static void copy(char *out, size_t size, const char *p, size_t n)
{
    if (n >= size)
        n = size - 1;
    memcpy(out, p, n);
    out[n] = '\0';
}

/* The parts of a path between its slashes, up to its query. */
static size_t split(const char *path, const char *parts[], size_t lengths[])
{
    size_t n = 0, whole = strcspn(path, "?");
    const char *p = path, *end = path + whole;

    while (p < end && n < PARTS_MAX) {
        size_t length;

        p += *p == '/';
        length = strcspn(p, "/?");
        parts[n] = p;
        lengths[n++] = length;
        p += length;
    }
    return n;
}

static bool is(const char *part, size_t length, const char *word)
{
    return strlen(word) == length && memcmp(part, word, length) == 0;
}

bool fp_target_has(const struct fp_target *t, const char *name, const char *value)
{
    char got[512];

    fp_target_parameter(t, name, got, sizeof got);
    return value ? rco_streq(got, value) : *got != '\0';
}

void fp_target_parameter(const struct fp_target *t, const char *name, char *out, size_t size)
{
    const char *p = t->query;
    size_t n = strlen(name);

    *out = '\0';
    while (*p == '?' || *p == '&') {
        size_t length = strcspn(++p, "&");

        if (length > n && memcmp(p, name, n) == 0 && p[n] == '=') {
            copy(out, size, p + n + 1, length - n - 1);
            return;
        }
        p += length;
    }
}

static enum fp_verb verb_of(const char *method, const struct fp_target *t)
{
    if (rco_streq(method, "POST"))
        return FP_CREATE;
    if (rco_streq(method, "PATCH") || rco_streq(method, "PUT"))
        return FP_PATCH;
    if (rco_streq(method, "DELETE"))
        return FP_DELETE;
    if (!rco_streq(method, "GET") || !*t->res)
        return FP_OTHER;
    if (*t->name)
        return FP_GET;
    return fp_target_has(t, "watch", "true") || fp_target_has(t, "watch", "1") ? FP_WATCH : FP_LIST;
}

void fp_target_parse(const char *method, const char *path, struct fp_target *ret)
{
    const char *parts[PARTS_MAX];
    size_t lengths[PARTS_MAX], n = split(path, parts, lengths), i;

    *ret = (struct fp_target){.query = path + strcspn(path, "?")};
    i = n && is(parts[0], lengths[0], "api") ? 2 : n && is(parts[0], lengths[0], "apis") ? 3 : n;
    if (i < n) {
        copy(ret->prefix, sizeof ret->prefix, path, (size_t)(parts[i] - path) - 1);
        if (is(parts[i], lengths[i], "namespaces") && i + 2 < n) {
            copy(ret->ns, sizeof ret->ns, parts[i + 1], lengths[i + 1]);
            ret->namespaced = true;
            i += 2;
        }
        copy(ret->res, sizeof ret->res, parts[i], lengths[i]);
        if (i + 1 < n)
            copy(ret->name, sizeof ret->name, parts[i + 1], lengths[i + 1]);
        if (i + 2 < n)
            copy(ret->sub, sizeof ret->sub, parts[i + 2], lengths[i + 2]);
    }
    ret->verb = verb_of(method, ret);
}

bool fp_target_counts(const struct fp_target *t, const char *election)
{
    if (t->verb != FP_CREATE && t->verb != FP_PATCH && t->verb != FP_DELETE)
        return false;
    if (rco_streq(t->res, "events") || rco_streq(t->res, "tokenreviews") || !*t->res)
        return false;
    return !rco_streq(t->res, "leases") || !rco_streq(t->name, election);
}

static bool is_cluster_scoped(const char *res)
{
    static const char *const all[] = {"nodes", "tenants", "customresourcedefinitions",
                                      "validatingadmissionpolicies",
                                      "validatingadmissionpolicybindings"};

    for (size_t i = 0; i < RCO_ARRAY_LEN(all); i++)
        if (rco_streq(res, all[i]))
            return true;
    return false;
}

void fp_target_scope(const struct fp_target *t, const char *path, const char *ns,
                     struct rco_buf *out)
{
    bool all = (t->verb == FP_LIST || t->verb == FP_WATCH) && !t->namespaced && *ns &&
               !is_cluster_scoped(t->res);

    rco_buf_clear(out);
    if (!all)
        rco_buf_adds(out, path);
    else if (rco_streq(t->res, "namespaces"))
        rco_buf_addf(out, "%s/namespaces%s%sfieldSelector=metadata.name%%3D%s", t->prefix,
                     *t->query ? t->query : "?", *t->query ? "&" : "", ns);
    else
        rco_buf_addf(out, "%s/namespaces/%s/%s%s", t->prefix, ns, t->res, t->query);
}
