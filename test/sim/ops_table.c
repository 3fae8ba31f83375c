/* What only people know about the properties: values that mean something, and properties that a
 * change of shows nowhere, each with its reason. */
#include "ops.h"

#include <stdio.h>
#include <string.h>

#define D RCO_KIND_DEPSPEC
#define E RCO_KIND_ENV
#define T RCO_KIND_TENANT
#define R RCO_KIND_RUN

#define COMMIT(DIGIT) DIGIT DIGIT DIGIT DIGIT DIGIT DIGIT DIGIT DIGIT DIGIT DIGIT
#define COMMIT_OF(C) "\"" COMMIT(C) COMMIT(C) COMMIT(C) COMMIT(C) "\""

static const char *const program_refs[] = {
    "\"https://git.example.com/shop/infra.git//other/place\"",
    "\"https://git.example.com/shop/infra.git//.\"",
    "\"https://GIT.example.com/shop/infra.git//web\"",
    "\"ssh://git@git.example.com/shop/infra.git//web\"",
    "\"http://git.example.com/shop/infra.git//web\"",
    "\"git@git.example.com:shop/infra.git//web\"",
    "\"file:///etc/passwd//web\"",
    "\"ext::sh -c touch% /tmp/x//web\"",
    "\"https://user:secret@git.example.com/shop/infra.git//web\"",
    "\"ssh://git:secret@git.example.com/shop/infra.git//web\"",
    "\"https://git.example.com/shop/infra.git//../web\"",
    "\"https://git.example.com/shop/infra.git//web/../../etc\"",
    "\"https://git.example.com/shop/infra.git///etc\"",
    "\"https://git.example.com/shop/infra.git//web//more\"",
    "\"https://git.example.com/shop/infra.git\"",
    "\"https://git.example.com/shop/infra.git//web?ref=main\"",
    "\"https://git.example.com/shop/infra.git//web#main\"",
    "\"https://git.example.com/shop/infra.git//we b\"",
    "\"https://git.example.com/shop/infra.git//%2e%2e/web\"",
    "\"https://git.example.com/shop/infra.git//web\\\\..\"",
    "\"https://-oProxyCommand=x/shop/infra.git//web\"",
    "\"https://evil.example.com/shop/infra.git//web\"",
    "\"https://git.example.com/shop-evil/infra.git//web\"",
    NULL};
static const char *const program_versions[] = {"\"main\"",
                                               "\"v1.2.3\"",
                                               "\"HEAD\"",
                                               "\"1111111\"",
                                               "\"--upload-pack\"",
                                               COMMIT_OF("A"),
                                               COMMIT_OF("2"),
                                               COMMIT_OF("f"),
                                               COMMIT_OF("e"),
                                               COMMIT_OF("c"),
                                               COMMIT_OF("b"),
                                               COMMIT_OF("d"),
                                               NULL};
static const char *const stacks[] = {"\"other\"", "\"../x\"", "\"shop-web\"", NULL};
static const char *const config_maps[] = {"\"absent\"", "\"unlabelled\"", "\"rco-x\"", NULL};
static const char *const absent_keys[] = {"\"absent\"", NULL};
static const char *const secrets[] = {"\"dev-absent\"", "\"not-allowed\"", "\"rco-dev-pass-1\"",
                                      "\"dev-token\"", NULL};
static const char *const secret_lists[] = {
    "[{\"env\":\"A\",\"secretKeyRef\":{\"name\":\"db\",\"key\":\"user\"}},{\"env\":\"A\","
    "\"secretKeyRef\":{\"name\":\"db\",\"key\":\"password\"}}]",
    "[{\"key\":\"a\",\"secretKeyRef\":{\"name\":\"db\",\"key\":\"user\"}},{\"key\":\"a\","
    "\"secretKeyRef\":{\"name\":\"db\",\"key\":\"password\"}}]",
    "[{\"key\":\"a\",\"env\":\"A\",\"secretKeyRef\":{\"name\":\"db\",\"key\":\"user\"}}]", NULL};
