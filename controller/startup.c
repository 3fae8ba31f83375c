#include "startup.h"

#include "api/kinds.h"
#include "base/buf.h"
#include "base/log.h"
#include "json/value.h"

static const enum rco_kind our_kinds[] = {RCO_KIND_DEPSPEC, RCO_KIND_RUN, RCO_KIND_ENV,
                                          RCO_KIND_TENANT};

struct rco_startup {
    struct rco_startup_options o;
    struct rco_timer *retry;
    struct rco_kube_call *call;
    size_t next_kind; /* of our_kinds; 0 before the version is known */
    bool version_known;
    bool served;   /* our version of the kind asked about */
    char *missing; /* why not */
};

static void step(void *ctx);

/* Hopeless faults end the program; all others are tried again. */
static void fault(struct rco_startup *s, const struct rco_error *err)
{
    if (err->code == RCO_EINVALID || err->code == RCO_ENOTFOUND || err->code == RCO_EFORBIDDEN) {
        s->o.hopeless(s->o.ctx, err->msg);
        return;
    }
    rco_log(RCO_LOG_WARN, "the API server cannot be asked yet; trying again",
            RCO_S("error", err->msg));
    rco_timer_arm(s->retry, RCO_STARTUP_RETRY_NS);
}

static void on_version(void *ctx, int major, int minor, const char *git_version,
                       const struct rco_error *err)
{
    struct rco_startup *s = ctx;
    rco_autofree char *why = NULL;

    s->call = NULL;
    if (err) {
        fault(s, err);
        return;
    }
    if (major < 1 || (major == 1 && minor < RCO_KUBE_MIN_MINOR)) {
        why =
            rco_asprintf("the API server has version %s, but 1.%d or newer is needed: upgrade the "
                         "cluster or use an older operator",
                         git_version, RCO_KUBE_MIN_MINOR);
        s->o.hopeless(s->o.ctx, why);
        return;
    }
    rco_log(RCO_LOG_INFO, "connected to the API server", RCO_S("version", git_version));
    s->version_known = true;
    step(s);
}

static const struct rco_kind_info *next_info(const struct rco_startup *s)
{
    return rco_kind_info(our_kinds[s->next_kind]);
}

static const char *text_of(const struct rco_json_value *v)
{
    return v && v->type == RCO_JSON_STRING ? v->text : NULL;
}

/* "v1alpha1, v1beta1": the versions that DEFINITION serves. */
static void served_versions(const struct rco_json_value *definition, struct rco_buf *out)
{
    const struct rco_json_value *versions =
        rco_json_value_get(rco_json_value_get(definition, "spec"), "versions");

    for (const struct rco_json_value *v = versions ? versions->first : NULL; v; v = v->next) {
        const struct rco_json_value *served = rco_json_value_get(v, "served");
        const char *name = text_of(rco_json_value_get(v, "name"));

        if (name && served && rco_streq(served->text, "true"))
            rco_buf_addf(out, "%s%s", out->len ? ", " : "", name);
    }
}

/* Why the definition cannot be worked with, or NULL. One installation a cluster: cluster-scoped
 * objects have fixed names. */
static char *objection(const struct rco_startup *s, const struct rco_json_value *definition)
{
    const struct rco_kind_info *info = next_info(s);
    const struct rco_json_value *annotations =
        rco_json_value_get(rco_json_value_get(definition, "metadata"), "annotations");
    const char *ns = text_of(rco_json_value_get(annotations, RCO_ANNOTATION_OPERATOR_NAMESPACE));
    const char *revision = text_of(rco_json_value_get(annotations, RCO_ANNOTATION_API_REVISION));
    rco_autobuf versions = RCO_BUF_INIT;

    if (ns && !rco_streq(ns, s->o.ns))
        return rco_asprintf(
            "another installation owns this cluster: CustomResourceDefinition %s.%s "
            "belongs to the operator in namespace %s, and this one is in %s. Uninstall "
            "one of them",
            info->plural, info->group, ns, s->o.ns);
    if (s->served && rco_streq(revision, RCO_API_REVISION))
        return NULL;
    if (s->served)
        return rco_asprintf(
            "CustomResourceDefinition %s.%s has API revision %s, but this operator works "
            "with %s: install the CRDs and the operator of the same release",
            info->plural, info->group, revision ? revision : "(none)", RCO_API_REVISION);
    served_versions(definition, &versions);
    return rco_asprintf(
        "CustomResourceDefinition %s.%s serves %s, but this operator works with %s: "
        "install the CRDs of this release (kubectl apply -f crds/, or the chart's crds) "
        "and wait until they are Established",
        info->plural, info->group, versions.len ? rco_buf_str(&versions) : "nothing",
        info->version);
}

static void on_definition(void *ctx, const struct rco_kube_result *result,
                          const struct rco_error *err)
{
    struct rco_startup *s = ctx;
    rco_autoarena a = RCO_ARENA_INIT;
    rco_autofree char *why = NULL;
    struct rco_error parse_err = RCO_ERROR_INIT;
    struct rco_json_value *definition;

    s->call = NULL;
    if (err && err->code == RCO_ENOTFOUND && !s->served) {
        s->o.hopeless(s->o.ctx, s->missing);
        return;
    }
    if (err) {
        fault(s, err);
        return;
    }
    if (rco_json_value_parse(result->body, result->body_len, &a, &definition, &parse_err) < 0) {
        s->o.hopeless(s->o.ctx, parse_err.msg);
        return;
    }
    why = objection(s, definition);
    if (why) {
        s->o.hopeless(s->o.ctx, why);
        return;
    }
    s->next_kind++;
    step(s);
}

static void ask_for_definition(struct rco_startup *s)
{
    const struct rco_kind_info *info = next_info(s);
    rco_autofree char *name = rco_asprintf("%s.%s", info->plural, info->group);

    s->call = rco_kube_start(
        s->o.client,
        &(struct rco_kube_request){.verb = RCO_KUBE_GET, .kind = RCO_KIND_CRD, .name = name},
        on_definition, s);
}

/* Whether our version is served; what is not may be served in another. */
static void on_served(void *ctx, const struct rco_kube_result *result, const struct rco_error *err)
{
    struct rco_startup *s = ctx;

    (void)result;
    s->call = NULL;
    s->served = !err;
    if (err && err->code != RCO_ENOTFOUND) {
        fault(s, err);
        return;
    }
    free(s->missing);
    s->missing = err ? rco_strdup(err->msg) : NULL;
    ask_for_definition(s);
}

static void step(void *ctx)
{
    struct rco_startup *s = ctx;

    if (!s->version_known)
        s->call = rco_kube_version(s->o.client, on_version, s);
    else if (s->next_kind < RCO_ARRAY_LEN(our_kinds))
        s->call = rco_kube_check_crd(s->o.client, our_kinds[s->next_kind], on_served, s);
    else
        s->o.ready(s->o.ctx);
}

struct rco_startup *rco_startup_new(const struct rco_startup_options *options)
{
    struct rco_startup *s = rco_calloc(1, sizeof *s);

    s->o = *options;
    s->retry = rco_timer_new(options->loop, step, s);
    step(s);
    return s;
}

void rco_startup_free(struct rco_startup *s)
{
    if (!s)
        return;
    rco_kube_cancel(s->call);
    rco_timer_free(s->retry);
    free(s->missing);
    free(s);
}
