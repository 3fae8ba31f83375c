#include "decide/run_pod_failures.h"

#include "decide/run_receipt_map.h"

#include <string.h>

#define IMAGE_TIMEOUT_NS (180 * RCO_NS_PER_S)
#define CONTAINER_TIMEOUT_NS (180 * RCO_NS_PER_S)
#define SCHEDULE_TIMEOUT_NS (900 * RCO_NS_PER_S)

static const char *const image_failing[] = {"ImagePullBackOff", "ErrImagePull", "ImageInspectError",
                                            "RegistryUnavailable", NULL};
static const char *const container_failing[] = {"CreateContainerConfigError",
                                                "CreateContainerError", "RunContainerError", NULL};

static bool is_one_of(const char *word, const char *const *words)
{
    for (size_t i = 0; word && words[i]; i++)
        if (rco_streq(word, words[i]))
            return true;
    return false;
}

static bool is_older_than(const struct rco_run_ctx *c, int64_t ns)
{
    return c->now >= c->pod->metadata.creation + ns / 1000;
}

/* The first container that waits for one of REASONS. */
static const struct rco_container_status *waiting(const struct rco_pod *pod,
                                                  const char *const *reasons)
{
    const struct rco_pod_status *s = &pod->status;
    for (size_t i = 0; i < s->n_init_container_statuses; i++)
        if (is_one_of(s->init_container_statuses[i].state.waiting.reason, reasons))
            return &s->init_container_statuses[i];
    for (size_t i = 0; i < s->n_container_statuses; i++)
        if (is_one_of(s->container_statuses[i].state.waiting.reason, reasons))
            return &s->container_statuses[i];
    return NULL;
}

static void set(struct rco_pod_failure *ret, enum rco_failure_class class, const char *reason,
                const char *message)
{
    *ret =
        (struct rco_pod_failure){.failure = {.class = class, .message = message}, .reason = reason};
}

bool rco_pod_failure_image(const struct rco_run_ctx *c, struct rco_pod_failure *ret)
{
    static const char *const hopeless[] = {"InvalidImageName", "ErrImageNeverPull", NULL};
    const struct rco_container_status *x = waiting(c->pod, hopeless);
    if (!x && is_older_than(c, rco_or_int(c->o->config->image_timeout_ns, IMAGE_TIMEOUT_NS)))
        x = waiting(c->pod, image_failing);
    if (!x || c->started)
        return false;
    set(ret, RCO_FAILURE_CLASS_CONFIG, "ImagePull",
        rco_message(c->a, "image %s of container %s cannot be had (%s): %.400s",
                    rco_or(x->image, c->run->spec.snapshot.image), x->name, x->state.waiting.reason,
                    rco_or(x->state.waiting.message, "no message")));
    return true;
}

bool rco_pod_failure_config(const struct rco_run_ctx *c, struct rco_pod_failure *ret)
{
    const struct rco_container_status *x = waiting(c->pod, container_failing);
    if (!x || c->started ||
        !is_older_than(c, rco_or_int(c->o->config->container_timeout_ns, CONTAINER_TIMEOUT_NS)))
        return false;
    set(ret, RCO_FAILURE_CLASS_CONFIG, x->state.waiting.reason,
        rco_message(c->a, "container %s cannot be made (%s): %.400s", x->name,
                    x->state.waiting.reason, rco_or(x->state.waiting.message, "no message")));
    return true;
}

bool rco_pod_failure_unschedulable(const struct rco_run_ctx *c, struct rco_pod_failure *ret)
{
    const struct rco_condition *x =
        rco_condition_find(c->pod->status.conditions, c->pod->status.n_conditions, "PodScheduled");
    if (!x || !rco_streq(x->status, "False") || c->started ||
        !is_older_than(c, rco_or_int(c->o->config->schedule_timeout_ns, SCHEDULE_TIMEOUT_NS)))
        return false;
    const char *text = rco_or(x->message, "no message");
    bool claim = strstr(text, "persistentvolumeclaim") != NULL;
    set(ret, claim ? RCO_FAILURE_CLASS_CONFIG : RCO_FAILURE_CLASS_CAPACITY, "Unschedulable",
        rco_message(c->a, "no node takes pod %s: %.600s", c->pod->metadata.name, text));
    return true;
}

/* ---- what it waits for ---- */

#define WAIT_NS (20 * RCO_NS_PER_S) /* an image is pulled and a volume made within that, mostly */
#define REASON_UNSCHEDULABLE "Unschedulable"
/* One word for reasons that the kubelet alternates between, so that the status does not flap with
 * them. */
#define REASON_IMAGE "ImagePull"
#define REASON_CONTAINER "ContainerNotCreated"

bool rco_pod_is_wait(const char *reason)
{
    static const char *const ours[] = {REASON_UNSCHEDULABLE, REASON_IMAGE, REASON_CONTAINER, NULL};
    return is_one_of(reason, ours);
}

