/* Conditions and actions of scripts. */
#include "user.h"

#include "api/labels.h"
#include "api/names.h"
#include "api/zz_generated_types.h"

#include <stdio.h>
#include <string.h>

#define SPEC "web"
#define OTHER_NS "team-b"

/* --- looking --- */

const struct sim_version *sim_newest_run(struct sim *s, const char *name)
{
    const struct sim_kind *k = &s->kinds[RCO_KIND_RUN];
    const struct sim_version *spec = sim_get(s, RCO_KIND_DEPSPEC, SIM_TENANT_NS, name);
    const struct sim_version *newest = NULL;
    int64_t best = -1;

    for (size_t i = 0; i < k->n_live; i++) {
        const struct rco_value *t = k->live[i]->tree;
        const char *tail = strrchr(k->live[i]->name, '-');
        int64_t order = sim_tree_int(t, "spec|specificationVersion", 0) * 1000 +
                        (tail ? strtoll(tail + 2, NULL, 10) : 0);

        if (spec && rco_streq(sim_tree_str(t, "spec|specificationId"), spec->uid) && order > best) {
            newest = k->live[i];
            best = order;
        }
    }
    return newest;
}

bool sim_condition(const struct sim_version *v, const char *type, const char **ret_reason)
{
    const struct rco_value *list = sim_tree_get(v->tree, "status|conditions");

    for (const struct rco_value *c = list ? list->first : NULL; c; c = c->next) {
        if (!rco_streq(sim_tree_str(c, "type"), type))
            continue;
        if (ret_reason)
            *ret_reason = sim_tree_str(c, "reason");
        return rco_streq(sim_tree_str(c, "status"), "True");
    }
    return false;
}

static int rank(const char *state)
{
    static const char *const order[] = {"Pending", "Planning", "Planned", "AwaitingApproval",
                                        "Applying"};

    for (size_t i = 0; state && i < RCO_ARRAY_LEN(order); i++)
        if (strcmp(order[i], state) == 0)
            return (int)i + 1;
    return state ? 9 : 0;
}

/* --- conditions --- */

bool sim_when_always(struct sim *s, const char *arg)
{
    (void)s;
    (void)arg;
    return true;
}

bool sim_when_env_ready(struct sim *s, const char *arg)
{
    const struct sim_version *env = sim_get(s, RCO_KIND_ENV, SIM_TENANT_NS, "dev");

    (void)arg;
    return env && sim_condition(env, "Ready", NULL);
}

/* The newest run of the specification is in state ARG or beyond. */
bool sim_when_run(struct sim *s, const char *arg)
{
    const struct sim_version *spec = sim_get(s, RCO_KIND_DEPSPEC, SIM_TENANT_NS, SPEC);
    const struct sim_version *run = sim_newest_run(s, SPEC);

    return spec && run &&
           sim_tree_int(run->tree, "spec|specificationVersion", 0) ==
               sim_tree_int(spec->tree, "status|version", 0) &&
           rank(sim_tree_str(run->tree, "status|state")) >= rank(arg);
}

/* The specification ARG says of its present content that there is nothing more to come. */
bool sim_when_settled(struct sim *s, const char *arg)
{
    const struct sim_version *v = sim_get(s, RCO_KIND_DEPSPEC, SIM_TENANT_NS, arg ? arg : SPEC);
    const struct sim_version *run = sim_newest_run(s, arg ? arg : SPEC);

    return v &&
           sim_tree_int(v->tree, "status|observedGeneration", -1) ==
               sim_tree_int(v->tree, "metadata|generation", 0) &&
           !sim_condition(v, "Reconciling", NULL) &&
           (!run || rank(sim_tree_str(run->tree, "status|state")) == 9);
}

bool sim_when_all_settled(struct sim *s, const char *arg)
{
    (void)arg;
    return sim_when_settled(s, SPEC) && sim_when_settled(s, "api");
}

bool sim_when_spec_gone(struct sim *s, const char *arg)
{
    return !sim_get(s, RCO_KIND_DEPSPEC, SIM_TENANT_NS, arg ? arg : SPEC);
}

