#include "kube/kubeconfig_schema.h"

#include <stddef.h>

static const struct rco_field cluster_fields[] = {
    {.name = "server",
     .name_len = 6,
     .type = RCO_FIELD_STRING,
     .offset = offsetof(struct rco_kubeconfig_cluster, server)},
    {.name = "certificate-authority",
     .name_len = 21,
     .type = RCO_FIELD_STRING,
     .offset = offsetof(struct rco_kubeconfig_cluster, ca_file)},
    {.name = "certificate-authority-data",
     .name_len = 26,
     .type = RCO_FIELD_STRING,
     .offset = offsetof(struct rco_kubeconfig_cluster, ca_data)},
    {.name = "tls-server-name",
     .name_len = 15,
     .type = RCO_FIELD_STRING,
     .offset = offsetof(struct rco_kubeconfig_cluster, tls_server_name)},
    {.name = "proxy-url",
     .name_len = 9,
     .type = RCO_FIELD_STRING,
     .offset = offsetof(struct rco_kubeconfig_cluster, proxy_url)},
    {.name = "insecure-skip-tls-verify",
     .name_len = 24,
     .type = RCO_FIELD_BOOL,
     .offset = offsetof(struct rco_kubeconfig_cluster, insecure),
     .aux_offset = offsetof(struct rco_kubeconfig_cluster, has_insecure)},
};

static const struct rco_schema cluster_schema = {
    .name = "cluster",
    .size = sizeof(struct rco_kubeconfig_cluster),
    .fields = cluster_fields,
    .n_fields = RCO_ARRAY_LEN(cluster_fields),
};

static const struct rco_field named_cluster_fields[] = {
    {.name = "name",
     .name_len = 4,
     .type = RCO_FIELD_STRING,
     .offset = offsetof(struct rco_kubeconfig_named_cluster, name)},
    {.name = "cluster",
     .name_len = 7,
     .type = RCO_FIELD_STRUCT,
     .offset = offsetof(struct rco_kubeconfig_named_cluster, cluster),
     .aux_offset = offsetof(struct rco_kubeconfig_named_cluster, has_cluster),
     .sub = &cluster_schema},
};

static const struct rco_schema named_cluster_schema = {
    .name = "named_cluster",
    .size = sizeof(struct rco_kubeconfig_named_cluster),
    .fields = named_cluster_fields,
    .n_fields = RCO_ARRAY_LEN(named_cluster_fields),
};

static const struct rco_field env_fields[] = {
    {.name = "name",
     .name_len = 4,
     .type = RCO_FIELD_STRING,
     .offset = offsetof(struct rco_kubeconfig_env, name)},
    {.name = "value",
     .name_len = 5,
     .type = RCO_FIELD_STRING,
     .offset = offsetof(struct rco_kubeconfig_env, value)},
};

static const struct rco_schema env_schema = {
    .name = "env",
    .size = sizeof(struct rco_kubeconfig_env),
    .fields = env_fields,
    .n_fields = RCO_ARRAY_LEN(env_fields),
};

static const struct rco_field exec_fields[] = {
    {.name = "apiVersion",
     .name_len = 10,
     .type = RCO_FIELD_STRING,
     .offset = offsetof(struct rco_kubeconfig_exec, api_version)},
    {.name = "command",
     .name_len = 7,
     .type = RCO_FIELD_STRING,
     .offset = offsetof(struct rco_kubeconfig_exec, command)},
    {.name = "installHint",
     .name_len = 11,
     .type = RCO_FIELD_STRING,
     .offset = offsetof(struct rco_kubeconfig_exec, install_hint)},
    {.name = "args",
     .name_len = 4,
     .type = RCO_FIELD_LIST_STRING,
     .offset = offsetof(struct rco_kubeconfig_exec, args),
     .aux_offset = offsetof(struct rco_kubeconfig_exec, n_args)},
    {.name = "env",
     .name_len = 3,
     .type = RCO_FIELD_LIST_STRUCT,
     .offset = offsetof(struct rco_kubeconfig_exec, env),
     .aux_offset = offsetof(struct rco_kubeconfig_exec, n_env),
     .sub = &env_schema},
    {.name = "provideClusterInfo",
     .name_len = 18,
     .type = RCO_FIELD_BOOL,
     .offset = offsetof(struct rco_kubeconfig_exec, provide_cluster_info),
     .aux_offset = offsetof(struct rco_kubeconfig_exec, has_provide_cluster_info)},
};

static const struct rco_schema exec_schema = {
    .name = "exec",
    .size = sizeof(struct rco_kubeconfig_exec),
    .fields = exec_fields,
    .n_fields = RCO_ARRAY_LEN(exec_fields),
};

