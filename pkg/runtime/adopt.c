#include "runtime/adopt.h"

#include "base/quantity.h"
#include "base/str.h"
#include "json/value.h"

#include <string.h>

/* What the API server fills in. Paths as printed by this file, with [] for any index; a '*' stands
 * for any rest of a key. VALUE NULL = anything. */
struct filled {
    const char *path;
    const char *value;
};

static const struct filled any_kind[] = {
    {"apiVersion", NULL},
    {"kind", NULL},
    {"metadata.namespace", NULL},
    {"metadata.uid", NULL},
    {"metadata.resourceVersion", NULL},
    {"metadata.generation", NULL},
    {"metadata.creationTimestamp", NULL},
    {"metadata.managedFields", NULL},
    {"status", NULL},
};

#define JOB "spec."
#define TEMPLATE "spec.template."
#define POD "spec.template.spec."

static const struct filled job[] = {
    {JOB "parallelism", "1"},
    {JOB "completions", "1"},
    {JOB "completionMode", "NonIndexed"},
    {JOB "suspend", "false"},
    {JOB "backoffLimit", "6"},
    {JOB "manualSelector", "false"},
    {JOB "podReplacementPolicy", "TerminatingOrFailed"},
    {JOB "selector", NULL}, /* by the Job's uid, generated */
    {TEMPLATE "metadata.creationTimestamp", NULL},
    {TEMPLATE "metadata.labels.controller-uid", NULL},
    {TEMPLATE "metadata.labels.job-name", NULL},
    {TEMPLATE "metadata.labels.batch.kubernetes.io/controller-uid", NULL},
    {TEMPLATE "metadata.labels.batch.kubernetes.io/job-name", NULL},
    {POD "restartPolicy", NULL},
    {POD "terminationGracePeriodSeconds", "30"},
    {POD "dnsPolicy", "ClusterFirst"},
    {POD "schedulerName", "default-scheduler"},
    {POD "securityContext", "{}"},
    {POD "enableServiceLinks", "true"},
    {POD "volumes[].secret.defaultMode", "420"},
    {POD "volumes[].configMap.defaultMode", "420"},
    {POD "volumes[].projected.defaultMode", "420"},
    {POD "volumes[].downwardAPI.defaultMode", "420"},
    {POD "volumes[].downwardAPI.items[].fieldRef.apiVersion", "v1"},
    {POD "volumes[].projected.sources[].serviceAccountToken.expirationSeconds", "3600"},
    {POD "volumes[].projected.sources[].downwardAPI.items[].fieldRef.apiVersion", "v1"},
};

/* Of each container; the prefix differs. */
static const struct filled container[] = {
    {"terminationMessagePath", "/dev/termination-log"},
    {"terminationMessagePolicy", "File"},
    {"imagePullPolicy", NULL},
    {"resources", "{}"},
    {"env[].valueFrom.fieldRef.apiVersion", "v1"},
    {"ports[].protocol", "TCP"},
    {"*Probe.timeoutSeconds", "1"},
    {"*Probe.periodSeconds", "10"},
    {"*Probe.successThreshold", "1"},
    {"*Probe.failureThreshold", "3"},
    {"*Probe.httpGet.scheme", "HTTP"},
};

static const struct filled pvc[] = {
    {"spec.volumeMode", "Filesystem"},
    {"spec.storageClassName", NULL},
    {"spec.volumeName", NULL},
    {"metadata.finalizers", "[\"kubernetes.io/pvc-protection\"]"},
    {"metadata.annotations.pv.kubernetes.io/*", NULL},
    {"metadata.annotations.volume.kubernetes.io/*", NULL},
    {"metadata.annotations.volume.beta.kubernetes.io/*", NULL},
};

/* People may ask a run to stop, approve it, and label it; nothing of that makes it another run. */
static const struct filled run[] = {
    {"spec.cancel", NULL},          {"spec.approval", NULL},          {"metadata.labels.*", NULL},
    {"metadata.annotations", NULL}, {"metadata.annotations.*", NULL},
};

struct compare {
    enum rco_kind kind;
    struct rco_buf path;    /* with indices, for people */
    struct rco_buf pattern; /* with [], for the tables */
    struct rco_buf *why;
};

