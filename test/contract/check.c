#include "check.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* --- checks --- */

static bool failed(struct bed *b, const char *what, const char *want, const char *got)
{
    b->failures++;
    if (b->failures <= 4)
        printf("    %s: want %.400s, got %.1200s\n", what, want, got);
    return false;
}

bool check(struct bed *b, const char *what, bool holds)
{
    return holds || failed(b, what, "it to hold", "the contrary");
}

bool check_str(struct bed *b, const char *what, const char *want, const char *got)
{
    size_t n = want ? strlen(want) : 0;

    if (!want || !got)
        return want == got || failed(b, what, want ? want : "nothing", got ? got : "nothing");
    if (n && want[n - 1] == '*' && strncmp(want, got, n - 1) == 0)
        return true;
    return strcmp(want, got) == 0 || failed(b, what, want, got);
}

bool check_int(struct bed *b, const char *what, int64_t want, int64_t got)
{
    return want == got ||
           failed(b, what, bed_text(b, "%" PRId64, want), bed_text(b, "%" PRId64, got));
}

bool check_code(struct bed *b, const char *what, const struct reply *r, int code)
{
    return r->status == code || failed(b, what, bed_text(b, "HTTP %d", code),
                                       bed_text(b, "HTTP %d %s", r->status, r->text));
}

bool check_refusal(struct bed *b, const char *what, const struct reply *r, int code,
                   const char *reason, const char *message)
{
    const struct rco_value *j = r->json;
    bool ok = check_code(b, what, r, code);

    if (!ok)
        return false;
    ok &= check_str(b, bed_text(b, "%s: kind", what), "Status", sim_tree_str(j, "kind"));
    ok &= check_str(b, bed_text(b, "%s: apiVersion", what), "v1", sim_tree_str(j, "apiVersion"));
    ok &= check_str(b, bed_text(b, "%s: status", what), "Failure", sim_tree_str(j, "status"));
    ok &= check_int(b, bed_text(b, "%s: code", what), code, sim_tree_int(j, "code", 0));
    ok &= check_str(b, bed_text(b, "%s: reason", what), reason, sim_tree_str(j, "reason"));
    if (message)
        ok &= check_str(b, bed_text(b, "%s: message", what), message, sim_tree_str(j, "message"));
    return ok;
}

bool check_details(struct bed *b, const char *what, const struct reply *r, const char *name,
                   const char *group, const char *kind)
{
    bool ok = check_str(b, bed_text(b, "%s: details.name", what), name,
                        sim_tree_str(r->json, "details|name"));

    ok &= check_str(b, bed_text(b, "%s: details.group", what), group,
                    sim_tree_str(r->json, "details|group"));
    return check_str(b, bed_text(b, "%s: details.kind", what), kind,
                     sim_tree_str(r->json, "details|kind")) &&
           ok;
}

bool check_cause(struct bed *b, const char *what, const struct reply *r, const char *reason,
                 const char *field)
{
    const struct rco_value *causes = sim_tree_get(r->json, "details|causes");

    for (const struct rco_value *c = causes ? causes->first : NULL; c; c = c->next)
        if (rco_streq(sim_tree_str(c, "reason"), reason) &&
            rco_streq(sim_tree_str(c, "field"), field))
            return true;
    return failed(b, what, bed_text(b, "cause %s of %s", reason, field ? field : "nothing"),
                  r->text);
}

bool check_at(struct bed *b, const struct reply *r, const char *path, const char *want)
{
    const struct rco_value *v = sim_tree_get(r->json, path);
    const char *got = !v                            ? NULL
                      : v->type == RCO_VALUE_BOOL   ? (v->boolean ? "true" : "false")
                      : v->type == RCO_VALUE_STRING ? v->text
                      : v->type == RCO_VALUE_NUMBER ? v->text
                                                    : "a structure";

    return check_str(b, path, want, got);
}

bool check_event(struct bed *b, const char *what, const struct event *e, const char *type,
                 const char *name)
{
    return check_str(b, bed_text(b, "%s: type", what), type, e->type) &&
           check_str(b, bed_text(b, "%s: name", what), name,
                     sim_tree_str(e->object, "metadata|name"));
}

/* --- paths --- */

static const char *prefix_of(const char *plural)
{
    static const struct {
        const char *plural, *prefix;
    } groups[] = {{"jobs", "/apis/batch/v1"},
                  {"leases", "/apis/coordination.k8s.io/v1"},
                  {"events", "/apis/events.k8s.io/v1"},
                  {"environments", "/apis/runtimecloud.io/v1alpha1"},
                  {"deploymentspecifications", "/apis/runtimecloud.io/v1alpha1"},
                  {"provisioningruns", "/apis/runtimecloud.io/v1alpha1"}};

    for (size_t i = 0; i < RCO_ARRAY_LEN(groups); i++)
        if (strncmp(plural, groups[i].plural, strlen(groups[i].plural)) == 0)
            return groups[i].prefix;
    return "/api/v1";
}

