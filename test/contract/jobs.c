/* Jobs and their pods; the case plays the kubelet. */
#include "check.h"

#include <string.h>

#define TRACKING "batch.kubernetes.io/job-tracking"

static struct reply make_job(struct bed *b, const char *name, const char *spec)
{
    struct reply r;

    b->ops->admit_pods(b, b->ns);
    r = bed_do(b, "POST", at(b, "jobs", NULL), job_json(b, name, spec));
    check_code(b, "create a Job", &r, 201);
    return r;
}

/* A Job whose pods have a finalizer of ours. */
static struct reply make_held_job(struct bed *b, const char *name)
{
    struct reply r;

    b->ops->admit_pods(b, b->ns);
    r = bed_do(
        b, "POST", at(b, "jobs", NULL),
        bed_text(b,
                 "{\"apiVersion\":\"batch/v1\",\"kind\":\"Job\",\"metadata\":{\"name\":\"%s\"}"
                 ",\"spec\":{\"backoffLimit\":0,\"template\":{\"metadata\":{\"labels\":{"
                 "\"of\":\"%s\"},\"finalizers\":[\"a.example.com/x\"]},\"spec\":{"
                 "\"restartPolicy\":\"Never\",\"automountServiceAccountToken\":false,"
                 "\"containers\":[{\"name\":\"engine\",\"image\":"
                 "\"registry.example.com/runner:1\"}]}}}}",
                 name, name));
    check_code(b, "create a Job", &r, 201);
    return r;
}

static bool has_items(const struct reply *r)
{
    const struct rco_value *items = sim_tree_get(r->json, "items");

    return items && items->len > 0;
}

static const char *pods_of(struct bed *b, const char *job)
{
    return bed_text(b, "%s?labelSelector=of%%3D%s", at(b, "pods", NULL), job);
}

/* Its pod, waited for; NULL when none comes. */
static const struct rco_value *pod_of(struct bed *b, const char *job)
{
    struct reply r = bed_poll(b, pods_of(b, job), has_items);

    check(b, "a pod comes", has_items(&r));
    return has_items(&r) ? sim_tree_get(r.json, "items")->first : NULL;
}

static const char *name_of(const struct rco_value *v)
{
    return rco_str_or_empty(sim_tree_str(v, "metadata|name"));
}

static void set_phase(struct bed *b, const char *pod, const char *phase)
{
    struct reply r = bed_do(b, "PATCH", at(b, "pods", bed_text(b, "%s/status", pod)),
                            bed_text(b, "{\"status\":{\"phase\":\"%s\"}}", phase));

    check_code(b, "the kubelet's status", &r, 200);
}

static const struct rco_value *condition(const struct reply *job, const char *type)
{
    const struct rco_value *list = sim_tree_get(job->json, "status|conditions");

    for (const struct rco_value *c = list ? list->first : NULL; c; c = c->next)
        if (rco_streq(sim_tree_str(c, "type"), type) &&
            rco_streq(sim_tree_str(c, "status"), "True"))
            return c;
    return NULL;
}

static bool has_failed(const struct reply *r)
{
    return condition(r, "Failed") != NULL;
}

static bool counts_a_failure(const struct reply *r)
{
    return sim_tree_int(r->json, "status|failed", 0) == 1;
}

static bool will_fail(const struct reply *r)
{
    return condition(r, "FailureTarget") != NULL;
}

static bool is_complete(const struct reply *r)
{
    return condition(r, "Complete") != NULL;
}

static bool is_suspended(const struct reply *r)
{
    return condition(r, "Suspended") != NULL;
}

static bool is_active(const struct reply *r)
{
    return sim_tree_int(r->json, "status|active", 0) == 1;
}

/* --- cases --- */

