/* Merge patches and updates: versions, what null means, what cannot change. */
#include "check.h"

#include <string.h>

#define MODIFIED                                                                                   \
    "the object has been modified; please apply your changes to the latest version and try again"

static void unchanged(struct bed *b)
{
    struct reply made = make_configmap(b, "a", "", ",\"data\":{\"k\":\"v\"}"), r;

    r = bed_do(b, "PATCH", at(b, "configmaps", "a"), "{\"data\":{\"k\":\"v\"}}");
    check_code(b, "patch", &r, 200);
    check_at(b, &r, "metadata|resourceVersion", rv_of(&made));
}

/* What is stored at first lacks the default of the status, which each read supplies; the first
 * write of any kind stores it. */
static void unchanged_ours(struct bed *b)
{
    struct reply made = make_environment(b, "dev"), first, r;

    first =
        bed_do(b, "PATCH", at(b, "environments", "dev"), "{\"spec\":{\"class\":\"development\"}}");
    check_code(b, "patch", &first, 200);
    check(b, "the first moves the version", strcmp(rv_of(&first), rv_of(&made)) != 0);
    r = bed_do(b, "PATCH", at(b, "environments", "dev"), "{\"spec\":{\"class\":\"development\"}}");
    check_at(b, &r, "metadata|resourceVersion", rv_of(&first));
    check_at(b, &r, "metadata|generation", "1");
}

static void changed(struct bed *b)
{
    struct reply made = make_configmap(b, "a", "", ",\"data\":{\"k\":\"v\"}"), r;

    r = bed_do(b, "PATCH", at(b, "configmaps", "a"),
               bed_text(b, "{\"metadata\":{\"resourceVersion\":\"%s\"},\"data\":{\"k\":\"w\"}}",
                        rv_of(&made)));
    check_code(b, "patch", &r, 200);
    check_at(b, &r, "data|k", "w");
    check_at(b, &r, "metadata|uid", uid_of(&made));
    check(b, "the version moves on",
          strtoll(rv_of(&r), NULL, 10) > strtoll(rv_of(&made), NULL, 10));
}

static void nulls(struct bed *b)
{
    struct reply r, again;

    make_configmap(b, "a", "", ",\"data\":{\"k\":\"v\",\"l\":\"w\"}");
    r = bed_do(b, "PATCH", at(b, "configmaps", "a"), "{\"data\":{\"k\":null}}");
    check_at(b, &r, "data|k", NULL);
    check_at(b, &r, "data|l", "w");
    again = bed_do(b, "PATCH", at(b, "configmaps", "a"), "{\"data\":{\"k\":null}}");
    check_code(b, "null of what is not there", &again, 200);
    check_at(b, &again, "metadata|resourceVersion", rv_of(&r));
    r = bed_do(b, "PATCH", at(b, "configmaps", "a"), "{\"data\":null}");
    check(b, "null of a whole member", !sim_tree_get(r.json, "data"));
}

static void lists(struct bed *b)
{
    struct reply r;

    make_environment(b, "dev");
    r = bed_do(b, "PATCH", at(b, "environments", "dev"),
               "{\"spec\":{\"git\":{\"allowedRepositories\":[\"https://one.example.com/x\","
               "\"https://two.example.com/x\"]}}}");
    check_code(b, "patch", &r, 200);
    check(
        b, "lists are replaced as a whole",
        sim_tree_has(r.json, "spec|git|allowedRepositories", "https://two.example.com/x") &&
            !sim_tree_has(r.json, "spec|git|allowedRepositories", "https://git.example.com/team"));
}

static void stale(struct bed *b)
{
    struct reply r;

    make_configmap(b, "a", "", ",\"data\":{\"k\":\"v\"}");
    r = bed_do(b, "PATCH", at(b, "configmaps", "a"),
               "{\"metadata\":{\"resourceVersion\":\"1\"},\"data\":{\"k\":\"w\"}}");
    check_refusal(b, "patch", &r, 409, "Conflict",
                  "Operation cannot be fulfilled on configmaps \"a\": " MODIFIED);
    check_details(b, "patch", &r, "a", NULL, "configmaps");
    make_environment(b, "dev");
    r = bed_do(b, "PATCH", at(b, "environments", "dev/status"),
               "{\"metadata\":{\"resourceVersion\":\"1\"},\"status\":{\"observedGeneration\":1}}");
    check_refusal(
        b, "patch of the status", &r, 409, "Conflict",
        "Operation cannot be fulfilled on environments.runtimecloud.io \"dev\": " MODIFIED);
    check_details(b, "patch of the status", &r, "dev", "runtimecloud.io", "environments");
}

static void stale_without_change(struct bed *b)
{
    struct reply r;

    make_configmap(b, "a", "", ",\"data\":{\"k\":\"v\"}");
    r = bed_do(b, "PATCH", at(b, "configmaps", "a"),
               "{\"metadata\":{\"resourceVersion\":\"1\"},\"data\":{\"k\":\"v\"}}");
    check_refusal(b, "patch", &r, 409, "Conflict", NULL);
}