static const struct rco_field user_fields[] = {
    {.name = "client-certificate",
     .name_len = 18,
     .type = RCO_FIELD_STRING,
     .offset = offsetof(struct rco_kubeconfig_user, cert_file)},
    {.name = "client-certificate-data",
     .name_len = 23,
     .type = RCO_FIELD_STRING,
     .offset = offsetof(struct rco_kubeconfig_user, cert_data)},
    {.name = "client-key",
     .name_len = 10,
     .type = RCO_FIELD_STRING,
     .offset = offsetof(struct rco_kubeconfig_user, key_file)},
    {.name = "client-key-data",
     .name_len = 15,
     .type = RCO_FIELD_STRING,
     .offset = offsetof(struct rco_kubeconfig_user, key_data)},
    {.name = "token",
     .name_len = 5,
     .type = RCO_FIELD_STRING,
     .offset = offsetof(struct rco_kubeconfig_user, token)},
    {.name = "tokenFile",
     .name_len = 9,
     .type = RCO_FIELD_STRING,
     .offset = offsetof(struct rco_kubeconfig_user, token_file)},
    {.name = "username",
     .name_len = 8,
     .type = RCO_FIELD_STRING,
     .offset = offsetof(struct rco_kubeconfig_user, username)},
    {.name = "password",
     .name_len = 8,
     .type = RCO_FIELD_STRING,
     .offset = offsetof(struct rco_kubeconfig_user, password)},
    {.name = "as",
     .name_len = 2,
     .type = RCO_FIELD_STRING,
     .offset = offsetof(struct rco_kubeconfig_user, as_user)},
    {.name = "as-uid",
     .name_len = 6,
     .type = RCO_FIELD_STRING,
     .offset = offsetof(struct rco_kubeconfig_user, as_uid)},
    {.name = "as-groups",
     .name_len = 9,
     .type = RCO_FIELD_LIST_STRING,
     .offset = offsetof(struct rco_kubeconfig_user, as_groups),
     .aux_offset = offsetof(struct rco_kubeconfig_user, n_as_groups)},
    {.name = "auth-provider",
     .name_len = 13,
     .type = RCO_FIELD_RAW,
     .offset = offsetof(struct rco_kubeconfig_user, auth_provider)},
    {.name = "exec",
     .name_len = 4,
     .type = RCO_FIELD_STRUCT,
     .offset = offsetof(struct rco_kubeconfig_user, exec),
     .aux_offset = offsetof(struct rco_kubeconfig_user, has_exec),
     .sub = &exec_schema},
};

static const struct rco_schema user_schema = {
    .name = "user",
    .size = sizeof(struct rco_kubeconfig_user),
    .fields = user_fields,
    .n_fields = RCO_ARRAY_LEN(user_fields),
};

static const struct rco_field named_user_fields[] = {
    {.name = "name",
     .name_len = 4,
     .type = RCO_FIELD_STRING,
     .offset = offsetof(struct rco_kubeconfig_named_user, name)},
    {.name = "user",
     .name_len = 4,
     .type = RCO_FIELD_STRUCT,
     .offset = offsetof(struct rco_kubeconfig_named_user, user),
     .aux_offset = offsetof(struct rco_kubeconfig_named_user, has_user),
     .sub = &user_schema},
};

static const struct rco_schema named_user_schema = {
    .name = "named_user",
    .size = sizeof(struct rco_kubeconfig_named_user),
    .fields = named_user_fields,
    .n_fields = RCO_ARRAY_LEN(named_user_fields),
};

static const struct rco_field context_fields[] = {
    {.name = "cluster",
     .name_len = 7,
     .type = RCO_FIELD_STRING,
     .offset = offsetof(struct rco_kubeconfig_context, cluster)},
    {.name = "user",
     .name_len = 4,
     .type = RCO_FIELD_STRING,
     .offset = offsetof(struct rco_kubeconfig_context, user)},
    {.name = "namespace",
     .name_len = 9,
     .type = RCO_FIELD_STRING,
     .offset = offsetof(struct rco_kubeconfig_context, ns)},
};

static const struct rco_schema context_schema = {
    .name = "context",
    .size = sizeof(struct rco_kubeconfig_context),
    .fields = context_fields,
    .n_fields = RCO_ARRAY_LEN(context_fields),
};

static const struct rco_field named_context_fields[] = {
    {.name = "name",
     .name_len = 4,
     .type = RCO_FIELD_STRING,
     .offset = offsetof(struct rco_kubeconfig_named_context, name)},
    {.name = "context",
     .name_len = 7,
     .type = RCO_FIELD_STRUCT,
     .offset = offsetof(struct rco_kubeconfig_named_context, context),
     .aux_offset = offsetof(struct rco_kubeconfig_named_context, has_context),
     .sub = &context_schema},
};

static const struct rco_schema named_context_schema = {
    .name = "named_context",
    .size = sizeof(struct rco_kubeconfig_named_context),
    .fields = named_context_fields,
    .n_fields = RCO_ARRAY_LEN(named_context_fields),
};

static const struct rco_field kubeconfig_fields[] = {
    {.name = "current-context",
     .name_len = 15,
     .type = RCO_FIELD_STRING,
     .offset = offsetof(struct rco_kubeconfig, current_context)},
    {.name = "clusters",
     .name_len = 8,
     .type = RCO_FIELD_LIST_STRUCT,
     .offset = offsetof(struct rco_kubeconfig, clusters),
     .aux_offset = offsetof(struct rco_kubeconfig, n_clusters),
     .sub = &named_cluster_schema},
    {.name = "users",
     .name_len = 5,
     .type = RCO_FIELD_LIST_STRUCT,
     .offset = offsetof(struct rco_kubeconfig, users),
     .aux_offset = offsetof(struct rco_kubeconfig, n_users),
     .sub = &named_user_schema},
    {.name = "contexts",
     .name_len = 8,
     .type = RCO_FIELD_LIST_STRUCT,
     .offset = offsetof(struct rco_kubeconfig, contexts),
     .aux_offset = offsetof(struct rco_kubeconfig, n_contexts),
     .sub = &named_context_schema},
};

const struct rco_schema rco_kubeconfig_schema = {
    .name = "kubeconfig",
    .size = sizeof(struct rco_kubeconfig),
    .fields = kubeconfig_fields,
    .n_fields = RCO_ARRAY_LEN(kubeconfig_fields),
};