static void defaults(struct bed *b)
{
    static const struct {
        const char *path, *want;
    } rows[] = {{"spec|parallelism", "1"},
                {"spec|completions", "1"},
                {"spec|backoffLimit", "0"},
                {"spec|completionMode", "NonIndexed"},
                {"spec|suspend", "true"},
                {"spec|manualSelector", "false"},
                {"spec|podReplacementPolicy", "TerminatingOrFailed"},
                {"spec|template|spec|dnsPolicy", "ClusterFirst"},
                {"spec|template|spec|schedulerName", "default-scheduler"},
                {"spec|template|spec|terminationGracePeriodSeconds", "30"}};
    struct reply r = make_job(b, "j", ",\"suspend\":true");

    for (size_t i = 0; i < RCO_ARRAY_LEN(rows); i++)
        check_at(b, &r, rows[i].path, rows[i].want);
    check_at(b, &r, "spec|selector|matchLabels|batch.kubernetes.io/controller-uid", uid_of(&r));
    check_at(b, &r, "spec|template|metadata|labels|batch.kubernetes.io/job-name", "j");
    check_at(b, &r, "spec|template|metadata|labels|batch.kubernetes.io/controller-uid", uid_of(&r));
    check_at(b, &r, "spec|template|metadata|creationTimestamp", NULL);
}

static void has_a_pod(struct bed *b)
{
    struct reply job = make_job(b, "j", "");
    const struct rco_value *pod = pod_of(b, "j");
    const struct rco_value *owners = sim_tree_get(pod, "metadata|ownerReferences");
    const struct rco_value *owner = owners ? owners->first : NULL;

    check_str(b, "owner's kind", "Job", sim_tree_str(owner, "kind"));
    check_str(b, "owner's uid", uid_of(&job), sim_tree_str(owner, "uid"));
    check(b, "it controls", owner && rco_value_bool(owner, "controller"));
    check(b, "it blocks", owner && rco_value_bool(owner, "blockOwnerDeletion"));
    check(b, "the controller's finalizer", sim_tree_has(pod, "metadata|finalizers", TRACKING));
    check_str(b, "label with the Job's uid", uid_of(&job),
              sim_tree_str(pod, "metadata|labels|batch.kubernetes.io/controller-uid"));
    check_str(b, "phase", "Pending", sim_tree_str(pod, "status|phase"));
    check_str(b, "account", "default", sim_tree_str(pod, "spec|serviceAccountName"));
    check_int(b, "generation", 1, sim_tree_int(pod, "metadata|generation", 0));
    check(b, "its name begins with the Job's", strncmp(name_of(pod), "j-", 2) == 0);
    job = bed_poll(b, at(b, "jobs", "j"), is_active);
    check_at(b, &job, "status|active", "1");
}

static void suspended(struct bed *b)
{
    struct reply r;

    make_job(b, "j", ",\"suspend\":true");
    r = bed_poll(b, at(b, "jobs", "j"), is_suspended);
    check(b, "a condition says so", is_suspended(&r));
    bed_sleep(b, 500 * BED_MS);
    r = bed_do(b, "GET", pods_of(b, "j"), NULL);
    check(b, "no pod comes", !has_items(&r));
    r = bed_do(b, "PATCH", at(b, "jobs", "j"), "{\"spec\":{\"suspend\":false}}");
    check_code(b, "resume", &r, 200);
    check_at(b, &r, "metadata|generation", "2");
    pod_of(b, "j");
}

static void fails(struct bed *b)
{
    struct reply r;
    const char *pod;

    make_held_job(b, "j");
    pod = name_of(pod_of(b, "j"));
    set_phase(b, pod, "Failed");
    r = bed_poll(b, at(b, "jobs", "j"), has_failed);
    check(b, "Failed", has_failed(&r));
    check(b, "FailureTarget", will_fail(&r));
    check_str(b, "reason", "BackoffLimitExceeded", sim_tree_str(condition(&r, "Failed"), "reason"));
    check_str(b, "message", "Job has reached the specified backoff limit",
              sim_tree_str(condition(&r, "Failed"), "message"));
    check_at(b, &r, "status|failed", "1");
    check_at(b, &r, "status|active", NULL);
    r = bed_do(b, "GET", at(b, "pods", pod), NULL);
    check(b, "the controller lets the pod go",
          !sim_tree_has(r.json, "metadata|finalizers", TRACKING));
    check(b, "others do not", sim_tree_has(r.json, "metadata|finalizers", "a.example.com/x"));
    bed_sleep(b, 500 * BED_MS);
    r = bed_do(b, "GET", pods_of(b, "j"), NULL);
    check_int(b, "pods", 1, has_items(&r) ? (int64_t)sim_tree_get(r.json, "items")->len : 0);
}

