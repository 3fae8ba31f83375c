#include "check.h"

#include "api.h"
#include "base/str.h"
#include "cluster.h"
#include "exposure.h"
#include "views.h"

#define MAX_EXPOSED 20 /* subjects that are listed one by one */

static const struct {
    const char *purpose;
    const char *verb, *group, *resource, *subresource;
    enum rco_check_result without; /* what it means not to have it */
} rights[] = {
    {"see specifications", "list", "runtimecloud.io", "deploymentspecifications", NULL,
     RCO_CHECK_FAILED},
    {"see runs", "list", "runtimecloud.io", "provisioningruns", NULL, RCO_CHECK_FAILED},
    {"see Environments", "list", "runtimecloud.io", "environments", NULL, RCO_CHECK_WARNING},
    {"read stored logs", "get", "", "configmaps", NULL, RCO_CHECK_WARNING},
    {"see runner pods", "list", "", "pods", NULL, RCO_CHECK_WARNING},
    {"follow logs of running pods", "get", "", "pods", "log", RCO_CHECK_NOTE},
    {"declare and change specifications", "create", "runtimecloud.io", "deploymentspecifications",
     NULL, RCO_CHECK_NOTE},
    {"cancel runs", "cancel", "runtimecloud.io", "provisioningruns", NULL, RCO_CHECK_NOTE},
    {"approve runs", "approve", "runtimecloud.io", "provisioningruns", NULL, RCO_CHECK_NOTE},
    {"govern Environments", "govern", "runtimecloud.io", "environments", NULL, RCO_CHECK_NOTE},
};

void rco_check_rights(struct rco_cli *cli, struct rco_checks *c)
{
    rco_check_section(c, rco_arena_printf(c->arena, "Your rights in namespace %s", cli->ns));
    for (size_t i = 0; i < RCO_ARRAY_LEN(rights); i++) {
        struct rco_access access = {.verb = rights[i].verb,
                                    .group = rights[i].group,
                                    .resource = rights[i].resource,
                                    .subresource = rights[i].subresource,
                                    .ns = cli->ns};
        struct rco_error err = RCO_ERROR_INIT;
        bool allowed = false;

        if (rco_cluster_may(cli, &access, &allowed, &err) < 0)
            rco_check_unknown(c, rights[i].purpose, &err);
        else if (allowed)
            rco_check_add(c, RCO_CHECK_OK, rights[i].purpose, NULL, "yes");
        else
            rco_check_add(c, rights[i].without, rights[i].purpose, NULL,
                          "no (verb %s on %s%s%s%s%s)", rights[i].verb, rights[i].resource,
                          rights[i].subresource ? "/" : "",
                          rights[i].subresource ? rights[i].subresource : "",
                          *rights[i].group ? "." : "", rights[i].group);
    }
}

static int get_rbac(struct rco_cli *cli, struct rco_checks *c, const char *path,
                    const struct rco_schema *schema, void *out, struct rco_error *err)
{
    return rco_api_call(cli, path, NULL, "read RBAC", schema, c->arena, out, err);
}

static void add_exposed(struct rco_checks *c, const struct rco_exposed *e)
{
    rco_check_add(c, RCO_CHECK_NOTE,
                  rco_arena_printf(c->arena, "%s %s%s%s", rco_str_or_empty(e->kind),
                                   rco_str_or_empty(e->ns), e->ns ? "/" : "",
                                   rco_str_or_empty(e->name)),
                  NULL, "can %s (%s)", rco_exposure_words(e->powers, c->arena), e->through);
}

static void check_exposure(struct rco_cli *cli, struct rco_checks *c)
{
    struct rco_view_roles roles = {0}, cluster_roles = {0};
    struct rco_view_bindings bindings = {0}, cluster_bindings = {0};
    const struct rco_exposure_input in = {&roles, &cluster_roles, &bindings, &cluster_bindings};
    rco_autofree char *roles_path =
        rco_asprintf("/apis/rbac.authorization.k8s.io/v1/namespaces/%s/roles", cli->ns);
    rco_autofree char *bindings_path =
        rco_asprintf("/apis/rbac.authorization.k8s.io/v1/namespaces/%s/rolebindings", cli->ns);
    struct rco_error err = RCO_ERROR_INIT;
    struct rco_exposed *found;
    size_t n, n_system;

    if (get_rbac(cli, c, roles_path, &rco_view_roles_schema, &roles, &err) < 0 ||
        get_rbac(cli, c, bindings_path, &rco_view_bindings_schema, &bindings, &err) < 0 ||
        get_rbac(cli, c, "/apis/rbac.authorization.k8s.io/v1/clusterroles", &rco_view_roles_schema,
                 &cluster_roles, &err) < 0 ||
        get_rbac(cli, c, "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
                 &rco_view_bindings_schema, &cluster_bindings, &err) < 0) {
        rco_check_unknown(c, "approvers in fact", &err);
        return;
    }
    rco_exposure_find(&in, c->arena, &found, &n, &n_system);
    if (!n)
        rco_check_add(c, RCO_CHECK_OK, "approvers in fact", NULL,
                      "nobody but Kubernetes' own components can create pods or read Secrets here");
    else
        rco_check_add(
            c, RCO_CHECK_NOTE, "approvers in fact", NULL,
            "%zu: whoever can create pods or read Secrets here can do what an approver can", n);
    for (size_t i = 0; i < n && i < MAX_EXPOSED; i++)
        add_exposed(c, &found[i]);
    if (n > MAX_EXPOSED)
        rco_check_add(c, RCO_CHECK_NOTE, "and more", NULL, "%zu further ones", n - MAX_EXPOSED);
}

void rco_check_namespace(struct rco_cli *cli, struct rco_checks *c)
{
    struct rco_error err = RCO_ERROR_INIT;
    struct rco_api_item item;
    const char *tenant, *sealed;

    rco_check_section(c, rco_arena_printf(c->arena, "Namespace %s", cli->ns));
    if (rco_api_get(cli, RCO_KIND_NAMESPACE, NULL, cli->ns, c->arena, &item, &err) < 0) {
        if (err.code == RCO_ENOTFOUND)
            rco_check_add(c, RCO_CHECK_FAILED, "namespace", "kubectl get namespaces",
                          "does not exist");
        else
            rco_check_unknown(c, "namespace", &err);
    } else {
        tenant = rco_meta_label(item.object, "runtimecloud.io/tenant");
        sealed = rco_meta_label(item.object, "runtimecloud.io/sealed");
        rco_check_add(c, RCO_CHECK_OK, "tenant", NULL, "%s%s",
                      tenant ? tenant : "the operator's default tenant",
                      tenant ? "" : " (no label runtimecloud.io/tenant)");
        rco_check_add(c, RCO_CHECK_NOTE, "sealed", NULL,
                      rco_streq(sealed, "true")
                          ? "yes: nobody gets into runner pods"
                          : "no (production Environments need runtimecloud.io/sealed=true)");
    }
    check_exposure(cli, c);
}