static const char *const variables[] = {"\"LD_PRELOAD\"", "\"PULUMI_X\"", "\"GIT_SSH\"",
                                        "\"PATH\"",       "\"A B\"",      NULL};
static const char *const not_here[] = {"{\"ttl\":\"1s\"}", "{\"interval\":\"0s\"}",
                                       "{\"interval\":\"1y\"}", "{\"days\":-1}", NULL};
static const char *const timeouts[] = {
    "\"0\"",  "\"0s\"",  "\"1s\"",   "\"59s\"",    "\"1m\"",     "\"24h\"",   "\"24h1s\"", "\"1y\"",
    "\"1d\"", "\"-5m\"", "\"1.5h\"", "\"99999h\"", "\"2h3m4s\"", "\"60m0s\"", NULL};
static const char *const graces[] = {"\"0s\"", "\"1s\"",     "\"2m59s\"", "\"3m\"",
                                     "\"2h\"", "\"2h0m1s\"", "\"1y\"",    NULL};
static const char *const quantities[] = {
    "\"0\"",      "\"1\"",     "\"1000m\"", "\"1e3\"", "\"-1\"",   "\"9223372036854775808\"",
    "\"0.0005\"", "\"1.5Gi\"", "\"1Zi\"",   "\"abc\"", "\"1 Gi\"", "\"999999\"",
    NULL};
static const char *const request_maps[] = {
    "{\"cpu\":\"8\"}", "{\"gpu\":\"1\"}", "{\"memory\":\"64Gi\"}",
    "{\"cpu\":\"100m\",\"memory\":\"64Mi\",\"ephemeral-storage\":\"2Gi\"}", NULL};
static const char *const limit_maps[] = {"{\"cpu\":\"4\"}", "{\"ephemeral-storage\":\"1Gi\"}",
                                         "{\"cpu\":\"100m\"}", "{\"memory\":\"8Gi\"}", NULL};
static const char *const backends[] = {"\"s3://other/shop\"",
                                       "\"gs://state\"",
                                       "\"azblob://state\"",
                                       "\"postgres://db:5432/pulumi\"",
                                       "\"https://pulumi.example.com\"",
                                       "\"file:///state\"",
                                       "\"ftp://state\"",
                                       "\"s3://key:secret@state\"",
                                       "\"postgres://u:p@db/pulumi\"",
                                       "\"postgres://db\"",
                                       "\"postgres://db/pulumi?host=other\"",
                                       "\"postgres://db/pulumi?search_path=x\"",
                                       "\"s3://state?secret_key=x\"",
                                       "\"https://state/?token=abc\"",
                                       "\"s3://sta te\"",
                                       NULL};
static const char *const providers[] = {"\"passphrase\"",       "\"awskms://alias/x\"",
                                        "\"hashivault://key\"", "\"default\"",
                                        "\"awskms://u@x\"",     NULL};
static const char *const claims[] = {"\"given\"", "\"absent\"", "\"rco-dev-state\"", NULL};
static const char *const accounts[] = {"\"missing\"", "\"default\"", "\"Bad_Name\"", NULL};
static const char *const images[] = {
    "\"registry.example.com/missing:1\"",
    "\"runner@sha256:cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc\"",
    "\" runner\"", "\"run ner\"", NULL};
static const char *const given_secrets[] = {"\"absent\"", "\"rco-dev-pass-1\"", "\"pass\"", NULL};
static const char *const proxies[] = {"\"http://user:secret@proxy:3128\"", "\"socks5://proxy\"",
                                      NULL};
static const char *const label_maps[] = {"{\"bad key!\":\"x\"}",
                                         "{\"runtimecloud.io/tenant\":\"x\"}",
                                         "{\"azure.workload.identity/use\":\"true\"}",
                                         "{\"job-name\":\"x\"}",
                                         "{\"team\":\"shop\",\"example.com/cost\":\"7\"}",
                                         NULL};
