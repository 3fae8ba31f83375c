#include "pulumi/job.h"

#include "../decide/tree.h"

#include "api/labels.h"
#include "api/names.h"
#include "api/zz_generated_types.h"

static const char minimal[] =
    "{\"metadata\":{\"name\":\"web-5b1d0-v1-b1\",\"namespace\":\"team-a\",\"uid\":"
    "\"7c2e9a41-5b0d-4000-8000-000000000001\"},\"spec\":{\"tenantId\":\"default\",\"projectId\":"
    "\"shop\","
    "\"environmentId\":\"dev\",\"specificationId\":\"5b1d\",\"specificationRef\":{\"name\":\"web\"}"
    ","
    "\"specificationVersion\":1,\"snapshot\":{\"program\":{\"repository\":\"https://git/"
    "x\",\"path\":\"web\","
    "\"commit\":\"aaaa\"},\"stackName\":\"shop-web\",\"backend\":{\"url\":\"s3://states\","
    "\"secretsProvider\":\"awskms://k\"},\"hmacKeySecretName\":\"rco-dev-hmac-1\","
    "\"planServiceAccountName\":\"planner\",\"applyServiceAccountName\":\"deployer\","
    "\"clusterAccess\":\"None\",\"image\":\"runner:1\",\"timeoutSeconds\":3600,"
    "\"terminationGracePeriodSeconds\":600,\"guard\":\"Strict\"}}}";

static const char everything[] =
    "{\"backend\":{\"url\":null,\"claimName\":\"rco-state-dev\",\"secretsProvider\":\"passphrase\","
    "\"passphraseSecretName\":\"rco-dev-pass-1\",\"credentialsSecretName\":\"dev-backend\"},"
    "\"git\":{\"credentialsSecretName\":\"dev-git\",\"caSecretName\":\"dev-git-ca\"},"
    "\"configs\":[{\"key\":\"replicas\",\"configMapName\":\"settings\",\"configMapKey\":\"r\","
    "\"valueHash\":\"h\"}],"
    "\"secrets\":[{\"key\":\"pw\",\"secretName\":\"dev-a\",\"secretKey\":\"k\"},{\"env\":\"TOKEN\","
    "\"secretName\":\"dev-b\",\"secretKey\":\"t\"}],"
    "\"clusterAccess\":\"ServiceAccount\","
    "\"pod\":{\"imagePullSecrets\":[\"dev-pull\"],\"labels\":{\"team\":\"shop\","
    "\"runtimecloud.io/run-uid\":\"stolen\"},\"annotations\":{\"note\":\"x\"},"
    "\"env\":[{\"name\":\"A\",\"value\":\"1\"}],\"proxy\":{\"httpsProxy\":\"http://p\"},"
    "\"caBundle\":{\"name\":\"corp-ca\",\"key\":\"bundle.pem\"},\"pluginMirror\":\"https://m\"},"
    "\"resources\":{\"requests\":{\"cpu\":\"1\",\"ephemeral-storage\":\"1Gi\"},\"limits\":{"
    "\"memory\":"
    "\"1Gi\",\"ephemeral-storage\":\"2Gi\"}},\"exportOutputs\":[\"url\"]}";

static const char planned[] =
    "{\"engine\":{\"phase\":\"plan\",\"project\":\"web\"},\"planReceipt\":{\"adds\":1,"
    "\"programVersion\":\"aaaa\",\"inputsHash\":\"i\",\"workspaceDigest\":\"w\","
    "\"baseStateDigest\":\"b\","
    "\"operationsDigest\":\"o\",\"engineVersion\":\"3.274.1\",\"artifact\":{\"kind\":\"plan\","
    "\"digest\":\"0123456789abcdef\",\"size\":1200000}}}";

static const struct rco_job_config config = {.gateway_url = "https://gw:8443",
                                             .gateway_ca = "PEM",
                                             .node_selector = "{\"pool\":\"runner\"}"};

/* The run with SNAPSHOT merged into its own, and STATUS. Either may be NULL. */
static const struct rco_run *load(struct rco_arena *a, const char *snapshot, const char *status)
{
    struct rco_error err = RCO_ERROR_INIT;
    struct rco_value *tree = tree_parse(a, minimal);
    if (snapshot)
        tree_set(a, tree, "spec.snapshot", snapshot);
    if (status)
        tree_set(a, tree, "status", status);
    char *text = tree_text(a, tree);
    struct rco_run *run = RCO_NEW(a, struct rco_run);
    assert_int_equal(rco_codec_decode(&rco_run_schema, text, strlen(text), a, run, &err), 0);
    return run;
}

