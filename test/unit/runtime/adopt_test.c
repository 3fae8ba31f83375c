#include "runtime/adopt.h"

#include "base/str.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* A Job as the product sends it, shortened. */
#define SENT_CONTAINER                                                                             \
    "{\"name\":\"engine\",\"image\":\"img@sha256:1\",\"args\":[\"engine\"],\"env\":[{\"name\":"    \
    "\"POD\","                                                                                     \
    "\"valueFrom\":{\"fieldRef\":{\"fieldPath\":\"metadata.name\"}}}],\"resources\":{"             \
    "\"requests\":{"                                                                               \
    "\"memory\":\"1024Mi\",\"cpu\":\"1000m\"}},\"securityContext\":{\"runAsNonRoot\":true}}"
#define SENT_VOLUMES                                                                               \
    "[{\"name\":\"t\",\"projected\":{\"sources\":[{\"serviceAccountToken\":{\"path\":\"token\"}}]" \
    "}},"                                                                                          \
    "{\"name\":\"e\",\"emptyDir\":{}},{\"name\":\"s\",\"secret\":{\"secretName\":\"x\","           \
    "\"optional\":true}}]"
static const char sent[] =
    "{\"apiVersion\":\"batch/"
    "v1\",\"kind\":\"Job\",\"metadata\":{\"name\":\"j\",\"namespace\":\"a\","
    "\"labels\":{\"x\":\"y\"}},\"spec\":{\"backoffLimit\":0,\"template\":{\"metadata\":{\"labels\":"
    "{"
    "\"x\":\"y\"}},\"spec\":{\"restartPolicy\":\"Never\",\"serviceAccountName\":\"sa\","
    "\"containers\":[" SENT_CONTAINER "],\"volumes\":" SENT_VOLUMES "}}}}";

/* The same as an API server gives it back (1.34), with the places for a change marked @1..@4. */
static const char live_format[] =
    "{\"apiVersion\":\"batch/"
    "v1\",\"kind\":\"Job\",\"metadata\":{\"name\":\"j\",\"namespace\":\"a\",\"uid\":\"u\","
    "\"resourceVersion\":\"5\",\"generation\":1,\"creationTimestamp\":\"2026-01-01T00:00:00Z\","
    "\"labels\":{\"x\":\"y\"@1},\"managedFields\":[{\"manager\":\"m\"}]},\"spec\":{\"parallelism\":"
    "1,"
    "\"completions\":1,\"backoffLimit\":0,\"completionMode\":\"NonIndexed\",\"suspend\":false,"
    "\"podReplacementPolicy\":\"TerminatingOrFailed\",\"manualSelector\":false,\"selector\":{"
    "\"matchLabels\":{"
    "\"batch.kubernetes.io/"
    "controller-uid\":\"u\"}},\"template\":{\"metadata\":{\"creationTimestamp\":null,"
    "\"labels\":{\"batch.kubernetes.io/controller-uid\":\"u\",\"batch.kubernetes.io/"
    "job-name\":\"j\","
    "\"controller-uid\":\"u\",\"job-name\":\"j\",\"x\":\"y\"}},\"spec\":{\"containers\":[{\"name\":"
    "\"engine\","
    "\"image\":\"img@sha256:1\",\"args\":[\"engine\"],\"env\":[{\"name\":\"POD\",\"valueFrom\":{"
    "\"fieldRef\":{"
    "\"apiVersion\":\"v1\",\"fieldPath\":\"metadata.name\"}}}],\"resources\":{\"requests\":{"
    "\"memory\":\"1Gi\","
    "\"cpu\":\"1\"}},\"terminationMessagePath\":\"/dev/"
    "termination-log\",\"terminationMessagePolicy\":\"File\","
    "\"imagePullPolicy\":\"IfNotPresent\",\"securityContext\":{\"runAsNonRoot\":true@2}}@3],"
    "\"restartPolicy\":"
    "\"Never\",\"terminationGracePeriodSeconds\":30,\"dnsPolicy\":\"ClusterFirst\","
    "\"serviceAccountName\":\"sa\","
    "\"serviceAccount\":\"sa\",\"securityContext\":{},\"schedulerName\":\"default-scheduler\"@4,"
    "\"volumes\":["
    "{\"name\":\"t\",\"projected\":{\"defaultMode\":420,\"sources\":[{\"serviceAccountToken\":{"
    "\"expirationSeconds\":3600,\"path\":\"token\"}}]}},{\"name\":\"e\",\"emptyDir\":{}},{\"name\":"
    "\"s\","
    "\"secret\":{\"defaultMode\":420,\"secretName\":\"x\",\"optional\":true}}]}}},\"status\":{"
    "\"active\":1}}";

static void live_with(char place, const char *text, struct rco_buf *out)
{
    for (const char *p = live_format; *p; p++) {
        if (*p == '@' && p[1] >= '1' && p[1] <= '4') {
            if (*++p == place)
                rco_buf_adds(out, text);
        } else {
            rco_buf_addc(out, *p);
        }
    }
}