static const char *container_waits_for(const struct rco_run_ctx *c, const char *const *reasons,
                                       const char *word, const char **ret_message)
{
    const struct rco_container_status *x = waiting(c->pod, reasons);
    if (!x)
        return NULL;
    *ret_message = rco_message(c->a, "container %s of pod %s cannot start yet (%s): %.600s",
                               x->name, c->pod->metadata.name, x->state.waiting.reason,
                               rco_or(x->state.waiting.message, "no message"));
    return word;
}

const char *rco_pod_waits_for(const struct rco_run_ctx *c, const char **ret_message)
{
    if (!is_older_than(c, WAIT_NS))
        return NULL;
    const struct rco_condition *x =
        rco_condition_find(c->pod->status.conditions, c->pod->status.n_conditions, "PodScheduled");
    if (x && rco_streq(x->status, "False")) {
        *ret_message = rco_message(c->a, "pod %s waits for a node: %.600s", c->pod->metadata.name,
                                   rco_or(x->message, "no message"));
        return REASON_UNSCHEDULABLE;
    }
    const char *why = container_waits_for(c, image_failing, REASON_IMAGE, ret_message);
    return why ? why : container_waits_for(c, container_failing, REASON_CONTAINER, ret_message);
}

/* ---- how it ended ---- */

/* What a container said about its own end, in its termination message. */
static bool said(const struct rco_run_ctx *c, const char *container, struct rco_pod_failure *ret)
{
    const struct rco_runner_summary *s = rco_pod_summary(c->pod, container, c->a);
    if (!s || s->ok || !s->has_failure || s->failure.class <= RCO_FAILURE_CLASS_UNKNOWN)
        return false;
    *ret =
        (struct rco_pod_failure){.failure = s->failure, .reason = rco_failure_reason(&s->failure)};
    return true;
}

static const char *why_gone(const struct rco_run_ctx *c)
{
    const struct rco_pod_status *s = &c->pod->status;
    if (rco_run_is_fenced(c, c->pod))
        return rco_message(c->a, " (node %s is marked out of service)", c->pod->spec.node_name);
    if (!rco_str_empty(s->reason) || !rco_str_empty(s->message))
        return rco_message(c->a, " (%s: %.300s)", rco_or(s->reason, "no reason"),
                           rco_or(s->message, "no message"));
    const struct rco_condition *x =
        rco_condition_find(s->conditions, s->n_conditions, "DisruptionTarget");
    if (x)
        return rco_message(c->a, " (%s: %.300s)", rco_or(x->reason, "disrupted"),
                           rco_str_or_empty(x->message));
    return c->pod->metadata.deletion ? " (it was deleted)" : "";
}

/* A container that was killed or left without a word. */
static bool fell(const struct rco_run_ctx *c, const char *container, struct rco_pod_failure *ret)
{
    const struct rco_container_status *x = rco_pod_container(c->pod, container);
    if (!x || !x->state.has_terminated)
        return false;
    const struct rco_container_terminated *t = &x->state.terminated;
    if (rco_streq(t->reason, "OOMKilled")) {
        set(ret,
            c->phase == RCO_PHASE_APPLY && c->started ? RCO_FAILURE_CLASS_LOST
                                                      : RCO_FAILURE_CLASS_CAPACITY,
            "OutOfMemory",
            rco_message(c->a,
                        "container %s was killed for using more memory than its limit; raise "
                        "spec.runner.resources.limits.memory of the Environment",
                        container));
        return true;
    }
    if (t->exit_code == 0)
        return false;
    set(ret, RCO_FAILURE_CLASS_LOST, NULL,
        rco_message(c->a, "container %s of pod %s ended with exit code %lld without a receipt%s",
                    container, c->pod->metadata.name, (long long)t->exit_code, why_gone(c)));
    return true;
}

bool rco_pod_failure_ended(const struct rco_run_ctx *c, struct rco_pod_failure *ret)
{
    static const char *const order[] = {RCO_CONTAINER_FETCH, RCO_CONTAINER_INSTALL,
                                        RCO_CONTAINER_ENGINE, RCO_CONTAINER_REPORT};
    if (!rco_run_engine_ended(c, c->pod) ||
        !(rco_pod_is_over(c->pod) || rco_run_is_fenced(c, c->pod)))
        return false;
    for (size_t i = 0; i < RCO_ARRAY_LEN(order); i++)
        if (said(c, order[i], ret))
            return true;
    for (size_t i = 0; i + 1 < RCO_ARRAY_LEN(order); i++)
        if (fell(c, order[i], ret))
            return true;
    set(ret, RCO_FAILURE_CLASS_LOST, NULL,
        rco_message(c->a, "pod %s ended without a receipt%s%s", c->pod->metadata.name, why_gone(c),
                    c->started ? "" : ": nothing started"));
    return true;
}