static struct rco_value *job_of(struct rco_arena *a, const struct rco_run *run,
                                enum rco_phase phase)
{
    struct rco_error err = RCO_ERROR_INIT;
    rco_autobuf out = RCO_BUF_INIT;
    if (rco_job_write(run, phase, &config, a, &out, &err) != 0)
        fail_msg("%s", err.msg);
    return tree_parse_n(a, rco_arena_strndup(a, out.data, out.len), out.len);
}

static const struct rco_value *item(const struct rco_value *list, const char *name)
{
    for (const struct rco_value *x = list ? list->first : NULL; x; x = x->next)
        if (rco_streq(rco_value_text(x, "name"), name))
            return x;
    return NULL;
}

static const struct rco_value *container(const struct rco_value *job, const char *name)
{
    const struct rco_value *pod = tree_get(job, "spec.template.spec");
    const struct rco_value *c = item(rco_value_get(pod, "initContainers"), name);
    return c ? c : item(rco_value_get(pod, "containers"), name);
}

static const char *const names[] = {"fetch", "install", "report", "engine"};

/* Names of the volumes that a container mounts, with "!" where it may write. */
static char *mounts(struct rco_arena *a, const struct rco_value *job, const char *name)
{
    rco_autobuf text = RCO_BUF_INIT;
    const struct rco_value *list = rco_value_get(container(job, name), "volumeMounts");
    for (const struct rco_value *m = list->first; m; m = m->next)
        rco_buf_addf(&text, "%s%s%s", text.len ? " " : "", rco_value_text(m, "name"),
                     rco_value_bool(m, "readOnly") ? "" : "!");
    return rco_arena_strdup(a, rco_buf_str(&text));
}

static void want_text(const char *want, const char *got)
{
    assert_non_null(got);
    assert_string_equal(want, got);
}

static void test_pod_is_restricted_and_never_started_twice(void **state)
{
    rco_autoarena a = RCO_ARENA_INIT;
    rco_autobuf where = RCO_BUF_INIT;
    struct rco_value *job = job_of(&a, load(&a, everything, planned), RCO_PHASE_APPLY);
    struct rco_value *want = tree_parse(
        &a,
        "{\"apiVersion\":\"batch/"
        "v1\",\"kind\":\"Job\",\"metadata\":{\"name\":\"rco-7c2e9a415b0d-a\","
        "\"namespace\":\"team-a\",\"ownerReferences\":null},\"spec\":{\"backoffLimit\":0,"
        "\"parallelism\":1,"
        "\"completions\":1,\"podReplacementPolicy\":\"Failed\",\"ttlSecondsAfterFinished\":null,"
        "\"activeDeadlineSeconds\":null,\"template\":{\"metadata\":{\"finalizers\":"
        "[\"runtimecloud.io/"
        "engine\"],\"ownerReferences\":null},\"spec\":{\"restartPolicy\":\"Never\","
        "\"serviceAccountName\":\"deployer\",\"automountServiceAccountToken\":false,"
        "\"enableServiceLinks\":false,\"shareProcessNamespace\":null,\"hostNetwork\":null,"
        "\"terminationGracePeriodSeconds\":600,\"nodeSelector\":{\"pool\":\"runner\"},"
        "\"imagePullSecrets\":[{\"name\":\"dev-pull\"}],\"securityContext\":{\"runAsNonRoot\":true,"
        "\"runAsGroup\":10000,\"fsGroup\":10000,\"seccompProfile\":{\"type\":\"RuntimeDefault\"}}}}"
        "}}");
    if (!tree_contains(want, job, "job", &where))
        fail_msg("%s", rco_buf_str(&where));
    for (size_t i = 0; i < RCO_ARRAY_LEN(names); i++) {
        const struct rco_value *c = container(job, names[i]);
        struct rco_value *security = tree_parse(
            &a,
            rco_arena_printf(&a,
                             "{\"image\":\"runner:1\",\"securityContext\":{\"runAsUser\":%zu,"
                             "\"runAsNonRoot\":true,\"allowPrivilegeEscalation\":false,"
                             "\"readOnlyRootFilesystem\":true,\"privileged\":null,\"capabilities\":"
                             "{\"drop\":[\"ALL\"],\"add\":null}}}",
                             10001 + i));
        if (!tree_contains(security, c, names[i], &where))
            fail_msg("%s", rco_buf_str(&where));
    }
    want_text("Always", rco_value_text(container(job, "report"), "restartPolicy"));
}