static bool same(enum rco_kind kind, const char *a, const char *b, struct rco_buf *why)
{
    return rco_adopt_same(kind, a, strlen(a), b, strlen(b), why);
}

static void test_job_with_the_servers_defaults_is_ours(void **state)
{
    rco_autobuf live = RCO_BUF_INIT;
    rco_autobuf why = RCO_BUF_INIT;

    (void)state;
    live_with(0, "", &live);
    if (!same(RCO_KIND_JOB, sent, rco_buf_str(&live), &why))
        fail_msg("%s", rco_buf_str(&why));
    assert_string_equal(rco_buf_str(&why), "");
}

static void test_planted_changes_are_found_and_named(void **state)
{
    const struct {
        char place;
        const char *text, *want;
    } rows[] = {
        {'3', ",{\"name\":\"spy\",\"image\":\"evil\"}",
         "spec.template.spec.containers: 2 items, sent 1"},
        {'2', ",\"privileged\":true",
         "spec.template.spec.containers[0].securityContext.privileged: was not sent"},
        {'4', ",\"hostNetwork\":true", "spec.template.spec.hostNetwork: was not sent"},
        {'4', ",\"initContainers\":[{\"name\":\"spy\"}]",
         "spec.template.spec.initContainers: was not sent"},
        {'4', ",\"activeDeadlineSeconds\":1",
         "spec.template.spec.activeDeadlineSeconds: was not sent"},
        {'1', ",\"z\":\"y\"", "metadata.labels.z: was not sent"},
    };

    (void)state;
    for (size_t i = 0; i < RCO_ARRAY_LEN(rows); i++) {
        rco_autobuf live = RCO_BUF_INIT;
        rco_autobuf why = RCO_BUF_INIT;

        live_with(rows[i].place, rows[i].text, &live);
        assert_false(same(RCO_KIND_JOB, sent, rco_buf_str(&live), &why));
        assert_string_equal(rco_buf_str(&why), rows[i].want);
    }
}

static char *replaced(const char *from, const char *to)
{
    rco_autobuf live = RCO_BUF_INIT;
    rco_autobuf out = RCO_BUF_INIT;
    char *at;

    live_with(0, "", &live);
    at = strstr(live.data, from);
    assert_non_null(at);
    rco_buf_add(&out, live.data, (size_t)(at - live.data));
    rco_buf_adds(&out, to);
    rco_buf_adds(&out, at + strlen(from));
    return rco_buf_take(&out);
}

static void test_changed_values_are_found(void **state)
{
    const struct {
        const char *from, *to, *want;
    } rows[] = {
        {"img@sha256:1", "img@sha256:2", "spec.template.spec.containers[0].image: differs"},
        {"\"args\":[\"engine\"]", "\"args\":[\"other\"]",
         "spec.template.spec.containers[0].args[0]: differs"},
        {"\"backoffLimit\":0", "\"backoffLimit\":6", "spec.backoffLimit: differs"},
        {"\"memory\":\"1Gi\"", "\"memory\":\"2Gi\"",
         "spec.template.spec.containers[0].resources.requests.memory: differs"},
        {"\"dnsPolicy\":\"ClusterFirst\"", "\"dnsPolicy\":\"None\"",
         "spec.template.spec.dnsPolicy: was not sent"},
        {"\"serviceAccount\":\"sa\"", "\"serviceAccount\":\"admin\"",
         "spec.template.spec.serviceAccount: was not sent"},
        {"\"optional\":true", "\"optional\":\"true\"",
         "spec.template.spec.volumes[2].secret.optional: has another type"},
        {"\"emptyDir\":{}", "\"hostPath\":{\"path\":\"/\"}",
         "spec.template.spec.volumes[1].hostPath.path: was not sent"},
        {"\"suspend\":false", "\"suspend\":true", "spec.suspend: was not sent"},
        {"\"runAsNonRoot\":true", "\"runAsNonRoot\":null",
         "spec.template.spec.containers[0].securityContext.runAsNonRoot: has another type"},
    };

    (void)state;
    for (size_t i = 0; i < RCO_ARRAY_LEN(rows); i++) {
        rco_autofree char *live = replaced(rows[i].from, rows[i].to);
        rco_autobuf why = RCO_BUF_INIT;

        assert_false(same(RCO_KIND_JOB, sent, live, &why));
        assert_string_equal(rco_buf_str(&why), rows[i].want);
    }
}

static void test_object_that_is_being_deleted_is_not_ours(void **state)
{
    rco_autobuf why = RCO_BUF_INIT;
    rco_autofree char *live =
        replaced("\"generation\":1", "\"generation\":2,\"deletionTimestamp\":\"2026-01-"
                                     "01T00:00:00Z\"");

    (void)state;
    assert_false(same(RCO_KIND_JOB, sent, live, &why));
    assert_string_equal(rco_buf_str(&why), "metadata.deletionTimestamp: was not sent");
}