static const char *const allowed[] = {
    "[]", "[\"*\"]", "[\"db*\"]", "[\"rco-*\"]", "[\"db\",\"dev-*\",\"more\"]", NULL};
static const char *const repositories[] = {"[]",
                                           "[\"https://other.example.com/\"]",
                                           "[\"git@git.example.com:shop\"]",
                                           "[\"https://git.example.com/shop/../\"]",
                                           "[\"https://u:p@git.example.com/\"]",
                                           "[\"https://git.example.com/a b\"]",
                                           "[\"https://git.example.com\"]",
                                           "[\"https://git.example.com/sho\"]",
                                           NULL};
static const char *const mirrors[] = {"\"http://mirror\"", "\"https://u:p@mirror\"", NULL};
static const char *const regions[] = {"[\"*\"]", "[\"*\",\"eu-1\"]", "[\"us-1\"]", NULL};
static const char *const cancels[] = {"{\"by\":\"ada\"}", NULL};

static const struct {
    enum rco_kind kind;
    const char *path;
    const char *const *values;
} meanings[] = {
    {D, "spec|programRef", program_refs},
    {D, "spec|programVersion", program_versions},
    {D, "spec|stackName", stacks},
    {D, "spec|configRefs|[]|configMapKeyRef|name", config_maps},
    {D, "spec|configRefs|[]|configMapKeyRef|key", absent_keys},
    {D, "spec|configRefs|[]|http", not_here},
    {D, "spec|secretRefs", secret_lists},
    {D, "spec|secretRefs|[]|secretKeyRef|name", secrets},
    {D, "spec|secretRefs|[]|secretKeyRef|key", absent_keys},
    {D, "spec|secretRefs|[]|env", variables},
    {D, "spec|secretRefs|[]|vault", not_here},
    {D, "spec|promotion", not_here},
    {D, "spec|retry", not_here},
    {D, "spec|orphan", not_here},
    {D, "spec|forceUnlock", not_here},
    {E, "spec|runner|timeout", timeouts},
    {E, "spec|runner|terminationGracePeriod", graces},
    {E, "spec|runner|resources|requests", request_maps},
    {E, "spec|runner|resources|requests|{}", quantities},
    {E, "spec|runner|resources|limits", limit_maps},
    {E, "spec|runner|resources|limits|{}", quantities},
    {E, "spec|runner|planServiceAccountName", accounts},
    {E, "spec|runner|applyServiceAccountName", accounts},
    {E, "spec|runner|image", images},
    {E, "spec|runner|pod|proxy|httpProxy", proxies},
    {E, "spec|runner|pod|proxy|httpsProxy", proxies},
    {E, "spec|runner|pod|labels", label_maps},
    {E, "spec|runner|pod|annotations", label_maps},
    {E, "spec|runner|pod|env|[]|name", variables},
    {E, "spec|runner|pod|caBundle|name", absent_keys},
    {E, "spec|runner|pod|pluginMirror", mirrors},
    {E, "spec|backend|url", backends},
    {E, "spec|backend|secretsProvider", providers},
    {E, "spec|backend|claimName", claims},
    {E, "spec|backend|passphraseSecretRef|name", given_secrets},
    {E, "spec|backend|credentialsSecretRef|name", given_secrets},
    {E, "spec|git|credentialsSecretRef|name", given_secrets},
    {E, "spec|git|caSecretRef|name", given_secrets},
    {E, "spec|git|allowedRepositories", repositories},
    {E, "spec|allowedSecrets", allowed},
    {E, "spec|approval", not_here},
    {E, "spec|policy", not_here},
    {E, "spec|retention", not_here},
    {E, "spec|drift", not_here},
    {E, "spec|inventory", not_here},
    {T, "spec|residency|regions", regions},
    {R, "spec|cancel", cancels},
};

