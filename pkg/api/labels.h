/* Finalizers, labels, annotations and container names that the product puts on objects. */
#ifndef RCO_API_LABELS_H
#define RCO_API_LABELS_H

/* Group of our kinds and prefix of all our labels, annotations and finalizers. */
#define RCO_DOMAIN "runtimecloud.io"

#define RCO_FINALIZER_RUN "runtimecloud.io/run"
#define RCO_FINALIZER_SPECIFICATION "runtimecloud.io/specification"
#define RCO_FINALIZER_ENVIRONMENT "runtimecloud.io/environment"
#define RCO_FINALIZER_ENGINE "runtimecloud.io/engine"

#define RCO_LABEL_MANAGED_BY "app.kubernetes.io/managed-by"
#define RCO_MANAGED_BY "runtime-cloud"
#define RCO_LABEL_TENANT "runtimecloud.io/tenant"
#define RCO_LABEL_PROJECT "runtimecloud.io/project"
#define RCO_LABEL_ENVIRONMENT "runtimecloud.io/environment"
#define RCO_LABEL_SPECIFICATION "runtimecloud.io/specification"
#define RCO_LABEL_RUN "runtimecloud.io/run"
#define RCO_LABEL_RUN_UID "runtimecloud.io/run-uid"
#define RCO_LABEL_PHASE "runtimecloud.io/phase"
/* On chunks of artifacts, value = kind of artifact; keeps their contents out of the ConfigMap
 * watch. */
#define RCO_LABEL_ARTIFACT "runtimecloud.io/artifact"

/* On Jobs: hash of run uid, phase and snapshot. */
#define RCO_ANNOTATION_CAUSE "runtimecloud.io/cause"
/* On a specification: any new value asks for a new run. */
#define RCO_ANNOTATION_RUN_NOW "runtimecloud.io/run-now"
#define RCO_REQUEST_MAX 256 /* bytes of its value that status.handledRequests repeats */
/* On a state claim: uid of the Environment that made it. */
#define RCO_ANNOTATION_ENVIRONMENT_UID "runtimecloud.io/environment-uid"

/* On the stack claim Lease (operator's namespace); its spec.holderIdentity is the uid of the
 * specification. The engine annotations are absent while no engine may run. */
#define RCO_ANNOTATION_CLAIM_SPECIFICATION "runtimecloud.io/specification-ref" /* "ns/name" */
#define RCO_ANNOTATION_CLAIM_STACK "runtimecloud.io/stack"                     /* for people */
/* Where its state is: canonical, for people; never with credentials. */
#define RCO_ANNOTATION_CLAIM_BACKEND "runtimecloud.io/backend"
#define RCO_ANNOTATION_CLAIM_ENGINE_POD "runtimecloud.io/engine-pod" /* pod name */
#define RCO_ANNOTATION_CLAIM_ENGINE_POD_UID "runtimecloud.io/engine-pod-uid"
#define RCO_ANNOTATION_CLAIM_ENGINE_RUN "runtimecloud.io/engine-run" /* "ns/name" */
#define RCO_ANNOTATION_CLAIM_ENGINE_RUN_UID "runtimecloud.io/engine-run-uid"
/* Names of pods whose engine on this stack has ended, newest first, comma-separated: the answer to
 * a start, so that the runner may clear a backend lock that one of them left. */
#define RCO_ANNOTATION_CLAIM_ENDED_PODS "runtimecloud.io/ended-pods"
#define RCO_CLAIM_MAX_ENDED_PODS 32

/* On a Node, put there by people or fencing controllers: the machine is off. */
#define RCO_TAINT_OUT_OF_SERVICE "node.kubernetes.io/out-of-service"

#define RCO_CONTAINER_FETCH "fetch"
#define RCO_CONTAINER_INSTALL "install"
#define RCO_CONTAINER_REPORT "report"
#define RCO_CONTAINER_ENGINE "engine"

#endif