bool sim_when_namespace_gone(struct sim *s, const char *arg)
{
    (void)arg;
    return !sim_get(s, RCO_KIND_NAMESPACE, "", SIM_TENANT_NS);
}

/* ARG seconds after the step before. */
bool sim_when_later(struct sim *s, const char *arg)
{
    return s->now - s->step_at >= strtoll(arg, NULL, 10) * SIM_S;
}

/* --- actions --- */

void sim_do_nothing(struct sim *s, const char *arg)
{
    (void)s;
    (void)arg;
}

static void make_env(struct sim *s, const char *ns, const char *class, const char *backend)
{
    const struct rco_value *v =
        sim_tree_f(&s->arena,
                   "{\"apiVersion\":\"runtimecloud.io/v1alpha1\",\"kind\":\"Environment\","
                   "\"metadata\":{\"name\":\"dev\"},\"spec\":{\"tenantId\":\"default\","
                   "\"projectId\":\"shop\",\"class\":\"%s\","
                   "\"allowedSecrets\":[\"db\"]}}",
                   class);
    struct sim_answer made;

    if (strcmp(class, "production") == 0)
        v = sim_tree_set(&s->arena, v, "spec|backend|passphraseSecretRef|name",
                         sim_tree_string(&s->arena, "db"));
    if (backend)
        v = sim_tree_set(&s->arena, v, "spec|backend|url", sim_tree_string(&s->arena, backend));
    made = sim_create(s, SIM_USER, RCO_KIND_ENV, ns, v);
    if (made.code != 201)
        sim_violation(s, "workload", "the Environment was refused: %s", made.message);
    sim_create(s, SIM_USER, RCO_KIND_SECRET, ns,
               sim_tree_f(&s->arena,
                          "{\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"metadata\":{"
                          "\"name\":\"db\"},\"data\":{\"password\":\"%s\"}}",
                          SIM_CANARY));
}

void sim_do_env(struct sim *s, const char *backend)
{
    make_env(s, SIM_TENANT_NS, "development", backend);
}

/* Where nothing is applied without an approval. */
void sim_do_production_env(struct sim *s, const char *arg)
{
    (void)arg;
    make_env(s, SIM_TENANT_NS, "production", "s3://state/shop");
}

void sim_do_other_namespace(struct sim *s, const char *backend)
{
    sim_create(s, SIM_USER, RCO_KIND_NAMESPACE, "",
               sim_tree_f(&s->arena,
                          "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":"
                          "{\"name\":\"%s\"}}",
                          OTHER_NS));
    make_env(s, OTHER_NS, "development", backend);
}

static const char *commit_of(struct sim *s, const char *digit)
{
    char *text = rco_arena_alloc(&s->arena, 41);

    memset(text, digit[0], 40);
    return text;
}

static void make_spec_in(struct sim *s, const char *ns, const char *name, const char *digit,
                         const char *stack, bool config)
{
    const struct rco_value *v = sim_tree_f(
        &s->arena,
        "{\"apiVersion\":\"runtimecloud.io/v1alpha1\",\"kind\":\"DeploymentSpecification\","
        "\"metadata\":{\"name\":\"%s\"},\"spec\":{\"tenantId\":\"default\",\"projectId\":\"shop\","
        "\"environmentId\":\"dev\",\"kind\":\"Workload\",\"programRef\":"
        "\"https://git.example.com/shop/infra.git//web\",\"programVersion\":\"%s\","
        "\"secretRefs\":[{\"key\":\"password\",\"secretKeyRef\":{\"name\":\"db\",\"key\":"
        "\"password\"}}]}}",
        name, commit_of(s, digit));

    if (stack)
        v = sim_tree_set(&s->arena, v, "spec|stackName", sim_tree_string(&s->arena, stack));
    if (config)
        v = sim_tree_set(&s->arena, v, "spec|configRefs",
                         sim_tree_f(&s->arena,
                                    "[{\"key\":\"greeting\",\"configMapKeyRef\":{\"name\":\"app\","
                                    "\"key\":\"greeting\"}}]"));
    sim_create(s, SIM_USER, RCO_KIND_DEPSPEC, ns, v);
}

