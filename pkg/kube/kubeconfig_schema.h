/* The parts of a kubeconfig that we read. Internal to pkg/kube. */
#ifndef RCO_KUBE_KUBECONFIG_SCHEMA_H
#define RCO_KUBE_KUBECONFIG_SCHEMA_H

#include "json/codec.h"

struct rco_kubeconfig_cluster {
    const char *server, *ca_file, *ca_data, *tls_server_name, *proxy_url;
    bool insecure, has_insecure;
};

struct rco_kubeconfig_named_cluster {
    const char *name;
    struct rco_kubeconfig_cluster cluster;
    bool has_cluster;
};

struct rco_kubeconfig_env {
    const char *name, *value;
};

struct rco_kubeconfig_exec {
    const char *api_version, *command, *install_hint;
    const char **args;
    size_t n_args;
    struct rco_kubeconfig_env *env;
    size_t n_env;
    bool provide_cluster_info, has_provide_cluster_info;
};

struct rco_kubeconfig_user {
    const char *cert_file, *cert_data, *key_file, *key_data;
    const char *token, *token_file, *username, *password;
    const char *as_user, *as_uid;
    const char **as_groups;
    size_t n_as_groups;
    const char *auth_provider; /* raw: only its presence counts */
    struct rco_kubeconfig_exec exec;
    bool has_exec;
};

struct rco_kubeconfig_named_user {
    const char *name;
    struct rco_kubeconfig_user user;
    bool has_user;
};

struct rco_kubeconfig_context {
    const char *cluster, *user, *ns;
};

struct rco_kubeconfig_named_context {
    const char *name;
    struct rco_kubeconfig_context context;
    bool has_context;
};

struct rco_kubeconfig {
    const char *current_context;
    struct rco_kubeconfig_named_cluster *clusters;
    size_t n_clusters;
    struct rco_kubeconfig_named_user *users;
    size_t n_users;
    struct rco_kubeconfig_named_context *contexts;
    size_t n_contexts;
};

extern const struct rco_schema rco_kubeconfig_schema;

#endif