static void succeeds(struct bed *b)
{
    struct reply r;

    make_job(b, "j", "");
    set_phase(b, name_of(pod_of(b, "j")), "Succeeded");
    r = bed_poll(b, at(b, "jobs", "j"), is_complete);
    check(b, "Complete", is_complete(&r));
    check(b, "SuccessCriteriaMet", condition(&r, "SuccessCriteriaMet") != NULL);
    check_str(b, "reason", "CompletionsReached", sim_tree_str(condition(&r, "Complete"), "reason"));
    check_at(b, &r, "status|succeeded", "1");
    check(b, "it has a time", sim_tree_str(r.json, "status|completionTime") != NULL);
}

/* A pod that is bound to a node ends by its kubelet. */
static void bind(struct bed *b, const char *pod)
{
    b->ops->bind(b, b->ns, pod);
    set_phase(b, pod, "Running");
}

static void pod_told_to_go(struct bed *b)
{
    struct reply r;
    const char *pod;

    make_held_job(b, "j");
    pod = name_of(pod_of(b, "j"));
    bind(b, pod);
    r = bed_do(b, "DELETE", at(b, "pods", pod), NULL);
    check_code(b, "delete", &r, 200);
    check_at(b, &r, "kind", "Pod");
    check_at(b, &r, "metadata|deletionGracePeriodSeconds", "30");
    check_at(b, &r, "metadata|generation", "2");
    r = bed_poll(b, at(b, "jobs", "j"), will_fail);
    check(b, "FailureTarget comes while it runs", will_fail(&r));
    check(b, "Failed does not", !has_failed(&r));
    r = bed_poll(b, at(b, "jobs", "j"), counts_a_failure);
    check_at(b, &r, "status|failed", "1");
    check_at(b, &r, "status|terminating", "1");
    check(b, "Failed still does not", !has_failed(&r));
    bed_sleep(b, 1500 * BED_MS);
    r = bed_do(b, "GET", at(b, "pods", pod), NULL);
    check(b, "the controller has let it go",
          !sim_tree_has(r.json, "metadata|finalizers", TRACKING));
    check_at(b, &r, "status|phase", "Running");
    set_phase(b, pod, "Failed");
    r = bed_poll(b, at(b, "jobs", "j"), has_failed);
    check(b, "Failed comes with its end", has_failed(&r));
}

static rco_wall time_at(const struct reply *r, const char *path)
{
    struct rco_error err = RCO_ERROR_INIT;
    const char *text = sim_tree_str(r->json, path);
    rco_wall t = 0;

    return text && rco_wall_parse(text, &t, &err) == 0 ? t : 0;
}

static void time_of_deletion(struct bed *b)
{
    struct reply r;
    const char *pod;
    rco_wall before;

    make_held_job(b, "j");
    pod = name_of(pod_of(b, "j"));
    bind(b, pod);
    r = bed_do(b, "POST", at(b, "configmaps", NULL), "{\"metadata\":{\"name\":\"clock\"}}");
    before = time_at(&r, "metadata|creationTimestamp");
    r = bed_do(b, "DELETE", at(b, "pods", pod), NULL);
    check(b, "it is the end of the grace, not its beginning",
          time_at(&r, "metadata|deletionTimestamp") - before >= 29 * RCO_US_PER_S);
}