const char *const *sim_op_values(enum rco_kind kind, const char *path)
{
    for (size_t i = 0; i < RCO_ARRAY_LEN(meanings); i++)
        if (meanings[i].kind == kind && strcmp(meanings[i].path, path) == 0)
            return meanings[i].values;
    return NULL;
}

/* --- examples --- */

static const struct {
    enum rco_kind kind;
    const char *path, *json;
} examples[] = {
    {D, "spec|programRef", "\"https://git.example.com/shop/infra.git//api\""},
    {D, "spec|programVersion", COMMIT_OF("3")},
    {D, "spec|configRefs",
     "[{\"key\":\"color\",\"configMapKeyRef\":{\"name\":\"app\",\"key\":"
     "\"color\"}}]"},
    {D, "spec|configRefs|[]",
     "{\"key\":\"color\",\"configMapKeyRef\":{\"name\":\"app\",\"key\":"
     "\"color\"}}"},
    {D, "spec|configRefs|[]|key", "\"aws:region\""},
    {D, "spec|configRefs|[]|configMapKeyRef", "{\"name\":\"app2\",\"key\":\"greeting\"}"},
    {D, "spec|configRefs|[]|configMapKeyRef|name", "\"app2\""},
    {D, "spec|configRefs|[]|configMapKeyRef|key", "\"color\""},
    {D, "spec|secretRefs",
     "[{\"key\":\"password\",\"secretKeyRef\":{\"name\":\"db\",\"key\":"
     "\"password\"}}]"},
    {D, "spec|secretRefs|[]",
     "{\"key\":\"token\",\"secretKeyRef\":{\"name\":\"dev-token\","
     "\"key\":\"password\"}}"},
    {D, "spec|secretRefs|[]|secretKeyRef", "{\"name\":\"dev-token\",\"key\":\"password\"}"},
    {D, "spec|secretRefs|[]|secretKeyRef|name", "\"dev-token\""},
    {D, "spec|secretRefs|[]|secretKeyRef|key", "\"user\""},
    {E, "spec|runner|timeout", "\"45m\""},
    {E, "spec|runner|terminationGracePeriod", "\"5m\""},
    {E, "spec|runner|resources|requests", "{\"cpu\":\"250m\"}"},
    {E, "spec|runner|resources|requests|{}", "\"300m\""},
    {E, "spec|runner|resources|limits", "{\"cpu\":\"2\"}"},
    {E, "spec|runner|resources|limits|{}", "\"3\""},
    {E, "spec|runner|planServiceAccountName", "\"apply\""},
    {E, "spec|runner|applyServiceAccountName", "\"plan\""},
    {E, "spec|runner|pod|caBundle", "{\"name\":\"ca2\",\"key\":\"ca.crt\"}"},
    {E, "spec|runner|pod|env|[]", "{\"name\":\"REGION\",\"value\":\"us\"}"},
    {E, "spec|backend|url", "\"s3://state/elsewhere\""},
    {E, "spec|backend|claimName", "\"given\""},
    {E, "spec|backend|secretsProvider", "\"hashivault://key\""},
    {E, "spec|backend|credentialsSecretRef", "{\"name\":\"dev-token\"}"},
    {E, "spec|backend|credentialsSecretRef|name", "\"dev-token\""},
    {E, "spec|backend|passphraseSecretRef", "{\"name\":\"pass\"}"},
    {E, "spec|backend|passphraseSecretRef|name", "\"pass2\""},
    {E, "spec|git|allowedRepositories", "[\"https://git.example.com/\"]"},
    {E, "spec|git|allowedRepositories|[]", "\"https://git.example.com/shop/infra.git\""},
    {E, "spec|git|credentialsSecretRef", "{\"name\":\"dev-token\"}"},
    {E, "spec|git|caSecretRef", "{\"name\":\"dev-token\"}"},
    {E, "spec|allowedSecrets|[]", "\"db*\""},
    {E, "spec|class", "\"development\""},
    {R, "spec|cancel", "{\"by\":\"ada\",\"reason\":\"changed my mind\"}"},
};

