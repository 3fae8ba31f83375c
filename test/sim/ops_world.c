/* The living system of the operation campaign: one tenant, one environment, one specification with
 * everything that they can refer to. */
#include "ops.h"

#include "oracle.h"
#include "workload.h"

#include <inttypes.h>
#include <string.h>

#define NS SIM_TENANT_NS
#define SHORT (45 * SIM_S) /* longer than anything that goes on waits for */
#define LONG (720 * SIM_S) /* longer than a sweep */
#define LIMIT (INT64_C(8) * 3600 * SIM_S)

static const char *const env_specs[] = {
    "{\"tenantId\":\"default\",\"projectId\":\"shop\",\"class\":\"development\",\"region\":"
    "\"eu-1\",\"runner\":{\"image\":\"registry.example.com/runner:2\",\"planServiceAccountName\":"
    "\"plan\",\"applyServiceAccountName\":\"apply\",\"clusterAccess\":\"ServiceAccount\","
    "\"resources\":{\"requests\":{\"cpu\":\"500m\",\"memory\":\"512Mi\",\"ephemeral-storage\":"
    "\"1Gi\"},\"limits\":{\"cpu\":\"2\",\"memory\":\"2Gi\"}},\"timeout\":\"30m\","
    "\"terminationGracePeriod\":\"10m\",\"pod\":{\"imagePullSecrets\":[{\"name\":\"pull\"}],"
    "\"labels\":{\"team\":\"shop\"},\"annotations\":{\"note\":\"x\"},\"env\":[{\"name\":\"REGION\","
    "\"value\":\"eu\"}],\"proxy\":{\"httpProxy\":\"http://proxy:3128\",\"httpsProxy\":"
    "\"http://proxy:3128\",\"noProxy\":\".svc\"},\"caBundle\":{\"name\":\"ca\",\"key\":\"ca.crt\"},"
    "\"pluginMirror\":\"https://mirror/plugins\"}},\"git\":{\"allowedRepositories\":"
    "[\"https://git.example.com/shop\"],\"credentialsSecretRef\":{\"name\":\"git\"},"
    "\"caSecretRef\":{\"name\":\"git\"}},\"allowedSecrets\":[\"db\",\"dev-*\"],"
    "\"deletionPolicy\":\"Retain\"}",
    "{\"tenantId\":\"default\",\"projectId\":\"shop\",\"class\":\"staging\",\"backend\":{\"url\":"
    "\"s3://state/shop\",\"credentialsSecretRef\":{\"name\":\"s3\"},\"secretsProvider\":"
    "\"passphrase\",\"passphraseSecretRef\":{\"name\":\"pass\"}},\"allowedSecrets\":[\"db\","
    "\"dev-*\"]}",
};

static const char *const dep_specs[] = {
    "{\"tenantId\":\"default\",\"projectId\":\"shop\",\"environmentId\":\"dev\",\"kind\":"
    "\"Workload\",\"programRef\":\"https://git.example.com/shop/infra.git//web\","
    "\"programVersion\":\"1111111111111111111111111111111111111111\",\"releaseId\":"
    "\"123e4567-e89b-42d3-a456-426614174000\",\"strategy\":\"AllAtOnce\",\"stackName\":"
    "\"shop-web\",\"configRefs\":[{\"key\":\"greeting\",\"configMapKeyRef\":{\"name\":\"app\","
    "\"key\":\"greeting\"}},{\"key\":\"size\",\"configMapKeyRef\":{\"name\":\"app\",\"key\":"
    "\"size\"}}],\"secretRefs\":[{\"key\":\"password\",\"secretKeyRef\":{\"name\":\"db\",\"key\":"
    "\"password\"}},{\"env\":\"TOKEN\",\"secretKeyRef\":{\"name\":\"dev-token\",\"key\":"
    "\"password\"}}],\"exportOutputs\":[\"url\",\"endpoint\"],\"guard\":\"Strict\","
    "\"deletionPolicy\":\"Retain\",\"suspend\":false,\"waitPolicy\":\"DoNotBlock\"}",
    "{\"tenantId\":\"default\",\"projectId\":\"shop\",\"environmentId\":\"dev\",\"kind\":"
    "\"Environment\",\"programRef\":\"https://git.example.com/shop/infra.git//web\","
    "\"programVersion\":\"1111111111111111111111111111111111111111\",\"secretRefs\":[{\"env\":"
    "\"TOKEN\",\"secretKeyRef\":{\"name\":\"dev-token\",\"key\":\"password\"}}]}",
};

