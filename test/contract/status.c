/* The status subresource and the generation. */
#include "check.h"

static void begins(struct bed *b)
{
    struct reply r = bed_do(
        b, "POST", at(b, "environments", NULL),
        "{\"apiVersion\":\"runtimecloud.io/v1alpha1\",\"kind\":\"Environment\",\"metadata\":{"
        "\"name\":\"dev\"},\"spec\":{\"tenantId\":\"default\",\"projectId\":\"shop\",\"class\":"
        "\"development\",\"git\":{\"allowedRepositories\":[\"https://git.example.com/team\"]}},"
        "\"status\":{\"observedGeneration\":5}}");

    check_code(b, "create", &r, 201);
    check_at(b, &r, "status|observedGeneration", "-1");
}

static void not_of_spec_writes(struct bed *b)
{
    struct reply made, r;

    make_environment(b, "dev");
    made = bed_do(b, "PATCH", at(b, "environments", "dev/status"),
                  "{\"status\":{\"observedGeneration\":1}}");
    r = bed_do(b, "PATCH", at(b, "environments", "dev"), "{\"status\":{\"observedGeneration\":9}}");
    check_code(b, "patch", &r, 200);
    check_at(b, &r, "status|observedGeneration", "1");
    check_at(b, &r, "metadata|resourceVersion", rv_of(&made));
}

static void only_status(struct bed *b)
{
    struct reply made = make_environment(b, "dev"), r;

    r = bed_do(b, "PATCH", at(b, "environments", "dev/status"),
               "{\"metadata\":{\"labels\":{\"a\":\"b\"},\"finalizers\":[\"a.example.com/x\"]},"
               "\"spec\":{\"class\":\"staging\"},\"status\":{\"observedGeneration\":1}}");
    check_code(b, "patch", &r, 200);
    check_at(b, &r, "status|observedGeneration", "1");
    check_at(b, &r, "spec|class", "development");
    check_at(b, &r, "metadata|labels|a", NULL);
    check(b, "no finalizer", !sim_tree_get(r.json, "metadata|finalizers"));
    check_at(b, &r, "metadata|generation", "1");
    check(b, "the version moves on",
          strtoll(rv_of(&r), NULL, 10) > strtoll(rv_of(&made), NULL, 10));
}

static void unchanged(struct bed *b)
{
    struct reply first, r;

    make_environment(b, "dev");
    first = bed_do(b, "PATCH", at(b, "environments", "dev/status"),
                   "{\"status\":{\"observedGeneration\":1}}");
    r = bed_do(b, "PATCH", at(b, "environments", "dev/status"),
               "{\"status\":{\"observedGeneration\":1}}");
    check_code(b, "patch", &r, 200);
    check_at(b, &r, "metadata|resourceVersion", rv_of(&first));
}

static void removed(struct bed *b)
{
    struct reply r;

    make_environment(b, "dev");
    bed_do(b, "PATCH", at(b, "environments", "dev/status"),
           "{\"status\":{\"observedGeneration\":1}}");
    r = bed_do(b, "PATCH", at(b, "environments", "dev/status"), "{\"status\":null}");
    check_code(b, "patch", &r, 200);
    check_at(b, &r, "status|observedGeneration", "-1");
}

static void generation(struct bed *b)
{
    struct reply r;

    make_environment(b, "dev");
    r = bed_do(b, "PATCH", at(b, "environments", "dev"),
               "{\"metadata\":{\"labels\":{\"a\":\"b\"}}}");
    check_at(b, &r, "metadata|generation", "1");
    r = bed_do(b, "PATCH", at(b, "environments", "dev/status"),
               "{\"status\":{\"observedGeneration\":1}}");
    check_at(b, &r, "metadata|generation", "1");
    r = bed_do(b, "PATCH", at(b, "environments", "dev"), "{\"spec\":{\"class\":\"staging\"}}");
    check_at(b, &r, "metadata|generation", "2");
    r = bed_do(b, "PATCH", at(b, "environments", "dev"), "{\"spec\":{\"class\":\"staging\"}}");
    check_at(b, &r, "metadata|generation", "2");
}

static void of_jobs(struct bed *b)
{
    struct reply r = bed_do(b, "POST", at(b, "jobs", NULL), job_json(b, "j", ",\"suspend\":true"));

    check_code(b, "create", &r, 201);
    check_at(b, &r, "metadata|generation", "1");
    r = bed_do(b, "PATCH", at(b, "jobs", "j"), "{\"status\":{\"succeeded\":7}}");
    check_code(b, "status in a write of the spec", &r, 200);
    check_at(b, &r, "status|succeeded", NULL);
    r = bed_do(b, "PATCH", at(b, "jobs", "j"), "{\"metadata\":{\"labels\":{\"a\":\"b\"}}}");
    check_at(b, &r, "metadata|generation", "1");
}

static void kinds_without_generation(struct bed *b)
{
    struct reply r = bed_do(b, "POST", at(b, "leases", NULL),
                            "{\"metadata\":{\"name\":\"l\"},\"spec\":{\"holderIdentity\":\"a\"}}");

    check_code(b, "create", &r, 201);
    check_at(b, &r, "metadata|generation", NULL);
    r = bed_do(b, "PATCH", at(b, "leases", "l"), "{\"spec\":{\"holderIdentity\":\"b\"}}");
    check_at(b, &r, "metadata|generation", NULL);
    r = bed_do(b, "GET", at(b, "namespaces", b->ns), NULL);
    check_at(b, &r, "metadata|generation", NULL);
    check_at(b, &r, "status|phase", "Active");
}

const struct contract_case status_cases[] = {
    {"status of a create is ignored, and defaulted", begins},
    {"status in a write of the object is ignored", not_of_spec_writes},
    {"a write of the status changes nothing else", only_status},
    {"an equal status keeps the version", unchanged},
    {"a removed status is defaulted again", removed},
    {"the generation moves with the spec alone", generation},
    {"Jobs have generation and status of their own", of_jobs},
    {"Leases and namespaces have no generation", kinds_without_generation},
    {0}};