static void test_claim_that_was_bound_is_ours(void **state)
{
    rco_autobuf why = RCO_BUF_INIT;
    const char *a = "{\"metadata\":{\"name\":\"c\"},\"spec\":{\"accessModes\":[\"ReadWriteOnce\"],"
                    "\"resources\":{"
                    "\"requests\":{\"storage\":\"1024Mi\"}}}}";
    const char *b =
        "{\"metadata\":{\"name\":\"c\",\"uid\":\"u\",\"annotations\":{\"pv.kubernetes.io/"
        "bind-completed\":"
        "\"yes\",\"volume.kubernetes.io/storage-provisioner\":\"p\"},\"finalizers\":["
        "\"kubernetes.io/"
        "pvc-protection\"]},\"spec\":{\"accessModes\":[\"ReadWriteOnce\"],\"resources\":{"
        "\"requests\":{\"storage\":\"1Gi\"}},\"volumeName\":\"pv\",\"storageClassName\":\"s\","
        "\"volumeMode\":"
        "\"Filesystem\"},\"status\":{\"phase\":\"Bound\"}}";
    const char *c = "{\"metadata\":{\"name\":\"c\",\"annotations\":{\"evil/"
                    "x\":\"y\"}},\"spec\":{\"accessModes\":["
                    "\"ReadWriteOnce\"],\"resources\":{\"requests\":{\"storage\":\"1Gi\"}}}}";

    (void)state;
    if (!same(RCO_KIND_PVC, a, b, &why))
        fail_msg("%s", rco_buf_str(&why));
    assert_false(same(RCO_KIND_PVC, a, c, &why));
    assert_string_equal(rco_buf_str(&why), "metadata.annotations.evil/x: was not sent");
}

static void test_run_may_be_cancelled_and_labelled_by_people(void **state)
{
    rco_autobuf why = RCO_BUF_INIT;
    const char *a = "{\"metadata\":{\"name\":\"r\"},\"spec\":{\"tenantId\":\"t\"}}";
    const char *b =
        "{\"metadata\":{\"name\":\"r\",\"annotations\":{\"x\":\"y\"}},\"spec\":{\"tenantId\":\"t\","
        "\"cancel\":{\"by\":\"me\"}},\"status\":{\"state\":\"Pending\"}}";
    const char *c =
        "{\"metadata\":{\"name\":\"r\"},\"spec\":{\"tenantId\":\"t\",\"projectId\":\"p\"}}";

    (void)state;
    assert_true(same(RCO_KIND_RUN, a, b, &why));
    assert_false(same(RCO_KIND_RUN, a, c, &why));
}

static void test_extra_key_of_a_configmap_is_foreign_and_its_value_stays_secret(void **state)
{
    rco_autobuf why = RCO_BUF_INIT;
    const char *a = "{\"metadata\":{\"name\":\"c\"},\"data\":{\"a\":\"1\"}}";

    (void)state;
    assert_false(same(RCO_KIND_CONFIGMAP, a,
                      "{\"metadata\":{\"name\":\"c\"},\"data\":{\"a\":\"1\",\"b\":\"canary\"}}",
                      &why));
    assert_string_equal(rco_buf_str(&why), "data.b: was not sent");
    assert_false(same(RCO_KIND_CONFIGMAP, a,
                      "{\"metadata\":{\"name\":\"c\"},\"data\":{\"a\":\"canary\"}}", &why));
    assert_null(strstr(rco_buf_str(&why), "canary"));
    assert_false(same(RCO_KIND_CONFIGMAP, a, "{\"metadata\":{\"name\":\"c\"}}", &why));
    assert_string_equal(rco_buf_str(&why), "data: missing");
}

static void test_broken_text_is_never_ours(void **state)
{
    rco_autobuf why = RCO_BUF_INIT;

    (void)state;
    assert_false(same(RCO_KIND_JOB, "{}", "{\"a\":", &why));
    assert_true(*rco_buf_str(&why));
    assert_false(same(RCO_KIND_JOB, "{}", "", &why));
    assert_false(same(RCO_KIND_JOB, "{}", "[]x", &why));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_job_with_the_servers_defaults_is_ours),
        cmocka_unit_test(test_planted_changes_are_found_and_named),
        cmocka_unit_test(test_changed_values_are_found),
        cmocka_unit_test(test_object_that_is_being_deleted_is_not_ours),
        cmocka_unit_test(test_claim_that_was_bound_is_ours),
        cmocka_unit_test(test_run_may_be_cancelled_and_labelled_by_people),
        cmocka_unit_test(test_extra_key_of_a_configmap_is_foreign_and_its_value_stays_secret),
        cmocka_unit_test(test_broken_text_is_never_ours),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
