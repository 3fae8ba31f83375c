/* Where the API server is and who we are: kubeconfig files and the in-cluster environment. Reads
 * files, never the environment: callers pass what they found there. */
#ifndef RCO_KUBE_CONFIG_H
#define RCO_KUBE_CONFIG_H

#include "base/cleanup.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

#define RCO_KUBECONFIG_MAX (4 * 1024 * 1024) /* bytes of one kubeconfig file */
#define RCO_KUBECONFIG_FILES_MAX 16          /* files in one KUBECONFIG list */
#define RCO_KUBE_PEM_MAX (1024 * 1024)       /* bytes of a CA bundle, certificate or key */
#define RCO_KUBE_TOKEN_MAX (64 * 1024)       /* bytes of a bearer token */

/* A credential plugin (client.authentication.k8s.io). Never run through a shell. */
struct rco_kube_exec {
    char *api_version; /* .../v1 or .../v1beta1 */
    char *command;
    char **args; /* NULL-terminated, without the command */
    char **env;  /* "NAME=value", NULL-terminated */
    char *install_hint;
    bool provide_cluster_info;
};

/* Everything is owned by the struct; absent strings are NULL. */
struct rco_kube_config {
    char *source; /* the file or "in-cluster", for messages */
    char *server; /* "https://host:port" and optional path prefix, no trailing slash */
    char *ns;     /* namespace of the context, or of the pod */
    char *ca_pem, *ca_file;
    char *cert_pem, *cert_file;
    char *key_pem, *key_file;
    char *token, *token_file;
    char *proxy_url;
    char *tls_server_name;
    bool insecure; /* insecure-skip-tls-verify */
    struct rco_kube_exec *exec;
};

#define RCO_KUBE_CONFIG_INIT ((struct rco_kube_config){0})
#define rco_autokubeconfig rco_cleanup(rco_kube_config_release) struct rco_kube_config

/* What a kubeconfig may make us do. A file that comes from a tenant may do none of these (A58). */
enum rco_kube_trust {
    RCO_KUBE_TRUST_OWN,    /* the user's own file: plugins, file paths and insecure are obeyed */
    RCO_KUBE_TRUST_NOTHING /* exec, auth-provider, file paths, proxy-url, insecure: RCO_EFORBIDDEN
                            */
};

struct rco_kubeconfig_options {
    const char
        *paths; /* one file or a colon-separated list as in KUBECONFIG; the first to define wins */
    const char *context; /* NULL = current-context */
    enum rco_kube_trust trust;
};

/* Reads kubeconfig files. Relative paths inside are taken relative to their file. Errors name file
 * and field. OUT is set only on success. */
RCO_MUST_CHECK int rco_kube_config_load(const struct rco_kubeconfig_options *options,
                                        struct rco_kube_config *out, struct rco_error *err);

/* The same from a text. SOURCE is used in messages; relative paths are taken as they are. */
RCO_MUST_CHECK int rco_kube_config_parse(const char *yaml, size_t n, const char *source,
                                         const struct rco_kubeconfig_options *options,
                                         struct rco_kube_config *out, struct rco_error *err);

#define RCO_IN_CLUSTER_DIR "/var/run/secrets/kubernetes.io/serviceaccount"

/* In-cluster discovery (A60): HOST and PORT are the values of KUBERNETES_SERVICE_HOST and _PORT,
 * DIR holds token, ca.crt and namespace. Anything missing is an error that says what; there is no
 * fall-back to anonymous. */
RCO_MUST_CHECK int rco_kube_config_in_cluster(const char *host, const char *port, const char *dir,
                                              struct rco_kube_config *out, struct rco_error *err);

/* Frees everything; C may be used again. */
void rco_kube_config_release(struct rco_kube_config *c);

#endif
