/* Schemas of our kinds: defaults, what is pruned, what is refused and how the server says it. */
#include "check.h"

#define HEAD(kind)                                                                                 \
    "{\"apiVersion\":\"runtimecloud.io/v1alpha1\",\"kind\":\"" kind "\",\"metadata\":"
#define ENV_SPEC                                                                                   \
    "\"tenantId\":\"default\",\"projectId\":\"shop\",\"class\":\"development\",\"git\":{"          \
    "\"allowedRepositories\":[\"https://git.example.com/team\"]}"
#define UNCHECKED                                                                                  \
    ", <nil>: Invalid value: null: some validation rules were not checked because the object was " \
    "invalid; correct the existing errors to complete validation]"

static void defaults(struct bed *b)
{
    struct reply r = make_environment(b, "dev");

    check_at(b, &r, "spec|runner|timeout", "1h");
    check_at(b, &r, "spec|runner|terminationGracePeriod", "10m");
    check_at(b, &r, "spec|runner|clusterAccess", "None");
    check_at(b, &r, "status|observedGeneration", "-1");
}

static void class_default(struct bed *b)
{
    struct reply r = bed_do(b, "POST", at(b, "environments", NULL),
                            HEAD("Environment") "{\"name\":\"dev\"},\"spec\":{\"tenantId\":"
                                                "\"default\",\"projectId\":\"shop\",\"backend\":{"
                                                "\"url\":\"s3://bucket\",\"secretsProvider\":"
                                                "\"awskms://alias/key\"},\"git\":{"
                                                "\"allowedRepositories\":["
                                                "\"https://git.example.com/team\"]}}}");

    check_code(b, "create", &r, 201);
    check_at(b, &r, "spec|class", "production");
}

static void pruned(struct bed *b)
{
    struct reply r = bed_do(b, "POST", at(b, "environments", NULL),
                            HEAD("Environment") "{\"name\":\"dev\"},\"spec\":{" ENV_SPEC
                                                ",\"bogus\":1},\"more\":2}");

    check_code(b, "create", &r, 201);
    check_at(b, &r, "spec|bogus", NULL);
    check_at(b, &r, "more", NULL);
    check_str(b, "warning", "299 - \"unknown field *", r.warning);
    r = bed_do(b, "PATCH", at(b, "environments", "dev/status"),
               "{\"status\":{\"observedGeneration\":1,\"bogus\":1}}");
    check_code(b, "patch of the status", &r, 200);
    check_at(b, &r, "status|bogus", NULL);
}

static void no_warning(struct bed *b)
{
    struct reply r = make_environment(b, "dev");

    check_str(b, "warning", NULL, r.warning);
}

static void required(struct bed *b)
{
    struct reply r =
        bed_do(b, "POST", at(b, "environments", NULL), HEAD("Environment") "{\"name\":\"dev\"}}");

    check_refusal(
        b, "no spec", &r, 422, "Invalid",
        "Environment.runtimecloud.io \"dev\" is invalid: [spec: Required value" UNCHECKED);
    check_details(b, "no spec", &r, "dev", "runtimecloud.io", "Environment");
    check_cause(b, "no spec", &r, "FieldValueRequired", "spec");
    r = bed_do(
        b, "POST", at(b, "environments", NULL),
        HEAD("Environment") "{\"name\":\"dev\"},\"spec\":{\"tenantId\":\"default\",\"class\":"
                            "\"development\"}}");
    check_refusal(b, "no projectId", &r, 422, "Invalid",
                  "Environment.runtimecloud.io \"dev\" is invalid: [spec.projectId: Required "
                  "value" UNCHECKED);
}