static bool same(struct compare *c, const struct rco_json_value *sent,
                 const struct rco_json_value *live);

static bool differ(struct compare *c, const char *what)
{
    rco_buf_addf(c->why, "%s: %s", *rco_buf_str(&c->path) ? rco_buf_str(&c->path) : "object", what);
    return false;
}

/* --- path --- */

struct mark {
    size_t path, pattern;
};

static struct mark push_key(struct compare *c, const char *key)
{
    struct mark m = {c->path.len, c->pattern.len};

    if (c->path.len > 0) {
        rco_buf_addc(&c->path, '.');
        rco_buf_addc(&c->pattern, '.');
    }
    rco_buf_adds(&c->path, key);
    rco_buf_adds(&c->pattern, key);
    return m;
}

static struct mark push_index(struct compare *c, size_t i)
{
    struct mark m = {c->path.len, c->pattern.len};

    rco_buf_addf(&c->path, "[%zu]", i);
    rco_buf_adds(&c->pattern, "[]");
    return m;
}

static void truncate_to(struct rco_buf *b, size_t n)
{
    b->len = n;
    if (b->data)
        b->data[n] = 0;
}

static void pop(struct compare *c, struct mark m)
{
    truncate_to(&c->path, m.path);
    truncate_to(&c->pattern, m.pattern);
}

/* --- tables --- */

static bool is_empty(const struct rco_json_value *v)
{
    return v->type == RCO_JSON_NULL ||
           ((v->type == RCO_JSON_OBJECT || v->type == RCO_JSON_LIST) && v->n == 0);
}

static bool value_is(const struct rco_json_value *v, const char *want)
{
    if (!want)
        return true;
    if (strcmp(want, "{}") == 0)
        return is_empty(v);
    if (want[0] == '[') {
        rco_autobuf text = RCO_BUF_INIT;

        if (v->type != RCO_JSON_LIST || v->n != 1 || v->first->type != RCO_JSON_STRING)
            return false;
        rco_buf_addf(&text, "[\"%s\"]", v->first->text);
        return strcmp(rco_buf_str(&text), want) == 0;
    }
    return v->type != RCO_JSON_OBJECT && v->type != RCO_JSON_LIST && rco_streq(v->text, want);
}

static bool in_table(const char *pattern, const struct rco_json_value *v, const struct filled *t,
                     size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (rco_glob_match(t[i].path, pattern) && value_is(v, t[i].value))
            return true;
    return false;
}

/* The API server keeps the old name of serviceAccountName beside the new one. */
static bool is_alias(const struct compare *c, const char *pattern, const struct rco_json_value *v,
                     const struct rco_json_value *parent)
{
    const struct rco_json_value *name = rco_json_value_get(parent, "serviceAccountName");

    return c->kind == RCO_KIND_JOB && strcmp(pattern, POD "serviceAccount") == 0 && name &&
           v->type == RCO_JSON_STRING && rco_streq(v->text, name->text);
}

static bool filled_in(const struct compare *c, const struct rco_json_value *v,
                      const struct rco_json_value *parent)
{
    const char *p = rco_buf_str(&c->pattern);
    static const char *const prefixes[] = {POD "containers[].", POD "initContainers[]."};

    if (in_table(p, v, any_kind, RCO_ARRAY_LEN(any_kind)))
        return true;
    if (c->kind == RCO_KIND_PVC)
        return in_table(p, v, pvc, RCO_ARRAY_LEN(pvc));
    if (c->kind == RCO_KIND_RUN)
        return in_table(p, v, run, RCO_ARRAY_LEN(run));
    if (c->kind != RCO_KIND_JOB)
        return false;
    if (in_table(p, v, job, RCO_ARRAY_LEN(job)) || is_alias(c, p, v, parent))
        return true;
    for (size_t i = 0; i < RCO_ARRAY_LEN(prefixes); i++)
        if (rco_str_has_prefix(p, prefixes[i]))
            return in_table(p + strlen(prefixes[i]), v, container, RCO_ARRAY_LEN(container));
    return false;
}

/* --- comparison --- */

