/* Events (events.k8s.io/v1), best effort: never blocks or fails a plan. Equal events become a
 * series, a token bucket per object and a bounded queue protect etcd (A89). */
#ifndef RCO_RUNTIME_RECORDER_H
#define RCO_RUNTIME_RECORDER_H

#include "api/kinds.h"
#include "kube/client.h"

#define RCO_EVENT_NOTE_MAX 1024
#define RCO_EVENT_REASON_MAX 128
#define RCO_EVENT_CACHE_MAX 4096
#define RCO_EVENT_QUEUE_MAX 1000
#define RCO_EVENT_BURST 25
#define RCO_EVENT_REFILL_NS (300 * RCO_NS_PER_S)
#define RCO_EVENT_SERIES_NS                                                                        \
    (360 * RCO_NS_PER_S)                         /* a series ends after so long without a repeat   \
                                                  */
#define RCO_EVENT_REFRESH_NS (60 * RCO_NS_PER_S) /* a repeat is written at most so often */
#define RCO_EVENT_IN_FLIGHT_MAX 2
#define RCO_EVENT_ATTEMPTS_MAX 5
#define RCO_EVENT_RETRY_NS (10 * RCO_NS_PER_S)

struct rco_occurrence {
    enum rco_kind kind;
    const char *ns, *name,
        *uid;           /* the object it is about; ns NULL = cluster scope: the Event then stands in
                         * namespace default, the only one that the API server accepts */
    const char *type;   /* "Normal" or "Warning" */
    const char *reason; /* CamelCase */
    const char *note;   /* cut at RCO_EVENT_NOTE_MAX */
    const char *action; /* NULL = reason */
};

struct rco_recorder_options {
    struct rco_loop *loop;
    struct rco_kube_client *client;
    const char *controller; /* reportingController, "runtimecloud.io/controller" */
    const char *instance;   /* reportingInstance: the pod's name */
};

struct rco_recorder_counters {
    uint64_t sent, series, dropped_rate, dropped_queue, failed;
};

struct rco_recorder;
/* Copies OPTIONS; what they point to is borrowed. Freeing drops what was not sent. */
struct rco_recorder *rco_recorder_new(const struct rco_recorder_options *options);
void rco_recorder_free(struct rco_recorder *r);
/* Copies O. */
void rco_recorder_event(struct rco_recorder *r, const struct rco_occurrence *o);
const struct rco_recorder_counters *rco_recorder_counters(const struct rco_recorder *r);

#endif
