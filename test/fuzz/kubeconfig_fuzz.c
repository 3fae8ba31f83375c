/* Any bytes as a kubeconfig. One that comes from elsewhere may never make us run a program, open a
 * file, use a proxy or skip verification. */
#include "kube/config.h"

#include <stdint.h>
#include <stdlib.h>

#define REQUIRE(C)                                                                                 \
    do {                                                                                           \
        if (!(C))                                                                                  \
            abort();                                                                               \
    } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const enum rco_kube_trust trusts[] = {RCO_KUBE_TRUST_OWN, RCO_KUBE_TRUST_NOTHING};

    for (size_t i = 0; i < RCO_ARRAY_LEN(trusts); i++) {
        rco_autokubeconfig c = RCO_KUBE_CONFIG_INIT;
        struct rco_error err = RCO_ERROR_INIT;
        const struct rco_kubeconfig_options o = {.trust = trusts[i]};

        if (rco_kube_config_parse((const char *)data, n, "fuzz", &o, &c, &err) < 0) {
            REQUIRE(*err.msg && !c.server);
            continue;
        }
        REQUIRE(c.server && c.ns);
        REQUIRE(!(c.cert_pem || c.cert_file) == !(c.key_pem || c.key_file));
        if (trusts[i] == RCO_KUBE_TRUST_NOTHING)
            REQUIRE(!c.exec && !c.ca_file && !c.cert_file && !c.key_file && !c.token_file &&
                    !c.proxy_url && !c.insecure);
    }
    return 0;
}
