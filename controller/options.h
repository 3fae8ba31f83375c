/* Command line of runtime-cloud-controller. */
#ifndef RCO_CONTROLLER_OPTIONS_H
#define RCO_CONTROLLER_OPTIONS_H

#include "base/error.h"
#include "base/log.h"

#include <stdbool.h>
#include <stdint.h>

struct rco_address {
    const char *host; /* NULL = any */
    int port;         /* -1 = switched off ("0") */
    char text[64];    /* host storage */
};

struct rco_options {
    const char *config_file; /* NULL = built-in defaults */
    const char *kubeconfig;  /* NULL = in-cluster */
    const char *context;
    const char *ns;       /* the operator's own namespace */
    const char *identity; /* NULL = host name and a random part */
    bool leader_elect;
    const char *lease_name;
    int64_t lease_duration_ns, renew_deadline_ns, retry_period_ns;
    struct rco_address metrics, health, gateway;
    const char *gateway_url;    /* as runner pods reach it */
    const char *gateway_secret; /* Secret with the serving certificate */
    const char *crash_file;     /* remembers over a crash which key was being decided; NULL = off */
    enum rco_log_level log_level;
    enum rco_log_format log_format;
    bool help, version;
};

/* Values of the environment that count, given by main. */
struct rco_options_env {
    const char *pod_namespace;
    const char *kubeconfig;
};

/* Parses ARGV. An unknown flag, a flag without its value or a bad value is RCO_EINVALID with a
 * sentence that names the flag and what is allowed. Strings are borrowed from ARGV and ENV. */
RCO_MUST_CHECK int rco_options_parse(int argc, char *const *argv, const struct rco_options_env *env,
                                     struct rco_options *ret, struct rco_error *err);

/* Usage text. */
const char *rco_options_usage(void);

#endif
