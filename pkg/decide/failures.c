#include "decide/failures.h"

#include "base/buf.h"

#define CLASSES (RCO_FAILURE_CLASS_INTERNAL + 1)

static const struct {
    const char *retry, *advice;
} classes[CLASSES] = {
    [RCO_FAILURE_CLASS_UNSET] = {"no", "look at the log of the run"},
    [RCO_FAILURE_CLASS_UNKNOWN] = {"no", "look at the log of the run"},
    [RCO_FAILURE_CLASS_SOURCE] =
        {"no", "correct spec.programRef or spec.programVersion, or the program itself in a new commit"},
    [RCO_FAILURE_CLASS_CONFIG] =
        {"only a missing Secret: by a new run after 1, 5, 15 and then every 60 minutes",
         "correct what the message names, then ask for a new run with the annotation "
         "runtimecloud.io/run-now"},
    [RCO_FAILURE_CLASS_AUTH] =
        {"no", "correct the credentials or the rights that the message names, then ask for a new run "
               "with the annotation runtimecloud.io/run-now"},
    [RCO_FAILURE_CLASS_POLICY] = {"no", "change the program so that the policy allows it"},
    [RCO_FAILURE_CLASS_CAPACITY] =
        {"no", "make room in the cluster or lower spec.runner.resources of the Environment, then ask for "
               "a new run with the annotation runtimecloud.io/run-now"},
    [RCO_FAILURE_CLASS_PLAN_STALE] =
        {"yes, one new run at once, never a second", "look at what changes the stack besides this "
                                                     "specification"},
    [RCO_FAILURE_CLASS_PLAN_VIOLATION] =
        {"yes, one new run at once, never a second", "the program does not plan the same thing twice; "
                                                     "make it deterministic"},
    [RCO_FAILURE_CLASS_BACKEND_LOCKED] =
        {"no", "see who holds the lock of the state, release it there, then ask for a new run with the "
               "annotation runtimecloud.io/run-now"},
    [RCO_FAILURE_CLASS_RESOURCE] =
        {"no", "correct the resource that the message names in a new commit, or ask for a new run with "
               "the annotation runtimecloud.io/run-now"},
    [RCO_FAILURE_CLASS_PROVIDER_THROTTLE] =
        {"no", "wait until the provider accepts requests again, then ask for a new run with the "
               "annotation runtimecloud.io/run-now"},
    [RCO_FAILURE_CLASS_TIMEOUT] =
        {"no", "raise spec.runner.timeout of the Environment or make the program do less, then ask for a "
               "new run with the annotation runtimecloud.io/run-now"},
    [RCO_FAILURE_CLASS_CANCELLED] =
        {"no", "ask for a new run with the annotation runtimecloud.io/run-now"},
    [RCO_FAILURE_CLASS_LOST] =
        {"no", "ask for a new run with the annotation runtimecloud.io/run-now: its plan shows the state"},
    [RCO_FAILURE_CLASS_INTERNAL] =
        {"no", "look at the log of the run and of the operator"},
};

static size_t row(enum rco_failure_class class)
{
    return (size_t)class < CLASSES ? (size_t)class : RCO_FAILURE_CLASS_UNKNOWN;
}

const char *rco_failure_advice(enum rco_failure_class class)
{
    return classes[row(class)].advice;
}

const char *rco_failure_retry(enum rco_failure_class class)
{
    return classes[row(class)].retry;
}

void rco_failures_print(struct rco_buf *out)
{
    rco_buf_adds(out, "| class | tried again by itself | what to do |\n|---|---|---|\n");
    for (size_t i = RCO_FAILURE_CLASS_SOURCE; i < CLASSES; i++)
        rco_buf_addf(out, "| %s | %s | %s |\n", rco_failure_class_name((enum rco_failure_class)i),
                     classes[i].retry, classes[i].advice);
}