const char *sim_op_example(enum rco_kind kind, const char *path)
{
    for (size_t i = 0; i < RCO_ARRAY_LEN(examples); i++)
        if (examples[i].kind == kind && strcmp(examples[i].path, path) == 0)
            return examples[i].json;
    return NULL;
}

/* --- no effect --- */

/* ONLY: the one mutation, or the one value, that shows nowhere, since it means what is there
 * without it. */
static const struct {
    enum rco_kind kind;
    const char *path, *only, *why;
} no_effects[] = {
    {D, "spec|releaseId", NULL, "recorded for the release system, not interpreted"},
    {D, "spec|waitPolicy", NULL, "shows only while a decision is awaited"},
    {D, "spec|programRef", "\"https://GIT.example.com/shop/infra.git//web\"", "a host has no case"},
    {D, "spec|suspend", "delete", "false is the default"},
    {D, "spec|stackName", NULL, "immutable; only the default can be written or left out"},
    {D, "spec|guard", NULL, "Strict is the only one in this version, and the default"},
    {D, "spec|strategy", NULL, "AllAtOnce is the only one in this version, and the default"},
    {D, "spec|deletionPolicy", NULL, "Retain is the only one in this version, and the default"},
    {E, "spec|deletionPolicy", NULL, "Retain is the only one in this version, and the default"},
    {E, "spec|runner|timeout", "\"60m0s\"", "the same time as the default"},
    {E, "spec|backend|secretsProvider", "\"passphrase\"", "the default"},
    {E, "spec|backend|secretsProvider", "delete", "passphrase is the default"},
    {T, "spec|suspended", "delete", "false is the default"},
    {E, "spec|region", NULL, "this version places nothing by region"},
    {E, "spec|allowedSecrets", NULL, "a name that no specification uses; others show"},
    {E, "spec|allowedSecrets|[]", NULL, "the same"},
    {E, "spec|git|allowedRepositories", NULL, "a prefix that no program needs; others show"},
    {E, "spec|git|allowedRepositories|[]", NULL, "the same"},
    {E, "spec|runner|planServiceAccountName", "\"default\"", "the default"},
    {E, "spec|runner|applyServiceAccountName", "\"default\"", "the default"},
    {T, "spec|edition", NULL, "limits come with capacity, which this version does not manage"},
    {T, "spec|residency", NULL, "this version places nothing by region"},
    {T, "spec|residency|regions", NULL, "the same"},
    {T, "spec|residency|regions|[]", NULL, "the same"},
    {T, "spec|homeNamespace", NULL, "quotas of the tenant come with capacity"},
};

static bool is_entry(size_t i, const struct sim_operation *op)
{
    return no_effects[i].kind == op->kind && strcmp(no_effects[i].path, op->path) == 0 &&
           (!no_effects[i].only || rco_streq(no_effects[i].only, op->literal) ||
            strcmp(no_effects[i].only, sim_mutation_name(op->mutation)) == 0);
}

const char *sim_op_no_effect(const struct sim_operation *op)
{
    for (size_t i = 0; i < RCO_ARRAY_LEN(no_effects); i++)
        if (is_entry(i, op))
            return no_effects[i].why;
    return NULL;
}

int sim_op_stale_entries(const struct sim_operation *all, const unsigned char *quiet, size_t n)
{
    int stale = 0;

    for (size_t i = 0; i < RCO_ARRAY_LEN(no_effects); i++) {
        bool used = false;

        for (size_t k = 0; k < n && !used; k++)
            used = quiet[k] && is_entry(i, &all[k]);
        if (used)
            continue;
        printf("STALE %s %s is listed as without effect, and nothing showed that\n",
               rco_kind_info(no_effects[i].kind)->kind, no_effects[i].path);
        stale++;
    }
    return stale;
}
