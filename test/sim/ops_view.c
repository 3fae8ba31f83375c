/* What a person can see of the system, as text: equal texts mean that the same specs have come to
 * the same state, whatever the way. Left out is what counts or tells the time: versions,
 * generations, names of runs, and what a plan says about the step from the state before. */
#include "ops.h"

#include "api/labels.h"
#include "stack.h"

#include <string.h>

struct viewer {
    struct sim *s;
    const struct sim_version *env, *spec, *run;
    const char *last_run; /* its name stands in messages */
};

/* --- masks --- */

static bool is_one_of(const char *key, const char *const *keys)
{
    for (; *keys; keys++)
        if (strcmp(*keys, key) == 0)
            return true;
    return false;
}

static bool is_counted(const char *key)
{
    static const char *const keys[] = {"observedGeneration",
                                       "lastTransitionTime",
                                       "version",
                                       "versionHash",
                                       "declaredAt",
                                       "appliedVersion",
                                       "appliedAt",
                                       "appliedRunRef",
                                       "currentRunRef",
                                       "name",
                                       "uid",
                                       "number",
                                       "snapshotHash",
                                       "completedAt",
                                       "nextAttemptAt",
                                       "attempts",
                                       "handledRequests",
                                       "events",
                                       NULL};

    return is_one_of(key, keys);
}

static bool is_of_snapshot(const char *key)
{
    static const char *const keys[] = {"environmentGeneration", NULL};

    return is_one_of(key, keys);
}

/* Text with the name of the run and the number of a version taken out. */
static const char *plain(const struct viewer *v, const char *text)
{
    rco_autobuf out = RCO_BUF_INIT;
    size_t n = v->last_run ? strlen(v->last_run) : 0;

    for (const char *p = text; *p;) {
        if (n && strncmp(p, v->last_run, n) == 0) {
            rco_buf_adds(&out, "RUN");
            p += n;
        } else if (rco_str_has_prefix(p, "version ") && p[8] >= '0' && p[8] <= '9') {
            rco_buf_adds(&out, "version N");
            p += strlen("version ");
            p += strspn(p, "0123456789");
        } else {
            rco_buf_addc(&out, *p++);
        }
    }
    return rco_arena_strdup(&v->s->arena, rco_buf_str(&out));
}

/* Counters of generated Secrets: a crash costs one. */
static bool is_generated(const char *text)
{
    return rco_str_has_prefix(text, "rco-dev-pass-") || rco_str_has_prefix(text, "rco-dev-hmac-");
}

static const struct rco_value *masked(const struct viewer *v, const struct rco_value *x,
                                      bool (*drop)(const char *))
{
    struct rco_value *copy = rco_arena_memdup(&v->s->arena, x, sizeof *x), **tail = &copy->first;

    if (x->type == RCO_VALUE_STRING) {
        copy->text = is_generated(x->text) ? "GENERATED" : plain(v, x->text);
        copy->len = strlen(copy->text);
    }
    if (x->type != RCO_VALUE_OBJECT && x->type != RCO_VALUE_ARRAY)
        return copy;
    *tail = NULL;
    copy->len = 0;
    for (const struct rco_value *y = x->first; y; y = y->next) {
        if (y->key && drop && drop(y->key))
            continue;
        *tail = (struct rco_value *)masked(v, y, drop);
        (*tail)->next = NULL;
        tail = &(*tail)->next;
        copy->len++;
    }
    return copy;
}

static void line(const struct viewer *v, const char *what, const struct rco_value *tree,
                 bool (*drop)(const char *), struct rco_buf *out)
{
    rco_buf_addf(out, "%s ", what);
    if (tree)
        rco_value_canonical(masked(v, tree, drop), out);
    rco_buf_addc(out, '\n');
}

/* --- objects --- */

/* A claim and a generated Secret that were once recorded stay recorded when they are not used. */
static const struct rco_value *used_status(const struct viewer *v)
{
    const struct rco_value *t = sim_tree_get(v->env->tree, "status");
    const struct rco_value *backend = sim_tree_get(v->env->tree, "spec|backend");
    const char *provider = sim_tree_str(backend, "secretsProvider");
    struct rco_arena *a = &v->s->arena;

    if (sim_tree_get(backend, "url"))
        t = sim_tree_set(a, t, "stateClaim", NULL);
    if (sim_tree_get(backend, "passphraseSecretRef") ||
        (provider && strcmp(provider, "passphrase") != 0))
        t = sim_tree_set(a, t, "passphrase", NULL);
    return t;
}

/* The plan Job that was made for the run, also when it is gone. */
static const struct sim_version *job_of(const struct viewer *v)
{
    const struct sim_kind *k = &v->s->kinds[RCO_KIND_JOB];

    for (size_t i = k->n_history; i-- > 0;) {
        const struct sim_version *job = k->history[i].before ? NULL : k->history[i].now;

        if (job &&
            rco_streq(sim_tree_str(job->tree, "metadata|labels|" RCO_LABEL_RUN_UID), v->run->uid) &&
            rco_streq(sim_tree_str(job->tree, "metadata|labels|" RCO_LABEL_PHASE), "plan"))
            return job;
    }
    return NULL;
}

static bool is_of_run(const char *key)
{
    static const char *const keys[] = {"run",      "runUid",      "specificationVersion",
                                       "expected", RCO_LABEL_RUN, RCO_LABEL_RUN_UID,
                                       NULL};

    return is_one_of(key, keys);
}