#define TENANT_SPEC                                                                                \
    "{\"edition\":\"standard\",\"residency\":{\"regions\":[\"eu-1\"]},\"homeNamespace\":"          \
    "\"team-a\",\"suspended\":false}"

/* --- making --- */

static const struct rco_value *object(struct sim *s, const char *api, const char *kind,
                                      const char *name)
{
    return sim_tree_f(&s->arena,
                      "{\"apiVersion\":\"%s\",\"kind\":\"%s\",\"metadata\":{\"name\":\"%s\"}}", api,
                      kind, name);
}

static void make_secret(struct sim *s, const char *name)
{
    static const char *const keys[] = {"password", "user", "ca.crt", "passphrase"};
    const struct rco_value *v = object(s, "v1", "Secret", name);

    for (size_t i = 0; i < RCO_ARRAY_LEN(keys); i++)
        v = sim_tree_set(&s->arena, v, rco_arena_printf(&s->arena, "data|%s", keys[i]),
                         sim_tree_string(&s->arena, SIM_CANARY));
    sim_create(s, SIM_USER, RCO_KIND_SECRET, NS, v);
}

static void make_config(struct sim *s, const char *name, bool labelled)
{
    const struct rco_value *v = object(s, "v1", "ConfigMap", name);

    v = sim_tree_set(&s->arena, v, "data",
                     sim_tree_f(&s->arena,
                                "{\"greeting\":\"hello from %s\",\"color\":\"red\",\"size\":\"3\","
                                "\"ca.crt\":\"PEM\"}",
                                name));
    if (labelled)
        v = sim_tree_set(&s->arena, v, "metadata|labels|runtimecloud.io/environment",
                         sim_tree_string(&s->arena, "dev"));
    sim_create(s, SIM_USER, RCO_KIND_CONFIGMAP, NS, v);
}

static void make(struct sim *s, enum rco_kind kind, const char *name, const char *spec)
{
    const struct rco_kind_info *info = rco_kind_info(kind);
    const struct rco_value *v = object(s, "runtimecloud.io/v1alpha1", info->kind, name);
    struct sim_answer a = sim_create(
        s, SIM_USER, kind, NS,
        sim_tree_set(&s->arena, v, "spec", sim_tree_parse(&s->arena, spec, strlen(spec))));

    if (a.code != 201)
        sim_violation(s, "fresh", "%s is refused when it is made anew: %s", info->kind, a.message);
}

static void make_claim(struct sim *s)
{
    sim_create(s, SIM_USER, RCO_KIND_PVC, NS,
               sim_tree_set(&s->arena, object(s, "v1", "PersistentVolumeClaim", "given"), "spec",
                            sim_tree_f(&s->arena, "{\"accessModes\":[\"ReadWriteOnce\"]}")));
}

void sim_ops_populate(struct sim *s, int variant, const struct rco_buf specs[3])
{
    static const char *const secrets[] = {"db", "dev-token", "git", "s3", "pass", "pass2", "pull"};
    const char *texts[3] = {TENANT_SPEC, env_specs[variant], dep_specs[variant]};

    for (size_t i = 0; i < RCO_ARRAY_LEN(secrets); i++)
        make_secret(s, secrets[i]);
    make_config(s, "app", true);
    make_config(s, "app2", true);
    make_config(s, "unlabelled", false);
    make_config(s, "ca", false);
    make_config(s, "ca2", false);
    make_claim(s);
    for (int i = 0; specs && i < 3; i++)
        texts[i] = rco_buf_str(&specs[i]);
    make(s, RCO_KIND_TENANT, "default", texts[0]);
    make(s, RCO_KIND_ENV, "dev", texts[1]);
    make(s, RCO_KIND_DEPSPEC, "web", texts[2]);
}