static void uid_in_patch(struct bed *b)
{
    struct reply r;

    make_environment(b, "dev");
    r = bed_do(b, "PATCH", at(b, "environments", "dev"),
               "{\"metadata\":{\"uid\":\"other\",\"labels\":{\"a\":\"b\"}}}");
    check_refusal(b, "patch", &r, 422, "Invalid",
                  "Environment.runtimecloud.io \"dev\" is invalid: metadata.uid: Invalid value: "
                  "\"other\": field is immutable");
    check_cause(b, "patch", &r, "FieldValueInvalid", "metadata.uid");
}

static void name_in_patch(struct bed *b)
{
    struct reply r;

    make_configmap(b, "a", "", "");
    r = bed_do(b, "PATCH", at(b, "configmaps", "a"), "{\"metadata\":{\"name\":\"other\"}}");
    check_refusal(b, "patch", &r, 400, "BadRequest",
                  "the name of the object (other) does not match the name on the URL (a)");
}

static void content_type(struct bed *b)
{
    struct reply r;

    make_configmap(b, "a", "", "");
    r = bed_ask(b, &(struct ask){.method = "PATCH",
                                 .path = at(b, "configmaps", "a"),
                                 .body = "{}",
                                 .content_type = "application/json"});
    check_refusal(b, "patch", &r, 415, "UnsupportedMediaType", NULL);
}

static void update(struct bed *b)
{
    struct reply made =
                     make_configmap(b, "a", ",\"labels\":{\"x\":\"y\"}", ",\"data\":{\"k\":\"v\"}"),
                 r;

    r = bed_do(b, "PUT", at(b, "configmaps", "a"),
               bed_text(b,
                        "{\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"%s\"},\"data\":{"
                        "\"l\":\"w\"}}",
                        rv_of(&made)));
    check_code(b, "update", &r, 200);
    check_at(b, &r, "data|k", NULL);
    check_at(b, &r, "data|l", "w");
    check_at(b, &r, "metadata|labels|x", NULL);
    check_at(b, &r, "metadata|uid", uid_of(&made));
    r = bed_do(
        b, "PUT", at(b, "configmaps", "a"),
        bed_text(b, "{\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"%s\"}}", rv_of(&made)));
    check_refusal(b, "update of an old version", &r, 409, "Conflict",
                  "Operation cannot be fulfilled on configmaps \"a\": " MODIFIED);
}

static void immutable_data(struct bed *b)
{
    static const char *const fields[] = {"data", "immutable", NULL};
    static const char *const patches[] = {"{\"data\":{\"k\":\"w\"}}", "{\"immutable\":null}"};
    struct reply r;

    make_configmap(b, "a", "", ",\"immutable\":true,\"data\":{\"k\":\"v\"}");
    for (size_t i = 0; fields[i]; i++) {
        r = bed_do(b, "PATCH", at(b, "configmaps", "a"), patches[i]);
        check_refusal(b, fields[i], &r, 422, "Invalid",
                      bed_text(b,
                               "ConfigMap \"a\" is invalid: %s: Forbidden: field is immutable when "
                               "`immutable` is set",
                               fields[i]));
        check_cause(b, fields[i], &r, "FieldValueForbidden", fields[i]);
    }
    r = bed_do(b, "PATCH", at(b, "configmaps", "a"), "{\"metadata\":{\"labels\":{\"a\":\"b\"}}}");
    check_code(b, "labels may change", &r, 200);
}

static void creation_time(struct bed *b)
{
    struct reply made = make_environment(b, "dev"), r;

    r = bed_do(b, "PATCH", at(b, "environments", "dev"),
               "{\"metadata\":{\"creationTimestamp\":\"2020-01-01T00:00:00Z\",\"generation\":9}}");
    check_code(b, "patch", &r, 200);
    check_at(b, &r, "metadata|creationTimestamp",
             sim_tree_str(made.json, "metadata|creationTimestamp"));
    check_at(b, &r, "metadata|generation", "1");
}

const struct contract_case patch_cases[] = {
    {"a patch that changes nothing keeps the version", unchanged},
    {"so does one of ours, after the first", unchanged_ours},
    {"a patch that changes something moves the version", changed},
    {"null removes a member", nulls},
    {"lists are replaced as a whole", lists},
    {"a patch of an old version is 409 Conflict", stale},
    {"also when it would change nothing", stale_without_change},
    {"a patch with a wrong uid is 422", uid_in_patch},
    {"a patch with another name is 400", name_in_patch},
    {"a patch of an unknown type is 415", content_type},
    {"an update replaces, and checks the version", update},
    {"immutable data does not change", immutable_data},
    {"creation time and generation are the server's", creation_time},
    {0}};
