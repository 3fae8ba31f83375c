/* runtime-cloud-controller: the operator. Wiring only: setup.c has the table of what runs. */
#include "base/log.h"
#include "base/memory.h"
#include "options.h"
#include "program.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    const struct rco_options_env options_env = {
        .pod_namespace = getenv("POD_NAMESPACE"),
        .kubeconfig = getenv("KUBECONFIG"),
    };
    struct rco_error err = RCO_ERROR_INIT;
    struct rco_options options;
    char host[256] = "";

    rco_memory_setup();
    if (rco_options_parse(argc, argv, &options_env, &options, &err) < 0) {
        fprintf(stderr, "runtime-cloud-controller: %s\n\n%s", err.msg, rco_options_usage());
        return 2;
    }
    if (options.help) {
        fputs(rco_options_usage(), stdout);
        return 0;
    }
    if (options.version) {
        printf("runtime-cloud-controller %s (%s)\n", RCO_VERSION, RCO_REVISION);
        return 0;
    }
    if (gethostname(host, sizeof host - 1) < 0)
        snprintf(host, sizeof host, "unknown");
    rco_log_setup(options.log_level, options.log_format);
    return rco_program_run(&options, &(struct rco_program_env){
                                         .service_host = getenv("KUBERNETES_SERVICE_HOST"),
                                         .service_port = getenv("KUBERNETES_SERVICE_PORT"),
                                         .pod_name = getenv("POD_NAME"),
                                         .host_name = host,
                                     });
}
