/* What the operator may do, tokens, Leases, Events. */
#include "check.h"

#include <string.h>

#define OPERATOR "system:serviceaccount:runtime-cloud:runtime-cloud-operator"
#define LEASES "/apis/coordination.k8s.io/v1/namespaces/" BED_OPERATOR_NS "/leases"
#define REVIEWS "/apis/authentication.k8s.io/v1/tokenreviews"

static struct reply as_operator(struct bed *b, const char *method, const char *path,
                                const char *body)
{
    return bed_ask(
        b, &(struct ask){.who = BED_OPERATOR, .method = method, .path = path, .body = body});
}

static void check_forbidden(struct bed *b, const char *verb, const struct reply *r, bool named)
{
    check_refusal(b, verb, r, 403, "Forbidden",
                  bed_text(b,
                           "secrets %sis forbidden: User \"" OPERATOR "\" cannot %s resource "
                           "\"secrets\" in API group \"\" in the namespace \"%s\"",
                           named ? "\"s\" " : "", verb, b->ns));
    check_details(b, verb, r, named ? "s" : NULL, NULL, "secrets");
}

static void secrets(struct bed *b)
{
    struct reply r = as_operator(b, "POST", at(b, "secrets", NULL),
                                 "{\"metadata\":{\"name\":\"s\"},\"data\":{\"a\":\"Yg==\"}}");

    check_code(b, "it may be made", &r, 201);
    check_at(b, &r, "type", "Opaque");
    r = as_operator(b, "GET", at(b, "secrets", "s"), NULL);
    check_forbidden(b, "get", &r, true);
    r = as_operator(b, "GET", at(b, "secrets", NULL), NULL);
    check_forbidden(b, "list", &r, false);
    r = as_operator(b, "GET", bed_text(b, "%s?watch=true", at(b, "secrets", NULL)), NULL);
    check_forbidden(b, "watch", &r, false);
    r = as_operator(b, "PATCH", at(b, "secrets", "s"), "{\"data\":{\"a\":\"Yw==\"}}");
    check_forbidden(b, "patch", &r, true);
    r = as_operator(b, "DELETE", at(b, "secrets", "s"), NULL);
    check_forbidden(b, "delete", &r, true);
    r = as_operator(b, "POST", at(b, "secrets", NULL), "{\"metadata\":{\"name\":\"s\"}}");
    check_refusal(b, "a taken name is told", &r, 409, "AlreadyExists", NULL);
}

static void own_secret(struct bed *b)
{
    struct reply r = as_operator(
        b, "GET", at_in(b, BED_OPERATOR_NS, "secrets", "runtime-cloud-gateway-tls"), NULL);

    check_code(b, "the gateway's may be read", &r, 404);
    r = as_operator(b, "GET", at_in(b, BED_OPERATOR_NS, "secrets", "other"), NULL);
    check_code(b, "another may not", &r, 403);
}

static void leases_elsewhere(struct bed *b)
{
    struct reply r =
        as_operator(b, "POST", at(b, "leases", NULL), "{\"metadata\":{\"name\":\"l\"}}");

    check_refusal(b, "create", &r, 403, "Forbidden",
                  bed_text(b,
                           "leases.coordination.k8s.io is forbidden: User \"" OPERATOR
                           "\" cannot create resource \"leases\" in API group "
                           "\"coordination.k8s.io\" in the namespace \"%s\"",
                           b->ns));
}

/* --- tokens --- */

static struct reply review(struct bed *b, const char *token, const char *audience)
{
    return as_operator(
        b, "POST", REVIEWS,
        bed_text(b,
                 "{\"apiVersion\":\"authentication.k8s.io/v1\",\"kind\":"
                 "\"TokenReview\",\"spec\":{\"token\":\"%s\",\"audiences\":[\"%s\"]}}",
                 token, audience));
}

static bool has_items(const struct reply *r)
{
    const struct rco_value *items = sim_tree_get(r->json, "items");

    return items && items->len > 0;
}

static const char *make_pod(struct bed *b)
{
    struct reply r;

    b->ops->admit_pods(b, b->ns);
    bed_do(b, "POST", at(b, "jobs", NULL), job_json(b, "j", ""));
    r = bed_poll(b, bed_text(b, "%s?labelSelector=of%%3Dj", at(b, "pods", NULL)), has_items);
    check(b, "a pod comes", has_items(&r));
    return has_items(&r) ? sim_tree_str(sim_tree_get(r.json, "items")->first, "metadata|name") : "";
}