static void make_spec(struct sim *s, const char *name, const char *digit, const char *stack,
                      bool config)
{
    make_spec_in(s, SIM_TENANT_NS, name, digit, stack, config);
}

void sim_do_spec_in_other_namespace(struct sim *s, const char *digit)
{
    make_spec_in(s, OTHER_NS, "api", digit, "shared", false);
}

void sim_do_suspended_spec(struct sim *s, const char *digit)
{
    make_spec(s, SPEC, digit, NULL, false);
    sim_do_suspend(s, "true");
}

/* A Job and a ConfigMap under the names that the plan Job and the anchor of the first run will
 * have. No user can know the run's uid before; a name that collides by accident comes to the same.
 * It has a label of its own: a Job without any gets those of its pods, and looks like ours. */
void sim_do_plant(struct sim *s, const char *arg)
{
    const struct sim_version *spec = sim_get(s, RCO_KIND_DEPSPEC, SIM_TENANT_NS, SPEC);
    char run[RCO_NAME_SIZE], job[RCO_NAME_SIZE];
    const char *uid;

    (void)arg;
    if (!spec)
        return;
    rco_name_run(SPEC, spec->uid, sim_tree_int(spec->tree, "status|version", 1), "Baseline", 1,
                 run);
    uid = sim_uid_of(s, RCO_KIND_RUN, SIM_TENANT_NS, run, 1);
    rco_name_job(uid, "plan", job);
    sim_create(s, SIM_USER, RCO_KIND_JOB, SIM_TENANT_NS,
               sim_tree_f(&s->arena,
                          "{\"apiVersion\":\"batch/v1\",\"kind\":\"Job\",\"metadata\":{\"name\":"
                          "\"%s\",\"labels\":{\"planted\":\"yes\"}},"
                          "\"spec\":{\"template\":{\"metadata\":{\"labels\":{"
                          "\"runtimecloud.io/run\":\"%s\",\"runtimecloud.io/run-uid\":\"%s\","
                          "\"app.kubernetes.io/managed-by\":\"runtime-cloud\"}},\"spec\":{"
                          "\"serviceAccountName\":\"default\",\"containers\":[{\"name\":\"engine\","
                          "\"image\":\"evil\",\"env\":[{\"name\":\"RCO_JOB\",\"value\":"
                          "\"{\\\"run\\\":\\\"%s\\\",\\\"runUid\\\":\\\"%s\\\","
                          "\\\"phase\\\":\\\"plan\\\",\\\"stack\\\":\\\"shop-web\\\","
                          "\\\"program\\\":{\\\"commit\\\":\\\"%s\\\"}}\"}]}]}}}}",
                          job, run, uid, run, uid, commit_of(s, "1")));
}

void sim_do_unplant(struct sim *s, const char *arg)
{
    const struct sim_kind *k = &s->kinds[RCO_KIND_JOB];

    (void)arg;
    for (size_t i = 0; i < k->n_live; i++) {
        if (sim_tree_get(k->live[i]->tree, "metadata|labels|runtimecloud.io/phase"))
            continue;
        sim_remove(s, SIM_USER, RCO_KIND_JOB, SIM_TENANT_NS, k->live[i]->name,
                   &(struct sim_delete){0});
        return;
    }
}

void sim_do_spec(struct sim *s, const char *digit)
{
    make_spec(s, SPEC, digit, NULL, false);
}

/* With a reference to ConfigMap app. */
void sim_do_spec_with_config(struct sim *s, const char *digit)
{
    make_spec(s, SPEC, digit, NULL, true);
}

void sim_do_spec_on_shared_stack(struct sim *s, const char *name)
{
    make_spec(s, name, strcmp(name, SPEC) == 0 ? "1" : "2", "shared", false);
}