/* --- looking --- */

const struct sim_version *sim_ops_object(struct sim *s, enum rco_kind kind)
{
    switch (kind) {
    case RCO_KIND_TENANT:
        return sim_get(s, kind, "", "default");
    case RCO_KIND_ENV:
        return sim_get(s, kind, NS, "dev");
    case RCO_KIND_RUN:
        return sim_newest_run(s, "web");
    default:
        return sim_get(s, kind, NS, "web");
    }
}

static bool is_current(const struct sim_version *v)
{
    return v && sim_tree_int(v->tree, "status|observedGeneration", -1) ==
                    sim_tree_int(v->tree, "metadata|generation", 0);
}

static bool is_calm(const struct sim_version *v)
{
    return is_current(v) && !sim_condition(v, "Reconciling", NULL);
}

static bool is_final(const struct sim_version *run)
{
    static const char *const words[] = {"Applied", "Failed", "Rejected", "Cancelled",
                                        "AwaitingApproval"};
    const char *state = run ? sim_tree_str(run->tree, "status|state") : NULL;

    for (size_t i = 0; state && i < RCO_ARRAY_LEN(words); i++)
        if (strcmp(words[i], state) == 0)
            return true;
    return !run;
}

static bool has_workers(struct sim *s)
{
    return s->kinds[RCO_KIND_JOB].n_live || s->kinds[RCO_KIND_POD].n_live;
}

bool sim_ops_is_good(struct sim *s)
{
    const struct sim_version *env = sim_ops_object(s, RCO_KIND_ENV);
    const struct sim_version *spec = sim_ops_object(s, RCO_KIND_DEPSPEC);
    const struct sim_version *run = sim_ops_object(s, RCO_KIND_RUN);

    return is_calm(env) && is_calm(spec) && sim_condition(env, "Ready", NULL) &&
           sim_condition(spec, "Ready", NULL) && !sim_condition(spec, "Suspended", NULL) && run &&
           rco_streq(sim_tree_str(run->tree, "status|state"), "Applied");
}

bool sim_ops_is_fresh(struct sim *s)
{
    const struct sim_version *env = sim_ops_object(s, RCO_KIND_ENV);
    const struct sim_version *run = sim_ops_object(s, RCO_KIND_RUN);

    return env && run &&
           sim_tree_int(run->tree, "spec|snapshot|environmentGeneration", 0) ==
               sim_tree_int(env->tree, "metadata|generation", 0);
}

/* --- letting time pass --- */

void sim_ops_settle(struct sim *s, bool patient)
{
    const struct sim_version *env, *spec;

    if (!sim_run(s, SHORT, LIMIT)) {
        sim_violation(s, "stable", "not at rest after %d hours", (int)(LIMIT / SIM_S / 3600));
        return;
    }
    env = sim_ops_object(s, RCO_KIND_ENV);
    spec = sim_ops_object(s, RCO_KIND_DEPSPEC);
    if (!patient && is_calm(env) && is_calm(spec) && is_final(sim_ops_object(s, RCO_KIND_RUN)) &&
        !has_workers(s))
        return;
    if (!sim_run(s, LONG, LIMIT))
        sim_violation(s, "stable", "not at rest after %d hours", (int)(LIMIT / SIM_S / 3600));
}

void sim_ops_run(struct sim *s)
{
    sim_patch(s, SIM_USER, RCO_KIND_DEPSPEC, NS, "web", false,
              sim_tree_f(&s->arena,
                         "{\"metadata\":{\"annotations\":{\"runtimecloud.io/run-now\":\"%" PRId64
                         "\"}}}",
                         s->revision));
    sim_ops_settle(s, false);
}

/* --- what is referred to --- */

static void drop(struct sim *s, enum rco_kind kind, const char *name)
{
    sim_remove(s, SIM_USER, kind, NS, name, &(struct sim_delete){0});
}

static void lose_config(struct sim *s)
{
    drop(s, RCO_KIND_CONFIGMAP, "app");
}

static void make_app(struct sim *s)
{
    make_config(s, "app", true);
}

