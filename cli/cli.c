#include "cli.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/str.h"
#include "format.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

rco_wall rco_cli_now(void)
{
    return rco_clock_wall();
}

static int terminal_width(const struct rco_cli_environment *env)
{
    struct winsize size = {0};
    int64_t columns;
    struct rco_error ignored = RCO_ERROR_INIT;

    if (env->columns && rco_parse_int64(env->columns, &columns, &ignored) == 0 && columns >= 40 &&
        columns < 10000)
        return (int)columns;
    if (ioctl(env->out_fd, TIOCGWINSZ, &size) == 0 && size.ws_col >= 40)
        return size.ws_col;
    return 0;
}

struct rco_style rco_cli_style(const struct rco_options *opt, const struct rco_cli_environment *env)
{
    bool terminal = isatty(env->out_fd) && !rco_streq(env->term, "dumb");

    return (struct rco_style){
        .color = terminal && !opt->no_color && rco_str_empty(env->no_color),
        .unicode = env->lang && (strcasestr(env->lang, "utf-8") || strcasestr(env->lang, "utf8")),
        .width = terminal ? terminal_width(env) : 0,
    };
}

const char *rco_cli_flags(struct rco_arena *a, const struct rco_options *opt, const char *ns)
{
    rco_autobuf out = RCO_BUF_INIT;
    const struct {
        const char *flag, *value;
    } words[] = {
        {" -n ", ns                    ? ns
                 : opt->all_namespaces ? NULL
                                       : opt->ns},
        {" --context ", opt->context},
        {" --kubeconfig ", opt->kubeconfig},
    };

    for (size_t i = 0; i < RCO_ARRAY_LEN(words); i++) {
        if (!words[i].value)
            continue;
        rco_buf_adds(&out, words[i].flag);
        rco_text_word(&out, words[i].value);
    }
    return rco_arena_strdup(a, rco_buf_str(&out));
}

void rco_cli_renew(struct rco_cli *cli)
{
    struct rco_options anywhere = *cli->opt;

    anywhere.ns = NULL;
    rco_arena_clear(&cli->arena);
    cli->flags = rco_cli_flags(&cli->arena, cli->opt, NULL);
    cli->cluster_flags = rco_cli_flags(&cli->arena, &anywhere, NULL);
}

static int load_config(struct rco_cli *cli, struct rco_error *err)
{
    const struct rco_cli_environment *env = cli->env;
    rco_autofree char *home = NULL;
    struct rco_kubeconfig_options options = {
        .context = cli->opt->context,
        .trust = RCO_KUBE_TRUST_OWN,
        .paths = cli->opt->kubeconfig,
    };

    if (!options.paths && !rco_str_empty(env->kubeconfig))
        options.paths = env->kubeconfig;
    if (options.paths)
        return rco_kube_config_load(&options, &cli->config, err);
    home = rco_asprintf("%s/.kube/config", rco_str_or_empty(env->home));
    options.paths = home;
    if (access(home, F_OK) == 0)
        return rco_kube_config_load(&options, &cli->config, err);
    if (env->service_host)
        return rco_kube_config_in_cluster(env->service_host, env->service_port, RCO_IN_CLUSTER_DIR,
                                          &cli->config, err);
    return rco_error_set(
        err, RCO_ENOTFOUND,
        "no kubeconfig: %s does not exist, KUBECONFIG is not set and --kubeconfig was not given",
        home);
}

int rco_cli_connect(struct rco_cli *cli, struct rco_error *err)
{
    const struct rco_options *opt = cli->opt;

    if (cli->http)
        return 0;
    if (load_config(cli, err) < 0)
        return -1;
    cli->ns = opt->ns ? opt->ns : !rco_str_empty(cli->config.ns) ? cli->config.ns : "default";
    cli->http = rco_cli_http_new(&cli->config, cli->env->environ, err);
    return cli->http ? 0 : -1;
}

void rco_cli_print(struct rco_cli *cli, const struct rco_buf *text)
{
    struct rco_error ignored = RCO_ERROR_INIT;

    if (text->len && rco_fd_write_all(cli->env->out_fd, text->data, text->len, &ignored) < 0)
        exit(RCO_EXIT_NOT_FINE); /* nobody reads: as quiet as any filter */
}

bool rco_cli_wants_json(const struct rco_cli *cli)
{
    return cli->opt->output == RCO_OUTPUT_JSON || cli->opt->output == RCO_OUTPUT_YAML;
}

