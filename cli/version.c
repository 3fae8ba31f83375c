#include "verbs.h"

#include "api.h"
#include "base/str.h"
#include "cluster.h"
#include "json/writer.h"

#define AT(FIELD) offsetof(struct rco_options, FIELD)

static void json(const char *server, const char *api, struct rco_buf *out)
{
    struct rco_json_writer w;

    rco_json_writer_init(&w, out);
    rco_json_begin_object(&w);
    rco_json_kv_string(&w, "apiVersion", "cli.runtimecloud.io/v1");
    rco_json_kv_string(&w, "kind", "Version");
    rco_json_kv_object(&w, "client");
    rco_json_kv_string(&w, "version", RCO_VERSION);
    rco_json_kv_string(&w, "revision", RCO_REVISION);
    rco_json_end_object(&w);
    rco_json_kv_string_opt(&w, "server", server);
    rco_json_kv_string_opt(&w, "api", api);
    rco_json_end_object(&w);
}

static int run(struct rco_cli *cli)
{
    struct rco_error err = RCO_ERROR_INIT;
    struct rco_server_version server = {0};
    rco_autobuf out = RCO_BUF_INIT;
    const char *api = NULL;
    int code = RCO_EXIT_FINE;

    if (!cli->opt->client && rco_cluster_version(cli, &server, &err) < 0)
        code = rco_cli_fail(cli, &err);
    else if (!cli->opt->client)
        api = rco_cluster_serves_api(cli) ? "runtimecloud.io/v1alpha1" : "not installed";
    if (rco_cli_wants_json(cli)) {
        json(server.git_version, api, &out);
        return rco_cli_print_json(cli, &out) ? RCO_EXIT_NOT_FINE : code;
    }
    rco_buf_addf(&out, "kubectl-runtimecloud %s (%s)\n", RCO_VERSION, RCO_REVISION);
    if (server.git_version) {
        rco_buf_adds(&out, "Kubernetes ");
        rco_text_clean(&out, server.git_version);
        if (!rco_cluster_is_supported(&server)) {
            rco_buf_addf(&out, " (not supported: older than 1.%d)", RCO_CLUSTER_MIN_MINOR);
            code = RCO_EXIT_NOT_FINE;
        }
        rco_buf_addf(&out, "\nAPI %s\n", api);
    }
    rco_cli_print(cli, &out);
    return code;
}

static const struct rco_option options[] = {
    {"client", 0, RCO_OPTION_FLAG, AT(client), NULL, "only this program; asks no server", NULL},
};

static const char *const examples[] = {
    "this program, the cluster, the API", "version", "without a cluster", "version --client", NULL,
};

const struct rco_verb rco_verb_version = {
    .name = "version",
    .args = "",
    .summary = "versions of this program, the cluster and the API",
    .description = "Prints the versions of this program, of the cluster and of the API it serves.",
    .examples = examples,
    .options = options,
    .n_options = RCO_ARRAY_LEN(options),
    .run = run,
};