static const char *extra(const struct reply *r, const char *key)
{
    const struct rco_value *list = sim_tree_get(sim_tree_get(r->json, "status|user|extra"), key);

    return list && list->first ? list->first->text : NULL;
}

static void good_token(struct bed *b)
{
    const char *name = make_pod(b);
    struct reply pod = bed_do(b, "GET", at(b, "pods", name), NULL);
    struct reply r = review(b, b->ops->pod_token(b, b->ns, name, BED_AUDIENCE), BED_AUDIENCE);

    check_code(b, "review", &r, 201);
    check_at(b, &r, "kind", "TokenReview");
    check_at(b, &r, "status|authenticated", "true");
    check_at(b, &r, "status|user|username", bed_text(b, "system:serviceaccount:%s:default", b->ns));
    check(b, "audience", sim_tree_has(r.json, "status|audiences", BED_AUDIENCE));
    check_str(b, "pod", name, extra(&r, "authentication.kubernetes.io/pod-name"));
    check_str(b, "its uid", uid_of(&pod), extra(&r, "authentication.kubernetes.io/pod-uid"));
}

static void bad_tokens(struct bed *b)
{
    const char *name = make_pod(b);
    const char *token = b->ops->pod_token(b, b->ns, name, BED_AUDIENCE);
    struct reply r = review(b, "garbage", BED_AUDIENCE);

    check_code(b, "garbage", &r, 201);
    check_at(b, &r, "status|authenticated", NULL);
    check_at(b, &r, "status|user|username", NULL);
    check_at(b, &r, "status|error", "invalid bearer token");
    r = review(b, bed_text(b, "%.*s", (int)strlen(token) - 4, token), BED_AUDIENCE);
    check_code(b, "cut short", &r, 201);
    check_at(b, &r, "status|authenticated", NULL);
    r = review(b, token, "other");
    check_code(b, "asked for another audience", &r, 201);
    check_at(b, &r, "status|authenticated", NULL);
    r = review(b, b->ops->pod_token(b, b->ns, name, "other"), BED_AUDIENCE);
    check_code(b, "made for another audience", &r, 201);
    check_at(b, &r, "status|authenticated", NULL);
    r = review(b, "", BED_AUDIENCE);
    check_refusal(b, "none", &r, 400, "BadRequest",
                  "token is required for TokenReview in authentication");
}

static void token_of_the_gone(struct bed *b)
{
    const char *name = make_pod(b);
    const char *token = b->ops->pod_token(b, b->ns, name, BED_AUDIENCE);
    struct reply r;

    bed_do(b, "DELETE", at(b, "jobs", "j"), "{\"propagationPolicy\":\"Background\"}");
    check(b, "the pod goes", bed_poll_gone(b, at(b, "pods", name)));
    /* A review that was not asked before is not answered from the server's cache of ten seconds. */
    r = review(b, token, BED_AUDIENCE);
    check_code(b, "review", &r, 201);
    check_at(b, &r, "status|authenticated", NULL);
}

/* --- Leases --- */