/* RCO_JOB is JSON within JSON. */
static void line_of_settings(const struct viewer *v, const struct rco_value *pod,
                             struct rco_buf *out)
{
    const struct rco_value *list = sim_tree_get(pod, "spec|containers");
    const struct rco_value *env = list ? sim_tree_get(list->first, "env") : NULL;

    for (const struct rco_value *e = env ? env->first : NULL; e; e = e->next) {
        const char *text = sim_tree_str(e, "value");

        if (rco_streq(sim_tree_str(e, "name"), "RCO_JOB") && text)
            line(v, "settings", sim_tree_parse(&v->s->arena, text, strlen(text)), is_of_run, out);
    }
}

static bool is_told_elsewhere(const char *key)
{
    static const char *const keys[] = {"env",
                                       "job-name",
                                       "controller-uid",
                                       "batch.kubernetes.io/job-name",
                                       "batch.kubernetes.io/controller-uid",
                                       RCO_LABEL_RUN,
                                       RCO_LABEL_RUN_UID,
                                       NULL};

    return is_one_of(key, keys);
}

static void add_job(const struct viewer *v, struct rco_buf *out)
{
    const struct sim_version *job = job_of(v);
    const struct rco_value *pod = job ? sim_tree_get(job->tree, "spec|template") : NULL;

    if (!pod)
        return;
    line(v, "pod", pod, is_told_elsewhere, out);
    line(v, "deadline", sim_tree_get(job->tree, "spec|activeDeadlineSeconds"), NULL, out);
    line_of_settings(v, pod, out);
}

/* The stack that the run works on: its line ends with how often it was changed. */
static void add_stack(const struct viewer *v, struct rco_buf *out)
{
    const struct rco_value *snapshot = sim_tree_get(v->run->tree, "spec|snapshot");
    const char *claim = sim_tree_str(snapshot, "backend|claimName");
    const char *key = rco_arena_printf(&v->s->arena, "stack %s/%s%s/%s = ", rco_str_or_empty(claim),
                                       claim ? SIM_TENANT_NS : "",
                                       rco_str_or_empty(sim_tree_str(snapshot, "backend|url")),
                                       rco_str_or_empty(sim_tree_str(snapshot, "stackName")));
    rco_autobuf all = RCO_BUF_INIT;
    const char *found, *end;

    sim_stacks_write(v->s, &all);
    found = strstr(rco_buf_str(&all), key);
    end = found ? strstr(found, ", ") : NULL;
    rco_buf_adds(out, "stack ");
    if (end)
        rco_buf_add(out, found + strlen(key), (size_t)(end - found) - strlen(key));
    rco_buf_addc(out, '\n');
}

static void add_run(const struct viewer *v, struct rco_buf *out)
{
    const struct rco_value *t = v->run->tree;

    line(v, "snapshot", sim_tree_get(t, "spec|snapshot"), is_of_snapshot, out);
    line(v, "class", sim_tree_get(t, "spec|environmentClass"), NULL, out);
    line(v, "state", sim_tree_get(t, "status|state"), NULL, out);
    line(v, "failure", sim_tree_get(t, "status|failure"), NULL, out);
    line(v, "inputs", sim_tree_get(t, "status|planReceipt|inputsHash"), NULL, out);
    line(v, "commit", sim_tree_get(t, "status|planReceipt|programVersion"), NULL, out);
    add_job(v, out);
    add_stack(v, out);
}

/* Conditions without what depends on the step: whether the last run had anything to do. */
static const struct rco_value *spec_status(const struct viewer *v)
{
    struct rco_arena *a = &v->s->arena;
    const struct rco_value *t = sim_tree_get(v->spec->tree, "status");

    return sim_tree_set(a, t, "lastRun|reason", NULL);
}

static bool is_suspended(const struct viewer *v)
{
    const struct rco_value *list = sim_tree_get(v->spec->tree, "status|conditions");

    for (const struct rco_value *c = list ? list->first : NULL; c; c = c->next)
        if (rco_streq(sim_tree_str(c, "type"), "Suspended"))
            return true;
    return false;
}

void sim_ops_view(struct sim *s, enum sim_view which, struct rco_buf *out)
{
    struct viewer v = {.s = s,
                       .env = sim_ops_object(s, RCO_KIND_ENV),
                       .spec = sim_ops_object(s, RCO_KIND_DEPSPEC),
                       .run = sim_ops_object(s, RCO_KIND_RUN)};
    const struct sim_version *tenant = sim_ops_object(s, RCO_KIND_TENANT);

    if (!v.env || !v.spec || !tenant) {
        rco_buf_adds(out, "something is gone\n");
        return;
    }
    v.last_run = v.run ? v.run->name : NULL;
    if (which == SIM_VIEW_ALL) {
        line(&v, "tenant", sim_tree_get(tenant->tree, "spec"), NULL, out);
        line(&v, "environment", sim_tree_get(v.env->tree, "spec"), NULL, out);
        line(&v, "specification", sim_tree_get(v.spec->tree, "spec"), NULL, out);
    }
    line(&v, "environment says", used_status(&v), is_counted, out);
    line(&v, "specification says", spec_status(&v), is_counted, out);
    /* While nothing may run, the newest run is one of before. */
    if (v.run && !is_suspended(&v))
        add_run(&v, out);
}
