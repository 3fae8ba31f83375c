#include "cluster.h"

#include "api.h"
#include "base/str.h"
#include "views.h"
#include "json/writer.h"

int64_t rco_cluster_number(const char *s)
{
    int64_t n = 0;

    for (; s && *s >= '0' && *s <= '9' && n < 100000; s++)
        n = n * 10 + (*s - '0');
    return s && (!*s || *s == '+') ? n : 0;
}

int rco_cluster_version(struct rco_cli *cli, struct rco_server_version *out, struct rco_error *err)
{
    struct rco_view_version v = {0};

    if (rco_api_call(cli, "/version", NULL, "ask for the server's version",
                     &rco_view_version_schema, &cli->arena, &v, err) < 0)
        return -1;
    *out = (struct rco_server_version){
        .major = rco_cluster_number(v.major),
        .minor = rco_cluster_number(v.minor),
        .git_version = rco_str_or_empty(v.git_version),
    };
    return 0;
}

bool rco_cluster_is_supported(const struct rco_server_version *v)
{
    return v->major > 1 || (v->major == 1 && v->minor >= RCO_CLUSTER_MIN_MINOR);
}

bool rco_cluster_serves_api(struct rco_cli *cli)
{
    struct rco_view_resources r = {0};
    struct rco_error ignored = RCO_ERROR_INIT;

    return rco_api_call(cli, "/apis/runtimecloud.io/v1alpha1", NULL, "discover runtimecloud.io",
                        &rco_view_resources_schema, &cli->arena, &r, &ignored) == 0;
}

static void write_access(const struct rco_access *access, struct rco_buf *body)
{
    struct rco_json_writer w;

    rco_json_writer_init(&w, body);
    rco_json_begin_object(&w);
    rco_json_kv_string(&w, "apiVersion", "authorization.k8s.io/v1");
    rco_json_kv_string(&w, "kind", "SelfSubjectAccessReview");
    rco_json_kv_object(&w, "spec");
    rco_json_kv_object(&w, "resourceAttributes");
    rco_json_kv_string_opt(&w, "namespace", access->ns);
    rco_json_kv_string(&w, "verb", access->verb);
    rco_json_kv_string(&w, "group", access->group);
    rco_json_kv_string(&w, "resource", access->resource);
    rco_json_kv_string_opt(&w, "subresource", access->subresource);
    rco_json_end_object(&w);
    rco_json_end_object(&w);
    rco_json_end_object(&w);
}

int rco_cluster_may(struct rco_cli *cli, const struct rco_access *access, bool *ret_allowed,
                    struct rco_error *err)
{
    struct rco_view_review review = {0};
    rco_autobuf body = RCO_BUF_INIT;

    write_access(access, &body);
    if (rco_api_call(cli, "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", &body,
                     "ask for the caller's rights", &rco_view_review_schema, &cli->arena, &review,
                     err) < 0)
        return -1;
    *ret_allowed = review.status.allowed;
    return 0;
}

int rco_cluster_whoami(struct rco_cli *cli, const char **ret_name, struct rco_error *err)
{
    struct rco_view_review review = {0};
    struct rco_json_writer w;
    rco_autobuf body = RCO_BUF_INIT;

    rco_json_writer_init(&w, &body);
    rco_json_begin_object(&w);
    rco_json_kv_string(&w, "apiVersion", "authentication.k8s.io/v1");
    rco_json_kv_string(&w, "kind", "SelfSubjectReview");
    rco_json_end_object(&w);
    if (rco_api_call(cli, "/apis/authentication.k8s.io/v1/selfsubjectreviews", &body,
                     "ask who the caller is", &rco_view_review_schema, &cli->arena, &review,
                     err) < 0)
        return -1;
    *ret_name = rco_str_or_empty(review.status.user.username);
    return 0;
}