static void test_each_container_sees_only_its_own(void **state)
{
    rco_autoarena a = RCO_ARENA_INIT;
    struct rco_value *job = job_of(&a, load(&a, everything, planned), RCO_PHASE_APPLY);
    want_text("workspace! fetch! tmp-fetch! git git-ca ca", mounts(&a, job, "fetch"));
    want_text("workspace! fetch install! pulumi! tmp-install! ca", mounts(&a, job, "install"));
    want_text("fetch install control! stream tmp-report! token", mounts(&a, job, "report"));
    want_text("workspace! fetch install control stream! pulumi! tmp-engine! config secrets backend "
              "passphrase hmac plan state! ca cluster",
              mounts(&a, job, "engine"));
}

static void test_every_mount_has_a_volume_and_every_volume_a_mount(void **state)
{
    rco_autoarena a = RCO_ARENA_INIT;
    const char *const snapshots[] = {NULL, everything};
    for (size_t s = 0; s < 2; s++)
        for (enum rco_phase phase = RCO_PHASE_PLAN; phase <= RCO_PHASE_APPLY; phase++) {
            struct rco_value *job = job_of(&a, load(&a, snapshots[s], planned), phase);
            const struct rco_value *volumes = tree_get(job, "spec.template.spec.volumes");
            for (const struct rco_value *v = volumes->first; v; v = v->next) {
                size_t used = 0;
                for (size_t i = 0; i < RCO_ARRAY_LEN(names); i++)
                    used += item(rco_value_get(container(job, names[i]), "volumeMounts"),
                                 rco_value_text(v, "name")) != NULL;
                assert_true(used > 0);
            }
            for (size_t i = 0; i < RCO_ARRAY_LEN(names); i++) {
                const struct rco_value *list =
                    rco_value_get(container(job, names[i]), "volumeMounts");
                for (const struct rco_value *m = list->first; m; m = m->next)
                    assert_non_null(item(volumes, rco_value_text(m, "name")));
            }
        }
}

static void test_what_is_not_used_is_not_mounted(void **state)
{
    rco_autoarena a = RCO_ARENA_INIT;
    struct rco_value *job = job_of(&a, load(&a, NULL, NULL), RCO_PHASE_PLAN);
    want_text("workspace! fetch! tmp-fetch!", mounts(&a, job, "fetch"));
    want_text("workspace! fetch install control stream! pulumi! tmp-engine! hmac",
              mounts(&a, job, "engine"));
    want_text("planner", tree_string(job, "spec.template.spec.serviceAccountName"));
}

/* A missing Secret would otherwise show as a pod that is being created for ever. */
static void check_optional(const struct rco_value *v, const char *key)
{
    if (v->type != RCO_VALUE_OBJECT && v->type != RCO_VALUE_ARRAY)
        return;
    bool source = rco_streq(key, "secret") || rco_streq(key, "configMap");
    if (source && !rco_streq(rco_value_text(v, "name"), "kube-root-ca.crt"))
        assert_true(rco_value_bool(v, "optional"));
    for (const struct rco_value *c = v->first; c; c = c->next)
        check_optional(c, c->key);
}

static void test_missing_secrets_never_keep_a_pod_from_being_made(void **state)
{
    rco_autoarena a = RCO_ARENA_INIT;
    struct rco_value *job = job_of(&a, load(&a, everything, planned), RCO_PHASE_APPLY);
    check_optional(tree_get(job, "spec.template.spec.volumes"), "volumes");
}

static void test_gateway_token_outlives_the_grace(void **state)
{
    rco_autoarena a = RCO_ARENA_INIT;
    struct rco_value *job = job_of(&a, load(&a, NULL, NULL), RCO_PHASE_PLAN);
    const struct rco_value *token = item(tree_get(job, "spec.template.spec.volumes"), "token");
    const struct rco_value *source = tree_get(token, "projected.sources")->first;
    want_text("runtime-cloud-gateway", tree_string(source, "serviceAccountToken.audience"));
    assert_int_equal(rco_value_int(tree_get(source, "serviceAccountToken"), "expirationSeconds", 0),
                     5 * 600 + 600);
}

