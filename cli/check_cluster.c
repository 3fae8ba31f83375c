#include "check.h"

#include "api.h"
#include "base/str.h"
#include "cluster.h"
#include "kube/path.h"
#include "views.h"

#include <inttypes.h>

#define API_REVISION                                                                               \
    "1" /* annotation runtimecloud.io/api-revision of the CRDs this program was made for */
#define REVISION_ANNOTATION "runtimecloud.io/api-revision"
#define OPERATOR_NS_ANNOTATION "runtimecloud.io/operator-namespace"
#define INSTALL                                                                                    \
    "helm upgrade --install runtime-cloud-operator charts/runtime-cloud-operator -n "              \
    "runtime-cloud --create-namespace"

int rco_check_cluster(struct rco_cli *cli, struct rco_checks *c, struct rco_error *err)
{
    struct rco_server_version v;
    const char *user;

    rco_check_section(c, "Cluster");
    if (rco_cluster_version(cli, &v, err) < 0)
        return -1;
    if (!rco_cluster_is_supported(&v))
        rco_check_add(
            c, RCO_CHECK_FAILED, "server", "upgrade the cluster",
            "Kubernetes %s is older than 1.%d, which has no stable ValidatingAdmissionPolicy",
            v.git_version, RCO_CLUSTER_MIN_MINOR);
    else
        rco_check_add(c, RCO_CHECK_OK, "server", NULL, "Kubernetes %s at %s", v.git_version,
                      cli->config.server);
    if (rco_cluster_whoami(cli, &user, err) < 0)
        rco_check_unknown(c, "you", err);
    else
        rco_check_add(c, RCO_CHECK_OK, "you", NULL, "%s", user);
    return 0;
}

static bool serves(const struct rco_view_resources *r, const char *plural)
{
    for (size_t i = 0; i < r->n_resources; i++)
        if (rco_streq(r->resources[i].name, plural))
            return true;
    return false;
}

/* Looks at the CRD itself where that is allowed: its revision, and where the operator is installed.
 */
static void check_revision(struct rco_cli *cli, struct rco_checks *c, enum rco_kind kind,
                           const char **operator_ns)
{
    const struct rco_kind_info *info = rco_kind_info(kind);
    rco_autofree char *name = rco_asprintf("%s.%s", info->plural, info->group);
    struct rco_error err = RCO_ERROR_INIT;
    struct rco_api_item item;
    const char *revision;

    if (rco_api_get(cli, RCO_KIND_CRD, NULL, name, c->arena, &item, &err) < 0) {
        rco_check_add(c, RCO_CHECK_OK, info->kind, NULL,
                      "served as %s/%s (its revision could not be read)", info->group,
                      info->version);
        return;
    }
    revision = rco_meta_annotation(item.object, REVISION_ANNOTATION);
    if (!*operator_ns)
        *operator_ns = rco_meta_annotation(item.object, OPERATOR_NS_ANNOTATION);
    if (rco_streq(revision, API_REVISION))
        rco_check_add(c, RCO_CHECK_OK, info->kind, NULL, "served as %s/%s, revision %s",
                      info->group, info->version, API_REVISION);
    else
        rco_check_add(c, RCO_CHECK_FAILED, info->kind, INSTALL,
                      "the CRD %s has revision %s, this program is made for %s: operator, CRDs and "
                      "plugin must be of one release",
                      name, revision ? revision : "none", API_REVISION);
}

static void check_crds(struct rco_cli *cli, struct rco_checks *c, const char **operator_ns)
{
    static const enum rco_kind kinds[] = {RCO_KIND_DEPSPEC, RCO_KIND_RUN, RCO_KIND_ENV,
                                          RCO_KIND_TENANT};
    struct rco_view_resources served = {0};
    struct rco_error err = RCO_ERROR_INIT;

    if (rco_api_call(cli, "/apis/runtimecloud.io/v1alpha1", NULL,
                     "discover runtimecloud.io/v1alpha1", &rco_view_resources_schema, c->arena,
                     &served, &err) < 0 &&
        err.code != RCO_ENOTFOUND) {
        rco_check_unknown(c, "CRDs", &err);
        return;
    }
    for (size_t i = 0; i < RCO_ARRAY_LEN(kinds); i++) {
        const struct rco_kind_info *info = rco_kind_info(kinds[i]);

        if (serves(&served, info->plural))
            check_revision(cli, c, kinds[i], operator_ns);
        else
            rco_check_add(c, RCO_CHECK_FAILED, info->kind, INSTALL,
                          "the CRD %s.%s is not installed", info->plural, info->group);
    }
}

static bool listed(const struct rco_view_bare_list *l, const char *name)
{
    for (size_t i = 0; i < l->n_items; i++)
        if (rco_streq(l->items[i].metadata.name, name))
            return true;
    return false;
}