static void patch_app(struct sim *s, const char *patch)
{
    sim_patch(s, SIM_USER, RCO_KIND_CONFIGMAP, NS, "app", false,
              sim_tree_f(&s->arena, "%s", patch));
}

static void lose_label(struct sim *s)
{
    patch_app(s, "{\"metadata\":{\"labels\":{\"runtimecloud.io/environment\":null}}}");
}

static void give_label(struct sim *s)
{
    patch_app(s, "{\"metadata\":{\"labels\":{\"runtimecloud.io/environment\":\"dev\"}}}");
}

static void lose_key(struct sim *s)
{
    patch_app(s, "{\"data\":{\"greeting\":null}}");
}

static void give_key(struct sim *s)
{
    patch_app(s, "{\"data\":{\"greeting\":\"hello from app\"}}");
}

static void change_value(struct sim *s)
{
    patch_app(s, "{\"data\":{\"greeting\":\"good bye\"}}");
}

static void lose_secret(struct sim *s)
{
    drop(s, RCO_KIND_SECRET, "dev-token");
    sim_ops_run(s);
}

static void make_token(struct sim *s)
{
    make_secret(s, "dev-token");
}

static void ask_for_run(struct sim *s)
{
    sim_ops_run(s);
}

static void nothing(struct sim *s)
{
    (void)s;
}

static void touch_labels(struct sim *s)
{
    sim_patch(s, SIM_USER, RCO_KIND_DEPSPEC, NS, "web", false,
              sim_tree_f(&s->arena, "{\"metadata\":{\"labels\":{\"team\":\"x\"}}}"));
}

static void untouch_labels(struct sim *s)
{
    sim_patch(s, SIM_USER, RCO_KIND_DEPSPEC, NS, "web", false,
              sim_tree_f(&s->arena, "{\"metadata\":{\"labels\":null}}"));
}

static void lose_run(struct sim *s)
{
    const struct sim_version *run = sim_ops_object(s, RCO_KIND_RUN);

    if (run)
        drop(s, RCO_KIND_RUN, run->name);
    sim_ops_settle(s, false);
    sim_ops_run(s);
}

/* Objects that must not be made at all. */
static void refuse_names(struct sim *s)
{
    static const char *const names[] = {"a2345678901234567890123456789012345678901", "with.dot"};
    static const enum rco_kind kinds[] = {RCO_KIND_DEPSPEC, RCO_KIND_ENV, RCO_KIND_TENANT};

    for (size_t i = 0; i < RCO_ARRAY_LEN(kinds); i++)
        for (size_t k = 0; k < RCO_ARRAY_LEN(names); k++) {
            const struct rco_value *v =
                sim_tree_set(&s->arena, sim_ops_object(s, kinds[i])->tree, "metadata",
                             sim_tree_f(&s->arena, "{\"name\":\"%s\"}", names[k]));
            struct sim_answer a = sim_create(s, SIM_USER, kinds[i], NS, v);

            if (a.code == 201 && kinds[i] == RCO_KIND_TENANT && k == 1)
                sim_remove(s, SIM_USER, kinds[i], "", names[k], &(struct sim_delete){0});
            else if (a.code == 201)
                sim_violation(s, "refusal", "%s %s is taken", rco_kind_info(kinds[i])->kind,
                              names[k]);
            else
                sim_ops_rule_spoke(kinds[i], a.message);
        }
}

const struct sim_scene sim_scenes[] = {
    {"config-map-vanishes", lose_config, make_app, false},
    {"config-map-loses-its-label", lose_label, give_label, false},
    {"config-map-loses-a-key", lose_key, give_key, false},
    {"config-map-changes", change_value, give_key, true},
    {"secret-vanishes", lose_secret, make_token, false},
    {"run-by-request", ask_for_run, nothing, true},
    {"labels-by-others", touch_labels, untouch_labels, true},
    {"run-deleted", lose_run, nothing, true},
    {"names-that-are-none", refuse_names, nothing, true},
};
const size_t sim_n_scenes = RCO_ARRAY_LEN(sim_scenes);