static void test_saved_plan_is_mounted_chunk_by_chunk(void **state)
{
    rco_autoarena a = RCO_ARENA_INIT;
    char name[RCO_NAME_SIZE];
    struct rco_value *job = job_of(&a, load(&a, NULL, planned), RCO_PHASE_APPLY);
    const struct rco_value *sources =
        tree_get(item(tree_get(job, "spec.template.spec.volumes"), "plan"), "projected.sources");
    assert_int_equal(sources->len, 3); /* 1,200,000 bytes */
    size_t i = 0;
    for (const struct rco_value *s = sources->first; s; s = s->next, i++) {
        rco_name_chunk("7c2e9a41-5b0d-4000-8000-000000000001", "plan", "plan", i,
                       "0123456789abcdef", name);
        want_text(name, tree_string(s, "secret.name"));
    }
    assert_null(item(
        tree_get(job_of(&a, load(&a, NULL, planned), RCO_PHASE_PLAN), "spec.template.spec.volumes"),
        "plan"));
}

/* Exceeding one evicts with one second of grace. */
static void test_no_limit_of_ephemeral_storage_is_passed_on(void **state)
{
    rco_autoarena a = RCO_ARENA_INIT;
    struct rco_value *job = job_of(&a, load(&a, everything, planned), RCO_PHASE_APPLY);
    const struct rco_value *engine = container(job, "engine");
    want_text("1Gi", tree_string(engine, "resources.requests.ephemeral-storage"));
    want_text("1Gi", tree_string(engine, "resources.limits.memory"));
    assert_null(tree_get(engine, "resources.limits.ephemeral-storage"));
}

static void test_labels_of_an_environment_never_replace_ours(void **state)
{
    rco_autoarena a = RCO_ARENA_INIT;
    struct rco_value *job = job_of(&a, load(&a, everything, planned), RCO_PHASE_APPLY);
    const struct rco_value *labels = tree_get(job, "spec.template.metadata.labels");
    want_text("7c2e9a41-5b0d-4000-8000-000000000001", rco_value_text(labels, RCO_LABEL_RUN_UID));
    want_text("apply", rco_value_text(labels, RCO_LABEL_PHASE));
    want_text("shop", rco_value_text(labels, "team"));
    assert_null(rco_value_get(tree_get(job, "metadata.labels"), "team"));
}

static const char *variable(const struct rco_value *c, const char *name)
{
    const struct rco_value *v = item(rco_value_get(c, "env"), name);
    return v ? rco_value_text(v, "value") : NULL;
}

static void test_description_is_the_same_for_all_and_complete(void **state)
{
    rco_autoarena a = RCO_ARENA_INIT;
    rco_autobuf where = RCO_BUF_INIT;
    struct rco_value *job = job_of(&a, load(&a, everything, planned), RCO_PHASE_APPLY);
    const char *text = variable(container(job, "engine"), "RCO_JOB");
    for (size_t i = 0; i < RCO_ARRAY_LEN(names); i++) {
        const struct rco_value *c = container(job, names[i]);
        bool report = rco_streq(names[i], "report");
        want_text(text, variable(c, "RCO_JOB"));
        assert_int_equal(variable(c, "RCO_GATEWAY_URL") != NULL, report);
        assert_int_equal(rco_value_get(c, "env")->len, report ? 3 : 1);
    }
    struct rco_value *want = tree_parse(
        &a,
        "{\"protocol\":1,\"namespace\":\"team-a\",\"run\":\"web-5b1d0-v1-b1\",\"phase\":\"apply\","
        "\"program\":{\"repository\":\"https://git/x\",\"path\":\"web\",\"commit\":\"aaaa\"},"
        "\"stack\":\"shop-web\",\"git\":{\"credentials\":true,\"ca\":true},\"backend\":{\"url\":"
        "\"file:///rco/"
        "state\",\"claim\":\"rco-state-dev\",\"passphraseSecret\":\"rco-dev-pass-1\"},"
        "\"hmacSecret\":\"rco-dev-hmac-1\",\"secrets\":[{\"key\":\"pw\",\"secret\":\"dev-a\"},"
        "{\"env\":\"TOKEN\",\"secret\":\"dev-b\"}],\"env\":[{\"name\":\"A\",\"value\":\"1\"}],"
        "\"proxy\":{\"httpsProxy\":\"http://"
        "p\"},\"caBundle\":\"corp-ca\",\"exportOutputs\":[\"url\"],"
        "\"timeoutSeconds\":3600,\"graceSeconds\":600,\"guard\":\"Strict\",\"expected\":{"
        "\"project\":"
        "\"web\",\"workspaceDigest\":\"w\",\"planFileDigest\":\"0123456789abcdef\","
        "\"planFileSize\":1200000,"
        "\"baseStateDigest\":\"b\",\"inputsHash\":\"i\",\"operationsDigest\":\"o\"}}");
    if (!tree_contains(want, tree_parse(&a, text), "RCO_JOB", &where))
        fail_msg("%s", rco_buf_str(&where));
}

