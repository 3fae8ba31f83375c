#include "startup.h"

#include "api/zz_generated_types.h"
#include "base/log.h"

static const enum rco_kind our_kinds[] = {RCO_KIND_DEPSPEC, RCO_KIND_RUN, RCO_KIND_ENV,
                                          RCO_KIND_TENANT};

struct rco_startup {
    struct rco_startup_options o;
    struct rco_timer *retry;
    struct rco_kube_call *call;
    size_t next_kind; /* of our_kinds; 0 before the version is known */
    bool version_known;
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
        why = rco_asprintf("the API server has version %s, but 1.%d or newer is needed: upgrade the "
                           "cluster or use an older operator",
                           git_version, RCO_KUBE_MIN_MINOR);
        s->o.hopeless(s->o.ctx, why);
        return;
    }
    rco_log(RCO_LOG_INFO, "connected to the API server", RCO_S("version", git_version));
    s->version_known = true;
    step(s);
}

/* One installation a cluster: cluster-scoped objects have fixed names. */
static bool is_ours(struct rco_startup *s, const struct rco_kube_result *result)
{
    rco_autoarena a = RCO_ARENA_INIT;
    struct rco_error err = RCO_ERROR_INIT;
    rco_autofree char *why = NULL;
    const char *ns;
    void *crd;

    if (rco_kube_result_decode(result, RCO_KIND_CRD, &a, &crd, &err) < 0) {
        s->o.hopeless(s->o.ctx, err.msg);
        return false;
    }
    ns = rco_meta_annotation(crd, RCO_ANNOTATION_OPERATOR_NAMESPACE);
    if (!ns || rco_streq(ns, s->o.ns))
        return true;
    why = rco_asprintf("another installation owns this cluster: CustomResourceDefinition %s belongs to "
                       "the operator in namespace %s, and this one is in %s. Uninstall one of them",
                       ((const struct rco_meta *)crd)->name, ns, s->o.ns);
    s->o.hopeless(s->o.ctx, why);
    return false;
}

static void on_crd(void *ctx, const struct rco_kube_result *result, const struct rco_error *err)
{
    struct rco_startup *s = ctx;

    s->call = NULL;
    if (err) {
        fault(s, err);
        return;
    }
    if (!is_ours(s, result))
        return;
    s->next_kind++;
    step(s);
}

static void step(void *ctx)
{
    struct rco_startup *s = ctx;

    if (!s->version_known)
        s->call = rco_kube_version(s->o.client, on_version, s);
    else if (s->next_kind < RCO_ARRAY_LEN(our_kinds))
        s->call = rco_kube_check_crd(s->o.client, our_kinds[s->next_kind], on_crd, s);
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
    free(s);
}