/* Quantities come back in canonical form: 1024Mi as 1Gi. */
static bool same_quantity(const struct compare *c, const char *a, const char *b)
{
    static const char *const places[] = {".resources.", ".sizeLimit", ".limits.", ".requests."};
    struct rco_error ignored = RCO_ERROR_INIT;
    bool place = false;
    int64_t x, y;

    for (size_t i = 0; i < RCO_ARRAY_LEN(places); i++)
        place = place || strstr(rco_buf_str(&c->pattern), places[i]);
    if (!place)
        return false;
    if (rco_quantity_bytes(a, &x, &ignored) == 0 && rco_quantity_bytes(b, &y, &ignored) == 0)
        return x == y;
    return rco_quantity_cpu(a, &x, &ignored) == 0 && rco_quantity_cpu(b, &y, &ignored) == 0 &&
           x == y;
}

static bool same_member(struct compare *c, const struct rco_json_value *sent,
                        const struct rco_json_value *live_parent)
{
    const struct rco_json_value *live = rco_json_value_get(live_parent, sent->key);
    struct mark m = push_key(c, sent->key);
    bool ok;

    if (live)
        ok = same(c, sent, live);
    else
        ok = is_empty(sent) || differ(c, "missing"); /* empty values are not stored */
    pop(c, m);
    return ok;
}

static bool same_object(struct compare *c, const struct rco_json_value *sent,
                        const struct rco_json_value *live)
{
    for (const struct rco_json_value *v = sent->first; v; v = v->next)
        if (!same_member(c, v, live))
            return false;
    for (const struct rco_json_value *v = live->first; v; v = v->next) {
        struct mark m;
        bool ok;

        if (rco_json_value_get(sent, v->key) || v->type == RCO_JSON_NULL)
            continue;
        m = push_key(c, v->key);
        ok = filled_in(c, v, live) || differ(c, "was not sent");
        /* A map whose own members are all filled in ones (annotations of a PVC). */
        if (!ok && v->type == RCO_JSON_OBJECT && v->n > 0) {
            static const struct rco_json_value none = {.type = RCO_JSON_OBJECT};

            rco_buf_clear(c->why);
            ok = same_object(c, &none, v);
        }
        pop(c, m);
        if (!ok)
            return false;
    }
    return true;
}

static bool same_list(struct compare *c, const struct rco_json_value *sent,
                      const struct rco_json_value *live)
{
    const struct rco_json_value *l = live->first;
    size_t i = 0;

    if (sent->n != live->n) {
        rco_buf_addf(c->why, "%s: %zu items, sent %zu", rco_buf_str(&c->path), live->n, sent->n);
        return false;
    }
    for (const struct rco_json_value *s = sent->first; s; s = s->next, l = l->next) {
        struct mark m = push_index(c, i++);
        bool ok = same(c, s, l);

        pop(c, m);
        if (!ok)
            return false;
    }
    return true;
}

static bool same(struct compare *c, const struct rco_json_value *sent,
                 const struct rco_json_value *live)
{
    if (is_empty(sent) && is_empty(live))
        return true;
    if (sent->type != live->type)
        return differ(c, "has another type");
    if (sent->type == RCO_JSON_OBJECT)
        return same_object(c, sent, live);
    if (sent->type == RCO_JSON_LIST)
        return same_list(c, sent, live);
    if (rco_streq(sent->text, live->text))
        return true;
    if (sent->type == RCO_JSON_STRING && same_quantity(c, sent->text, live->text))
        return true;
    return differ(c, "differs");
}

bool rco_adopt_same(enum rco_kind kind, const char *sent, size_t sent_len, const char *live,
                    size_t live_len, struct rco_buf *ret_why)
{
    rco_autoarena a = RCO_ARENA_INIT;
    struct compare c = {.kind = kind, .why = ret_why};
    struct rco_json_value *s, *l;
    struct rco_error err = RCO_ERROR_INIT;
    bool ok;

    rco_buf_clear(ret_why);
    if (rco_json_value_parse(sent, sent_len, &a, &s, &err) < 0 ||
        rco_json_value_parse(live, live_len, &a, &l, &err) < 0) {
        rco_buf_adds(ret_why, err.msg);
        return false;
    }
    ok = same(&c, s, l);
    rco_buf_release(&c.path);
    rco_buf_release(&c.pattern);
    return ok;
}
