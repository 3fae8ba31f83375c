#include "base/str.h"
#include "kube/client_internal.h"
#include "kube/path.h"
#include "json/codec.h"

#include <stdlib.h>
#include <string.h>

#define VERSION_DEADLINE_NS (5 * RCO_NS_PER_S)

struct version_info {
    const char *major, *minor, *git_version;
};

static const struct rco_field version_fields[] = {
    {.name = "major",
     .name_len = 5,
     .type = RCO_FIELD_STRING,
     .offset = offsetof(struct version_info, major)},
    {.name = "minor",
     .name_len = 5,
     .type = RCO_FIELD_STRING,
     .offset = offsetof(struct version_info, minor)},
    {.name = "gitVersion",
     .name_len = 10,
     .type = RCO_FIELD_STRING,
     .offset = offsetof(struct version_info, git_version)},
};
static const struct rco_schema version_schema = {
    .name = "Version",
    .size = sizeof(struct version_info),
    .fields = version_fields,
    .n_fields = RCO_ARRAY_LEN(version_fields),
};

struct api_resource {
    const char *name;
};
struct api_resource_list {
    struct api_resource *resources;
    size_t n_resources;
};

static const struct rco_field resource_fields[] = {
    {.name = "name",
     .name_len = 4,
     .type = RCO_FIELD_STRING,
     .offset = offsetof(struct api_resource, name)},
};
static const struct rco_schema resource_schema = {
    .name = "APIResource",
    .size = sizeof(struct api_resource),
    .fields = resource_fields,
    .n_fields = RCO_ARRAY_LEN(resource_fields),
};
static const struct rco_field resource_list_fields[] = {
    {.name = "resources",
     .name_len = 9,
     .type = RCO_FIELD_LIST_STRUCT,
     .offset = offsetof(struct api_resource_list, resources),
     .aux_offset = offsetof(struct api_resource_list, n_resources),
     .sub = &resource_schema},
};
static const struct rco_schema resource_list_schema = {
    .name = "APIResourceList",
    .size = sizeof(struct api_resource_list),
    .fields = resource_list_fields,
    .n_fields = RCO_ARRAY_LEN(resource_list_fields),
};

struct version_call {
    rco_kube_version_done done;
    void *ctx;
};

/* "30+" on some providers. */
static int leading_number(const char *s)
{
    int v = 0;

    if (!s || *s < '0' || *s > '9')
        return -1;
    for (; *s >= '0' && *s <= '9' && v < 100000; s++)
        v = v * 10 + (*s - '0');
    return v;
}

static void on_version(void *ctx, const struct rco_kube_result *result, const struct rco_error *err)
{
    const struct version_call *v = ctx;
    rco_autoarena a = RCO_ARENA_INIT;
    struct version_info info = {0};
    struct rco_error decode_err = RCO_ERROR_INIT;
    int major = -1, minor = -1;

    if (!err) {
        if (rco_codec_decode(&version_schema, result->body, result->body_len, &a, &info,
                             &decode_err) < 0) {
            err = &decode_err;
        } else {
            major = leading_number(info.major);
            minor = leading_number(info.minor);
            if (major < 0 || minor < 0) {
                rco_error_set(&decode_err, RCO_EINTERNAL,
                              "the API server's /version has no usable major and minor");
                err = &decode_err;
            }
        }
    }
    v->done(v->ctx, major, minor, rco_str_or_empty(info.git_version), err);
}

struct rco_kube_call *rco_kube_version(struct rco_kube_client *c, rco_kube_version_done done,
                                       void *ctx)
{
    struct version_call *v = rco_calloc(1, sizeof(*v));
    /* The first request of all: a server that is not there is to be reported soon. */
    const struct rco_kube_request request = {
        .verb = RCO_KUBE_RAW_GET, .path = "/version", .deadline_ns = VERSION_DEADLINE_NS};
    struct rco_kube_call *call;

    v->done = done;
    v->ctx = ctx;
    call = rco_kube_start(c, &request, on_version, v);
    rco_kube_call_own(call, v);
    return call;
}

struct crd_call {
    enum rco_kind kind;
    rco_kube_done done;
    void *ctx;
};

static bool lists_resource(const struct rco_kube_result *result, const char *plural)
{
    rco_autoarena a = RCO_ARENA_INIT;
    struct api_resource_list list = {0};
    struct rco_error ignored = RCO_ERROR_INIT;

    if (rco_codec_decode(&resource_list_schema, result->body, result->body_len, &a, &list,
                         &ignored) < 0)
        return false;
    for (size_t i = 0; i < list.n_resources; i++)
        if (rco_streq(list.resources[i].name, plural))
            return true;
    return false;
}

static void on_crd(void *ctx, const struct rco_kube_result *result, const struct rco_error *err)
{
    const struct crd_call *v = ctx;
    const struct rco_kind_info *info = rco_kind_info(v->kind);
    struct rco_error missing = RCO_ERROR_INIT;

    if ((err && err->code == RCO_ENOTFOUND) || (!err && !lists_resource(result, info->plural))) {
        rco_error_set(&missing, RCO_ENOTFOUND,
                      "the API server does not serve %s.%s/%s: install the CRDs of this release "
                      "(kubectl apply -f crds/, or the chart's crds) and wait until they are "
                      "Established",
                      info->plural, info->group, info->version);
        err = &missing;
    }
    v->done(v->ctx, result, err);
}

/* Discovery rather than a GET of the CRD object: it says "served and established" and every
 * authenticated account may read it. */
struct rco_kube_call *rco_kube_check_crd(struct rco_kube_client *c, enum rco_kind kind,
                                         rco_kube_done done, void *ctx)
{
    const struct rco_kind_info *info = rco_kind_info(kind);
    struct crd_call *v = rco_calloc(1, sizeof(*v));
    rco_autobuf path = RCO_BUF_INIT;
    struct rco_kube_request request = {.verb = RCO_KUBE_RAW_GET};
    struct rco_kube_call *call;

    v->kind = kind;
    v->done = done;
    v->ctx = ctx;
    rco_buf_addf(&path, "/apis/%s/%s", info->group, info->version);
    request.path = rco_buf_str(&path);
    call = rco_kube_start(c, &request, on_crd, v);
    rco_kube_call_own(call, v);
    return call;
}