static void test_same_run_gives_the_same_job_and_each_phase_its_own_cause(void **state)
{
    rco_autoarena a = RCO_ARENA_INIT;
    const struct rco_run *run = load(&a, everything, planned);
    struct rco_value *plan = job_of(&a, run, RCO_PHASE_PLAN);
    assert_string_equal(tree_text(&a, plan), tree_text(&a, job_of(&a, run, RCO_PHASE_PLAN)));
    char one[65], two[65];
    rco_job_cause(run, RCO_PHASE_PLAN, one);
    rco_job_cause(run, RCO_PHASE_APPLY, two);
    assert_string_not_equal(one, two);
    want_text(one, rco_value_text(tree_get(plan, "metadata.annotations"), RCO_ANNOTATION_CAUSE));
}

static void test_a_description_that_is_too_large_is_refused_whole(void **state)
{
    rco_autoarena a = RCO_ARENA_INIT;
    struct rco_error err = RCO_ERROR_INIT;
    rco_autobuf out = RCO_BUF_INIT, list = RCO_BUF_INIT;
    rco_buf_adds(&list, "{\"pod\":{\"env\":[");
    for (size_t i = 0; i < 20; i++)
        rco_buf_addf(&list, "%s{\"name\":\"A%zu\",\"value\":\"%04000d\"}", i ? "," : "", i, 0);
    rco_buf_adds(&list, "]}}");
    const struct rco_run *run = load(&a, rco_buf_str(&list), NULL);
    assert_int_equal(rco_job_write(run, RCO_PHASE_PLAN, &config, &a, &out, &err), -1);
    assert_int_equal(err.code, RCO_ETOOBIG);
    assert_int_equal(out.len, 0);
}

static void test_phases_have_words(void **state)
{
    assert_int_equal(rco_phase_parse("plan"), RCO_PHASE_PLAN);
    assert_int_equal(rco_phase_parse("apply"), RCO_PHASE_APPLY);
    assert_int_equal(rco_phase_parse("Plan"), RCO_PHASE_NONE);
    assert_int_equal(rco_phase_parse(NULL), RCO_PHASE_NONE);
    want_text("", rco_phase_name(RCO_PHASE_NONE));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pod_is_restricted_and_never_started_twice),
        cmocka_unit_test(test_each_container_sees_only_its_own),
        cmocka_unit_test(test_every_mount_has_a_volume_and_every_volume_a_mount),
        cmocka_unit_test(test_what_is_not_used_is_not_mounted),
        cmocka_unit_test(test_missing_secrets_never_keep_a_pod_from_being_made),
        cmocka_unit_test(test_gateway_token_outlives_the_grace),
        cmocka_unit_test(test_saved_plan_is_mounted_chunk_by_chunk),
        cmocka_unit_test(test_no_limit_of_ephemeral_storage_is_passed_on),
        cmocka_unit_test(test_labels_of_an_environment_never_replace_ours),
        cmocka_unit_test(test_description_is_the_same_for_all_and_complete),
        cmocka_unit_test(test_same_run_gives_the_same_job_and_each_phase_its_own_cause),
        cmocka_unit_test(test_a_description_that_is_too_large_is_refused_whole),
        cmocka_unit_test(test_phases_have_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