void sim_do_other_spec(struct sim *s, const char *digit)
{
    make_spec(s, "api", digit, NULL, false);
}

static void patch_spec(struct sim *s, const struct rco_value *patch)
{
    sim_patch(s, SIM_USER, RCO_KIND_DEPSPEC, SIM_TENANT_NS, SPEC, false, patch);
}

void sim_do_commit(struct sim *s, const char *digit)
{
    patch_spec(
        s, sim_tree_f(&s->arena, "{\"spec\":{\"programVersion\":\"%s\"}}", commit_of(s, digit)));
}

void sim_do_suspend(struct sim *s, const char *word)
{
    patch_spec(s, sim_tree_f(&s->arena, "{\"spec\":{\"suspend\":%s}}", word));
}

void sim_do_run_now(struct sim *s, const char *value)
{
    patch_spec(s,
               sim_tree_f(&s->arena,
                          "{\"metadata\":{\"annotations\":{\"runtimecloud.io/run-now\":\"%s\"}}}",
                          value));
}

/* ConfigMap app with the value VALUE. */
void sim_do_config(struct sim *s, const char *value)
{
    const struct rco_value *v =
        sim_tree_f(&s->arena,
                   "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"app\","
                   "\"labels\":{\"runtimecloud.io/environment\":\"dev\"}},\"data\":{\"greeting\":"
                   "\"%s\"}}",
                   value);

    if (sim_get(s, RCO_KIND_CONFIGMAP, SIM_TENANT_NS, "app"))
        sim_patch(s, SIM_USER, RCO_KIND_CONFIGMAP, SIM_TENANT_NS, "app", false, v);
    else
        sim_create(s, SIM_USER, RCO_KIND_CONFIGMAP, SIM_TENANT_NS, v);
}

void sim_do_delete_spec(struct sim *s, const char *how)
{
    sim_remove(s, SIM_USER, RCO_KIND_DEPSPEC, SIM_TENANT_NS, SPEC,
               &(struct sim_delete){.foreground = how && strcmp(how, "foreground") == 0});
}

void sim_do_delete_run(struct sim *s, const char *arg)
{
    const struct sim_version *run = sim_newest_run(s, SPEC);

    (void)arg;
    if (run)
        sim_remove(s, SIM_USER, RCO_KIND_RUN, run->ns, run->name, &(struct sim_delete){0});
}

void sim_do_cancel_run(struct sim *s, const char *arg)
{
    const struct sim_version *run = sim_newest_run(s, SPEC);

    (void)arg;
    if (run)
        sim_patch(s, SIM_USER, RCO_KIND_RUN, run->ns, run->name, false,
                  sim_tree_f(&s->arena, "{\"spec\":{\"cancel\":{\"by\":\"ada\",\"reason\":"
                                        "\"changed my mind\"}}}"));
}

void sim_do_delete_namespace(struct sim *s, const char *arg)
{
    (void)arg;
    sim_remove(s, SIM_USER, RCO_KIND_NAMESPACE, "", SIM_TENANT_NS, &(struct sim_delete){0});
}

void sim_do_delete_env(struct sim *s, const char *arg)
{
    (void)arg;
    sim_remove(s, SIM_USER, RCO_KIND_ENV, SIM_TENANT_NS, "dev", &(struct sim_delete){0});
}

/* An object that no table can read, as from a CRD of another version; and a Job planted under a
 * name that the next run's will have cannot be known before: a stranger's Job with our labels
 * instead. */