int rco_cli_print_json(struct rco_cli *cli, const struct rco_buf *json)
{
    struct rco_error err = RCO_ERROR_INIT;
    rco_autobuf out = RCO_BUF_INIT;
    int rc = cli->opt->output == RCO_OUTPUT_YAML
                 ? rco_format_yaml(rco_buf_str(json), json->len, &out, &err)
                 : rco_format_json(rco_buf_str(json), json->len, &out, &err);

    if (rc < 0)
        return rco_cli_fail(cli, &err);
    rco_cli_print(cli, &out);
    return RCO_EXIT_FINE;
}

const char *rco_cli_hint(const struct rco_error *err)
{
    switch (err->code) {
    case RCO_EUNAUTHORIZED:
        return "the credentials of this context have expired or are wrong: log in again, or choose "
               "one with --context";
    case RCO_EFORBIDDEN:
        if (strstr(err->msg, "pods/log"))
            return "ask the cluster's administrator for Kubernetes' own ClusterRole view in this "
                   "namespace, or read the stored log when the phase has ended";
        return "ask the cluster's administrator for the ClusterRole runtime-cloud-viewer (to look) "
               "or "
               "runtime-cloud-editor (to change) in this namespace; 'kubectl runtimecloud check' "
               "lists what you may do";
    case RCO_ETIMEOUT:
    case RCO_EUNAVAILABLE:
        return "check that the cluster runs and can be reached from here ('kubectl version'), or "
               "choose another with "
               "--context";
    case RCO_ETHROTTLED:
        return "the API server is overloaded: try again in a moment";
    case RCO_EINVALID:
    case RCO_ENOTFOUND:
    case RCO_EIO:
    case RCO_ETOOBIG:
        return strstr(err->msg, "kubeconfig")
                   ? "name another file with --kubeconfig FILE or KUBECONFIG, or correct this one"
                   : NULL;
    default:
        return NULL;
    }
}

static void complain(const char *text, const char *hint, const struct rco_buf *usage)
{
    rco_autobuf out = RCO_BUF_INIT;
    struct rco_error ignored = RCO_ERROR_INIT;

    rco_buf_adds(&out, "error: ");
    rco_text_clean(&out, text);
    rco_buf_addc(&out, '\n');
    if (hint) {
        rco_buf_adds(&out, "next: ");
        rco_text_clean(&out, hint);
        rco_buf_addc(&out, '\n');
    }
    if (usage)
        rco_buf_adds(&out, rco_buf_str(usage));
    if (rco_fd_write_all(STDERR_FILENO, out.data, out.len, &ignored) < 0)
        exit(RCO_EXIT_NOT_FINE);
}

int rco_cli_fail(struct rco_cli *cli, const struct rco_error *err)
{
    (void)cli;
    complain(err->msg, rco_cli_hint(err), NULL);
    return RCO_EXIT_NOT_FINE;
}

int rco_cli_usage_error(struct rco_cli *cli, const char *fmt, ...)
{
    rco_autobuf text = RCO_BUF_INIT, usage = RCO_BUF_INIT;
    va_list ap;

    va_start(ap, fmt);
    rco_buf_addv(&text, fmt, ap);
    va_end(ap);
    rco_options_usage(&cli->parsed, &usage);
    rco_buf_addf(&usage, "'%s -h' shows all flags and examples.\n", cli->parsed.path);
    complain(rco_buf_str(&text), NULL, &usage);
    return RCO_EXIT_USAGE;
}

int rco_cli_main(const struct rco_verb *root, int argc, char **argv,
                 const struct rco_cli_environment *env)
{
    struct rco_cli cli = {.env = env, .arena = RCO_ARENA_INIT, .config = RCO_KUBE_CONFIG_INIT};
    struct rco_error err = RCO_ERROR_INIT;
    rco_autobuf help = RCO_BUF_INIT;
    int code;

    cli.opt = &cli.parsed.options;
    if (rco_options_parse(root, argc, argv, &cli.parsed, &err) < 0)
        return rco_cli_usage_error(&cli, "%s", err.msg);
    if (cli.opt->help) {
        rco_options_help(&cli.parsed, &help);
        rco_cli_print(&cli, &help);
        return RCO_EXIT_FINE;
    }
    cli.style = rco_cli_style(cli.opt, env);
    rco_cli_renew(&cli);
    code = cli.parsed.verb->run(&cli);
    rco_cli_http_free(cli.http);
    rco_kube_config_release(&cli.config);
    rco_arena_release(&cli.arena);
    return code;
}