static void check_policies(struct rco_cli *cli, struct rco_checks *c)
{
    static const char *const names[] = {"environments.runtimecloud.io",
                                        "operator-owned.runtimecloud.io",
                                        "namespaces.runtimecloud.io", "sealed-pods.runtimecloud.io",
                                        "sealed-tokens.runtimecloud.io", "sealed-objects.runtimecloud.io"};
    struct rco_view_bare_list policies = {0}, bindings = {0};
    struct rco_error err = RCO_ERROR_INIT;
    rco_autobuf faults = RCO_BUF_INIT;

    if (rco_api_call(cli, "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies", NULL,
                     "list validatingadmissionpolicies", &rco_view_bare_list_schema, c->arena,
                     &policies, &err) < 0 ||
        rco_api_call(cli, "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings",
                     NULL, "list validatingadmissionpolicybindings", &rco_view_bare_list_schema,
                     c->arena, &bindings, &err) < 0) {
        rco_check_unknown(c, "admission policies", &err);
        return;
    }
    for (size_t i = 0; i < RCO_ARRAY_LEN(names); i++) {
        if (listed(&policies, names[i]) && listed(&bindings, names[i]))
            continue;
        rco_buf_addf(&faults, "%s%s is %s", faults.len ? ", " : "", names[i],
                     listed(&policies, names[i]) ? "there but not bound" : "missing");
    }
    if (faults.len)
        rco_check_add(c, RCO_CHECK_FAILED, "admission policies", INSTALL,
                      "%s: without them people can do what only the operator may",
                      rco_buf_str(&faults));
    else
        rco_check_add(c, RCO_CHECK_OK, "admission policies", NULL, "all %zu there and bound",
                      RCO_ARRAY_LEN(names));
}

static void check_deployment(struct rco_cli *cli, struct rco_checks *c,
                             const struct rco_view_deployment *d)
{
    const struct rco_meta *m = &d->metadata;
    int64_t want = d->spec.has_replicas ? d->spec.replicas : 1;
    rco_autofree char *scale =
        rco_asprintf("kubectl -n %s scale deployment %s --replicas=2", m->ns, m->name);
    rco_autofree char *describe = rco_asprintf(
        "kubectl -n %s describe deployment,pod -l app.kubernetes.io/name=runtime-cloud-operator",
        m->ns);

    (void)cli;
    if (!want)
        rco_check_add(c, RCO_CHECK_FAILED, "controller", rco_arena_strdup(c->arena, scale),
                      "deployment %s/%s is scaled to 0: nothing is planned or applied", m->ns,
                      m->name);
    else if (!d->status.ready)
        rco_check_add(c, RCO_CHECK_FAILED, "controller", rco_arena_strdup(c->arena, describe),
                      "deployment %s/%s has no ready pod (wants %" PRId64 ")", m->ns, m->name,
                      want);
    else if (d->status.ready < want)
        rco_check_add(c, RCO_CHECK_WARNING, "controller", rco_arena_strdup(c->arena, describe),
                      "deployment %s/%s: %" PRId64 " of %" PRId64 " pods ready", m->ns, m->name,
                      d->status.ready, want);
    else
        rco_check_add(c, RCO_CHECK_OK, "controller", NULL,
                      "deployment %s/%s: %" PRId64 " of %" PRId64 " pods ready", m->ns, m->name,
                      d->status.ready, want);
}

static void check_controller(struct rco_cli *cli, struct rco_checks *c, const char *operator_ns)
{
    struct rco_view_deployments found = {0};
    struct rco_error err = RCO_ERROR_INIT;
    rco_autopath path = RCO_PATH_INIT;
    rco_autofree char *literal =
        operator_ns ? rco_asprintf("/apis/apps/v1/namespaces/%s/deployments", operator_ns) : NULL;

    rco_path_literal(&path, literal ? literal : "/apis/apps/v1/deployments");
    rco_path_query(&path, "labelSelector", "app.kubernetes.io/name=runtime-cloud-operator");
    if (rco_api_call(cli, rco_path_str(&path), NULL, "list deployments",
                     &rco_view_deployments_schema, c->arena, &found, &err) < 0) {
        rco_check_unknown(c, "controller", &err);
        return;
    }
    if (!found.n_items)
        rco_check_add(
            c, RCO_CHECK_FAILED, "controller", INSTALL,
            "no Deployment labelled app.kubernetes.io/name=runtime-cloud-operator in %s%s",
            operator_ns ? "namespace " : "any namespace", operator_ns ? operator_ns : "");
    if (found.n_items > 1)
        rco_check_add(c, RCO_CHECK_FAILED, "controller", "remove all but one: helm list -A",
                      "%zu Deployments of the operator; one installation per cluster is possible",
                      found.n_items);
    for (size_t i = 0; i < found.n_items; i++)
        check_deployment(cli, c, &found.items[i]);
}

void rco_check_installation(struct rco_cli *cli, struct rco_checks *c)
{
    const char *operator_ns = cli->opt->operator_ns;

    rco_check_section(c, "Installation");
    check_crds(cli, c, &operator_ns);
    check_policies(cli, c);
    check_controller(cli, c, operator_ns);
}