const char *at_in(struct bed *b, const char *ns, const char *plural, const char *name)
{
    if (strcmp(plural, "namespaces") == 0)
        return bed_text(b, "/api/v1/namespaces%s%s", name ? "/" : "", name ? name : "");
    return bed_text(b, "%s/namespaces/%s/%s%s%s", prefix_of(plural), ns, plural, name ? "/" : "",
                    name ? name : "");
}

const char *at(struct bed *b, const char *plural, const char *name)
{
    return at_in(b, b->ns, plural, name);
}

const char *uid_of(const struct reply *r)
{
    return rco_str_or_empty(sim_tree_str(r->json, "metadata|uid"));
}

const char *rv_of(const struct reply *r)
{
    return rco_str_or_empty(sim_tree_str(r->json, "metadata|resourceVersion"));
}

/* --- objects --- */

static struct reply make(struct bed *b, const char *plural, const char *body)
{
    struct reply r = bed_do(b, "POST", at(b, plural, NULL), body);

    check_code(b, bed_text(b, "create in %s", plural), &r, 201);
    return r;
}

const char *another_namespace(struct bed *b, const char *suffix)
{
    const char *ns = bed_text(b, "%s-%s", b->ns, suffix);
    struct reply r =
        bed_do(b, "POST", at(b, "namespaces", NULL),
               bed_text(b,
                        "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":"
                        "\"%s\"}}",
                        ns));

    check_code(b, "create a namespace", &r, 201);
    return ns;
}

struct reply make_configmap(struct bed *b, const char *name, const char *meta, const char *more)
{
    return make(b, "configmaps",
                bed_text(b,
                         "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":"
                         "\"%s\"%s}%s}",
                         name, meta, more));
}

struct reply make_environment(struct bed *b, const char *name)
{
    return make(b, "environments",
                bed_text(b,
                         "{\"apiVersion\":\"runtimecloud.io/v1alpha1\",\"kind\":\"Environment\","
                         "\"metadata\":{\"name\":\"%s\"},\"spec\":{\"tenantId\":\"default\","
                         "\"projectId\":\"shop\",\"class\":\"development\",\"git\":{"
                         "\"allowedRepositories\":[\"https://git.example.com/team\"]}}}",
                         name));
}

struct reply make_specification(struct bed *b, const char *name)
{
    return make(
        b, "deploymentspecifications",
        bed_text(b,
                 "{\"apiVersion\":\"runtimecloud.io/v1alpha1\",\"kind\":\"DeploymentSpecification\""
                 ",\"metadata\":{\"name\":\"%s\"},\"spec\":{\"tenantId\":\"default\",\"projectId\":"
                 "\"shop\",\"environmentId\":\"dev\",\"kind\":\"Workload\",\"programRef\":"
                 "\"https://git.example.com/team/infra.git//web\",\"programVersion\":"
                 "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"}}",
                 name));
}

static const char run_snapshot[] =
    "{\"program\":{\"repository\":\"https://git.example.com/team/infra.git\",\"path\":\"web\","
    "\"commit\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"},\"stackName\":\"shop-web\","
    "\"backend\":{\"claimName\":\"rco-state\",\"secretsProvider\":\"passphrase\"},"
    "\"hmacKeySecretName\":\"rco-key\",\"planServiceAccountName\":\"default\","
    "\"applyServiceAccountName\":\"default\",\"clusterAccess\":\"None\",\"image\":"
    "\"registry.example.com/runner:1\",\"timeoutSeconds\":3600,"
    "\"terminationGracePeriodSeconds\":600,\"guard\":\"Strict\",\"environmentGeneration\":1,"
    "\"environmentUid\":\"22222222-2222-4333-8444-555555555555\"}";

struct reply make_run(struct bed *b, const char *name, const char *class)
{
    static const char uid[] = "11111111-2222-4333-8444-555555555555";

    return make(
        b, "provisioningruns",
        bed_text(b,
                 "{\"apiVersion\":\"runtimecloud.io/v1alpha1\",\"kind\":\"ProvisioningRun\","
                 "\"metadata\":{\"name\":\"%s\"},\"spec\":{\"tenantId\":\"default\",\"projectId\":"
                 "\"shop\",\"environmentId\":\"dev\",\"specificationId\":\"%s\","
                 "\"specificationRef\":{\"name\":\"web\",\"uid\":\"%s\"},\"specificationVersion\":1"
                 ",\"kind\":\"Baseline\",\"environmentClass\":\"%s\",\"snapshot\":%s}}",
                 name, uid, uid, class, run_snapshot));
}

const char *job_json(struct bed *b, const char *name, const char *spec)
{
    return bed_text(
        b,
        "{\"apiVersion\":\"batch/v1\",\"kind\":\"Job\",\"metadata\":{\"name\":\"%s\"},\"spec\":{"
        "\"backoffLimit\":0,\"template\":{\"metadata\":{\"labels\":{\"of\":\"%s\"}},\"spec\":{"
        "\"restartPolicy\":\"Never\",\"automountServiceAccountToken\":false,\"containers\":[{"
        "\"name\":\"engine\",\"image\":\"registry.example.com/runner:1\"}]}}%s}}",
        name, name, spec);
}