static void grace_shortened(struct bed *b)
{
    struct reply r;
    const char *pod;

    make_held_job(b, "j");
    pod = name_of(pod_of(b, "j"));
    bind(b, pod);
    bed_do(b, "DELETE", at(b, "pods", pod), NULL);
    r = bed_do(b, "DELETE", at(b, "pods", pod), "{\"gracePeriodSeconds\":0}");
    check_code(b, "delete at once", &r, 200);
    check_at(b, &r, "metadata|deletionGracePeriodSeconds", "0");
    check_at(b, &r, "metadata|generation", "2");
    r = bed_do(b, "GET", at(b, "pods", pod), NULL);
    check_code(b, "its finalizers hold it", &r, 200);
}

static bool is_marked(const struct reply *r)
{
    return sim_tree_get(r->json, "metadata|deletionTimestamp") != NULL;
}

static void job_deleted(struct bed *b)
{
    struct reply r;
    const char *pod;

    make_held_job(b, "j");
    pod = name_of(pod_of(b, "j"));
    bind(b, pod);
    r = bed_do(b, "DELETE", at(b, "jobs", "j"), "{\"propagationPolicy\":\"Background\"}");
    check_at(b, &r, "kind", "Status");
    r = bed_do(b, "GET", at(b, "jobs", "j"), NULL);
    check_code(b, "the Job goes at once", &r, 404);
    r = bed_poll(b, at(b, "pods", pod), is_marked);
    check(b, "the pod is told to go", is_marked(&r));
    check_at(b, &r, "metadata|deletionGracePeriodSeconds", "30");
    bed_sleep(b, 1500 * BED_MS);
    r = bed_do(b, "GET", at(b, "pods", pod), NULL);
    check(b, "the controller has let it go",
          !sim_tree_has(r.json, "metadata|finalizers", TRACKING));
    check(b, "others hold it", sim_tree_has(r.json, "metadata|finalizers", "a.example.com/x"));
}

static void pending_pod(struct bed *b)
{
    struct reply r;
    const char *pod;

    make_job(b, "j", "");
    pod = name_of(pod_of(b, "j"));
    r = bed_do(b, "DELETE", at(b, "pods", pod), NULL);
    check_at(b, &r, "metadata|deletionGracePeriodSeconds", "0");
    check(b, "it goes without a kubelet", bed_poll_gone(b, at(b, "pods", pod)));
    r = bed_poll(b, at(b, "jobs", "j"), has_failed);
    check(b, "its Job fails", has_failed(&r));
}

static void immutable(struct bed *b)
{
    struct reply r;

    make_job(b, "j", ",\"suspend\":true");
    r = bed_do(b, "PATCH", at(b, "jobs", "j"), "{\"spec\":{\"completions\":3}}");
    check_refusal(
        b, "completions", &r, 422, "Invalid",
        "Job.batch \"j\" is invalid: spec.completions: Invalid value: 3: field is immutable");
    r = bed_do(b, "PATCH", at(b, "jobs", "j"),
               "{\"spec\":{\"template\":{\"spec\":{\"containers\":[{\"name\":\"engine\",\"image\":"
               "\"other\"}]}}}}");
    check_refusal(b, "template", &r, 422, "Invalid",
                  "Job.batch \"j\" is invalid: spec.template: Invalid value: *");
}

const struct contract_case job_cases[] = {
    {"defaults of a Job", defaults},
    {"a Job makes one pod and owns it", has_a_pod},
    {"a suspended Job has no pod until it is resumed", suspended},
    {"a failed pod fails the Job at once", fails},
    {"a good pod completes the Job", succeeds},
    {"a pod told to go: FailureTarget first, Failed with its end", pod_told_to_go},
    {"deletionTimestamp is the end of the grace", time_of_deletion},
    {"a second delete shortens the grace", grace_shortened},
    {"a deleted Job takes its pod along", job_deleted},
    {"a pod without a node goes at once", pending_pod},
    {"what is immutable in a Job", immutable},
    {0}};