static void values(struct bed *b)
{
    static const struct {
        const char *spec, *message, *reason, *field;
    } rows[] = {
        {"\"class\":\"test\"",
         "spec.class: Unsupported value: \"test\": supported values: \"development\", \"staging\", "
         "\"production\"",
         "FieldValueNotSupported", "spec.class"},
        {"\"projectId\":5",
         "spec.projectId: Invalid value: \"integer\": spec.projectId in body must be of type "
         "string: "
         "\"integer\"",
         "FieldValueTypeInvalid", "spec.projectId"},
        {"\"projectId\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"",
         "spec.projectId: Too long: may not be more than 40 bytes", "FieldValueTooLong",
         "spec.projectId"},
        {"\"git\":7",
         "spec.git: Invalid value: \"integer\": spec.git in body must be of type object: "
         "\"integer\"",
         "FieldValueTypeInvalid", "spec.git"},
    };
    struct reply r;

    make_environment(b, "dev");
    /* After these the rules are not looked at; a pattern or a bound does not stop them. */
    for (size_t i = 0; i < RCO_ARRAY_LEN(rows); i++) {
        r = bed_do(b, "PATCH", at(b, "environments", "dev"),
                   bed_text(b, "{\"spec\":{%s}}", rows[i].spec));
        check_refusal(b, rows[i].spec, &r, 422, "Invalid",
                      bed_text(b, "Environment.runtimecloud.io \"dev\" is invalid: [%s" UNCHECKED,
                               rows[i].message));
        check_cause(b, rows[i].spec, &r, rows[i].reason, rows[i].field);
    }
    r = bed_do(b, "PATCH", at(b, "environments", "dev"), "{\"spec\":{\"projectId\":\"_\"}}");
    check_refusal(b, "a pattern", &r, 422, "Invalid",
                  "Environment.runtimecloud.io \"dev\" is invalid: [spec.projectId: Invalid value: "
                  "\"_\": spec.projectId in body should match '^[a-z0-9]([a-z0-9-]*[a-z0-9])?$', "
                  "spec.projectId: Invalid value: \"object\": projectId is immutable; make a new "
                  "Environment instead]");
}

static void numbers(struct bed *b)
{
    struct reply r;

    make_environment(b, "dev");
    r = bed_do(b, "PATCH", at(b, "environments", "dev/status"),
               "{\"status\":{\"observedGeneration\":-2}}");
    check_refusal(
        b, "below the minimum", &r, 422, "Invalid",
        "Environment.runtimecloud.io \"dev\" is invalid: status.observedGeneration: "
        "Invalid value: -2: observedGeneration in body should be greater than or equal to "
        "-1");
    r = bed_do(b, "PATCH", at(b, "environments", "dev/status"),
               "{\"status\":{\"observedGeneration\":\"x\"}}");
    check_refusal(b, "a text", &r, 422, "Invalid",
                  "Environment.runtimecloud.io \"dev\" is invalid: [status.observedGeneration: "
                  "Invalid value: \"string\": observedGeneration in body must be of type integer: "
                  "\"string\"" UNCHECKED);
}

#define CONDITION                                                                                  \
    "{\"type\":\"Ready\",\"status\":\"True\",\"reason\":\"R\",\"message\":\"\","                   \
    "\"lastTransitionTime\":\"2026-01-01T00:00:00Z\"}"

static void conditions(struct bed *b)
{
    struct reply r;

    make_environment(b, "dev");
    r = bed_do(b, "PATCH", at(b, "environments", "dev/status"),
               "{\"status\":{\"conditions\":[" CONDITION "," CONDITION "]}}");
    check_refusal(b, "a type twice", &r, 422, "Invalid",
                  "Environment.runtimecloud.io \"dev\" is invalid: status.conditions[1]: Duplicate "
                  "value: {\"type\":\"Ready\"}");
    check_cause(b, "a type twice", &r, "FieldValueDuplicate", "status.conditions[1]");
    r = bed_do(b, "PATCH", at(b, "environments", "dev/status"),
               "{\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\",\"reason\":"
               "\"R\",\"lastTransitionTime\":\"2026-01-01T00:00:00Z\"}]}}");
    check_refusal(b, "no message", &r, 422, "Invalid",
                  "Environment.runtimecloud.io \"dev\" is invalid: [status.conditions[0].message: "
                  "Required value" UNCHECKED);
    r = bed_do(b, "PATCH", at(b, "environments", "dev/status"),
               "{\"status\":{\"conditions\":[" CONDITION "]}}");
    check_code(b, "a good one", &r, 200);
    r = bed_do(b, "PATCH", at(b, "environments", "dev/status"),
               "{\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\",\"reason\":"
               "\"R\",\"message\":\"\",\"lastTransitionTime\":\"yesterday\"}]}}");
    check_refusal(b, "a time that is none", &r, 422, "Invalid",
                  "Environment.runtimecloud.io \"dev\" is invalid: [status.conditions[0]."
                  "lastTransitionTime: Invalid value: \"yesterday\": "
                  "conditions[0].lastTransitionTime in body must be of type date-time: "
                  "\"yesterday\"" UNCHECKED);
}

const struct contract_case schema_cases[] = {
    {"defaults are filled in", defaults},
    {"an environment without a class is production", class_default},
    {"unknown fields are pruned, with a warning", pruned},
    {"nothing is warned of without cause", no_warning},
    {"what is required is named", required},
    {"values of the schema are named", values},
    {"numbers are checked", numbers},
    {"conditions are checked", conditions},
    {0}};