static void lease(struct bed *b)
{
    const char *path = bed_text(b, LEASES "/%s", b->ns);
    struct reply made = as_operator(
                     b, "POST", LEASES,
                     bed_text(b,
                              "{\"apiVersion\":\"coordination.k8s.io/v1\",\"kind\":\"Lease\","
                              "\"metadata\":{\"name\":\"%s\"},\"spec\":{\"holderIdentity\":\"a\","
                              "\"leaseDurationSeconds\":30,\"acquireTime\":"
                              "\"2026-01-01T00:00:00.000000Z\",\"renewTime\":"
                              "\"2026-01-01T00:00:00.000000Z\",\"leaseTransitions\":1}}",
                              b->ns)),
                 r;

    check_code(b, "create", &made, 201);
    check_at(b, &made, "spec|renewTime", "2026-01-01T00:00:00.000000Z");
    r = as_operator(b, "PATCH", path,
                    bed_text(b,
                             "{\"metadata\":{\"resourceVersion\":\"%s\"},\"spec\":{\"renewTime\":"
                             "\"2026-01-01T00:00:04.000000Z\"}}",
                             rv_of(&made)));
    check_code(b, "renew", &r, 200);
    check_at(b, &r, "spec|holderIdentity", "a");
    r = as_operator(b, "PATCH", path,
                    bed_text(b,
                             "{\"metadata\":{\"resourceVersion\":\"%s\"},\"spec\":{"
                             "\"holderIdentity\":\"b\"}}",
                             rv_of(&made)));
    check_refusal(
        b, "renew from an old version", &r, 409, "Conflict",
        bed_text(b,
                 "Operation cannot be fulfilled on leases.coordination.k8s.io \"%s\": the "
                 "object has been modified; please apply your changes to the latest "
                 "version and try again",
                 b->ns));
    r = as_operator(b, "PATCH", path,
                    "{\"spec\":{\"holderIdentity\":\"\",\"leaseDurationSeconds\":1}}");
    check_code(b, "a holder without a name: it is given back", &r, 200);
    r = as_operator(b, "PATCH", path, "{\"spec\":{\"leaseDurationSeconds\":0}}");
    check_refusal(
        b, "no duration", &r, 422, "Invalid",
        bed_text(b,
                 "Lease.coordination.k8s.io \"%s\" is invalid: spec.leaseDurationSeconds: "
                 "Invalid value: 0: must be greater than 0",
                 b->ns));
    as_operator(b, "DELETE", path, NULL);
}

/* --- Events --- */

static const char *event_json(struct bed *b, const char *name, const char *action, const char *note)
{
    return bed_text(
        b,
        "{\"apiVersion\":\"events.k8s.io/v1\",\"kind\":\"Event\",\"metadata\":{\"name\":"
        "\"%s\",\"namespace\":\"%s\"},\"eventTime\":\"2026-01-01T00:00:00.000000Z\","
        "\"action\":\"%s\",\"reason\":\"Planned\",\"type\":\"Normal\",\"note\":\"%s\","
        "\"reportingController\":\"runtimecloud.io/controller\",\"reportingInstance\":"
        "\"i\",\"regarding\":{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"namespace\":"
        "\"%s\",\"name\":\"a\"}}",
        name, b->ns, action, note, b->ns);
}

static void events(struct bed *b)
{
    struct reply r =
        as_operator(b, "POST", at(b, "events", NULL), event_json(b, "e.1", "Plan", "x"));

    check_code(b, "create", &r, 201);
    check_at(b, &r, "note", "x");
    check_at(b, &r, "eventTime", "2026-01-01T00:00:00.000000Z");
    r = as_operator(b, "PATCH", at(b, "events", "e.1"),
                    "{\"series\":{\"count\":2,\"lastObservedTime\":"
                    "\"2026-01-01T00:00:01.000000Z\"}}");
    check_code(b, "it becomes a series", &r, 200);
    check_at(b, &r, "series|count", "2");
    r = as_operator(b, "PATCH", at(b, "events", "e.1"), "{\"note\":\"y\"}");
    check_refusal(b, "its note does not change", &r, 422, "Invalid",
                  "Event \"e.1\" is invalid: message: Invalid value: \"y\": field is immutable");
}

static void bad_events(struct bed *b)
{
    char note[1026];
    struct reply r;

    memset(note, 'x', sizeof note - 1);
    note[sizeof note - 1] = '\0';
    r = as_operator(b, "POST", at(b, "events", NULL), event_json(b, "e.2", "Plan", note));
    check_refusal(b, "a long note", &r, 422, "Invalid",
                  "Event \"e.2\" is invalid: message: Invalid value: \"\": can have at most 1024 "
                  "characters");
    r = as_operator(b, "POST", at(b, "events", NULL), event_json(b, "e.3", "", "x"));
    check_refusal(b, "no action", &r, 422, "Invalid",
                  "Event \"e.3\" is invalid: action: Required value");
}

const struct contract_case access_cases[] = {
    {"Secrets may be made and not read", secrets},
    {"one Secret of its own may be read", own_secret},
    {"Leases are its own namespace's", leases_elsewhere},
    {"a pod's token is who it is", good_token},
    {"other tokens are nobody's", bad_tokens},
    {"the token of a pod that is gone is nobody's", token_of_the_gone},
    {"a Lease is renewed from its last version", lease},
    {"an Event is made and becomes a series", events},
    {"bad Events are 422", bad_events},
    {0}};
