/* What must be true of the cluster before anything is watched: server version, CRDs, whose
 * installation it is. Transient faults are retried for ever; a hopeless finding ends the program
 * with a sentence. */
#ifndef RCO_CONTROLLER_STARTUP_H
#define RCO_CONTROLLER_STARTUP_H

#include "kube/client.h"
#include "loop/loop.h"

#define RCO_STARTUP_RETRY_NS (2 * RCO_NS_PER_S)

/* On each CRD of ours; the chart sets it to the namespace of the installation. */
#define RCO_ANNOTATION_OPERATOR_NAMESPACE "runtimecloud.io/operator-namespace"

/* On each CRD: grows with every change of the API; the operator needs exactly its own. */
#define RCO_ANNOTATION_API_REVISION "runtimecloud.io/api-revision"
#define RCO_API_REVISION "1"

struct rco_startup;

struct rco_startup_options {
    struct rco_loop *loop;
    struct rco_kube_client *client;
    const char *ns; /* the operator's own namespace */
    void (*ready)(void *ctx);
    /* WHY names what is wrong and the remedy. */
    void (*hopeless)(void *ctx, const char *why);
    void *ctx;
};

/* Starts at once; OPTIONS' pointers are borrowed. */
struct rco_startup *rco_startup_new(const struct rco_startup_options *options);
void rco_startup_free(struct rco_startup *s);

#endif