void sim_do_hostile_objects(struct sim *s, const char *arg)
{
    (void)arg;
    sim_create(s, SIM_USER, RCO_KIND_CONFIGMAP, SIM_TENANT_NS,
               sim_tree_f(&s->arena,
                          "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":"
                          "\"odd\",\"labels\":{\"runtimecloud.io/environment\":\"dev\","
                          "\"runtimecloud.io/run-uid\":\"x\"}},\"data\":{\"a\":[1,2]}}"));
    sim_create(
        s, SIM_USER, RCO_KIND_RUN, SIM_TENANT_NS,
        sim_tree_f(&s->arena,
                   "{\"apiVersion\":\"runtimecloud.io/v1alpha1\",\"kind\":\"ProvisioningRun\","
                   "\"metadata\":{\"name\":\"forged\"},\"spec\":{\"tenantId\":\"default\","
                   "\"projectId\":\"shop\",\"environmentId\":\"dev\",\"specificationId\":\"none\","
                   "\"specificationRef\":{\"name\":\"web\",\"uid\":\"none\"},"
                   "\"specificationVersion\":7,\"kind\":\"Baseline\",\"environmentClass\":"
                   "\"development\",\"snapshot\":{\"program\":{\"repository\":\"https://evil\","
                   "\"path\":\"web\",\"commit\":\"%s\"},\"stackName\":\"shop-web\",\"backend\":{"
                   "\"url\":\"s3://evil\",\"secretsProvider\":\"passphrase\"},"
                   "\"hmacKeySecretName\":\"db\",\"planServiceAccountName\":\"default\","
                   "\"applyServiceAccountName\":\"default\",\"clusterAccess\":\"None\",\"image\":"
                   "\"evil\",\"timeoutSeconds\":60,\"terminationGracePeriodSeconds\":180,"
                   "\"guard\":\"Strict\",\"environmentGeneration\":1,\"environmentUid\":"
                   "\"none\"}}}",
                   commit_of(s, "1")));
}

/* Specification and runs come back from a backup: same content, new uids, no status. */
void sim_do_backup(struct sim *s, const char *arg)
{
    const struct sim_version *spec = sim_get(s, RCO_KIND_DEPSPEC, SIM_TENANT_NS, SPEC);

    (void)arg;
    s->backup_run = sim_newest_run(s, SPEC);
    s->backup_spec = spec;
}

static const struct rco_value *restored(struct sim *s, const struct sim_version *v)
{
    const struct rco_value *t =
        sim_tree_set(&s->arena, v->tree, "metadata|deletionTimestamp", NULL);

    return sim_tree_set(&s->arena, t, "metadata|resourceVersion", NULL);
}

void sim_do_restore(struct sim *s, const char *arg)
{
    (void)arg;
    if (s->backup_run) {
        sim_remove(s, SIM_USER, RCO_KIND_RUN, s->backup_run->ns, s->backup_run->name,
                   &(struct sim_delete){0});
        sim_create(s, SIM_USER, RCO_KIND_RUN, SIM_TENANT_NS, restored(s, s->backup_run));
    }
}

/* --- the script --- */

struct taken {
    struct sim *sim;
    size_t step;
};

static void on_step(void *ctx)
{
    struct taken *t = ctx;
    struct sim *s = t->sim;
    const struct sim_step *step = &s->workload->steps[t->step];

    sim_trace(s, "user: step %zu of %s", t->step + 1, s->workload->name);
    s->step_at = s->now;
    s->last_change = s->now;
    s->step_pending = false;
    s->step++;
    sim_faults_step(s, (int)s->step);
    step->act(s, step->act_arg);
    s->poked = true;
}

static void on_look_again(void *ctx)
{
    ((struct sim *)ctx)->poked = true;
}

void sim_user_look(struct sim *s)
{
    const struct sim_step *step;
    struct taken *t;

    if (s->step >= s->workload->n_steps || s->step_pending)
        return;
    step = &s->workload->steps[s->step];
    if (!step->when(s, step->when_arg)) {
        if (step->when == sim_when_later)
            sim_after(s, strtoll(step->when_arg, NULL, 10) * SIM_S + SIM_S - (s->now - s->step_at),
                      on_look_again, s);
        return;
    }
    t = RCO_NEW(&s->arena, struct taken);
    *t = (struct taken){.sim = s, .step = s->step};
    s->step_pending = true;
    sim_after(s, sim_between(s, 0, 1500 * SIM_MS), on_step, t);
}

bool sim_user_is_done(const struct sim *s)
{
    return s->step >= s->workload->n_steps;
}
