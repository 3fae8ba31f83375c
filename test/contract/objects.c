/* Create, get, delete, and what is refused of them. */
#include "check.h"

#include <string.h>

#define HUGE (3600 * 1000)
#define LARGE (1100 * 1000)

static void missing(struct bed *b)
{
    struct reply r = bed_do(b, "GET", at(b, "configmaps", "x"), NULL);

    check_refusal(b, "get", &r, 404, "NotFound", "configmaps \"x\" not found");
    check_details(b, "get", &r, "x", NULL, "configmaps");
    r = bed_do(b, "GET", at(b, "environments", "x"), NULL);
    check_refusal(b, "get of ours", &r, 404, "NotFound",
                  "environments.runtimecloud.io \"x\" not found");
    check_details(b, "get of ours", &r, "x", "runtimecloud.io", "environments");
    r = bed_do(b, "DELETE", at(b, "jobs", "x"), NULL);
    check_refusal(b, "delete", &r, 404, "NotFound", "jobs.batch \"x\" not found");
    r = bed_do(b, "PATCH", at(b, "leases", "x"), "{}");
    check_refusal(b, "patch", &r, 404, "NotFound", "leases.coordination.k8s.io \"x\" not found");
}

static void created(struct bed *b)
{
    struct reply r = make_configmap(b, "a", "", ",\"data\":{\"k\":\"v\"}");
    struct reply got = bed_do(b, "GET", at(b, "configmaps", "a"), NULL);

    check_at(b, &r, "kind", "ConfigMap");
    check_at(b, &r, "apiVersion", "v1");
    check_at(b, &r, "metadata|name", "a");
    check_at(b, &r, "metadata|namespace", b->ns);
    check_at(b, &r, "metadata|generation", NULL);
    check_at(b, &r, "data|k", "v");
    check(b, "it has a uid", strlen(uid_of(&r)) == 36);
    check(b, "it has a version", *rv_of(&r) != '\0');
    check(b, "it has a time", sim_tree_str(r.json, "metadata|creationTimestamp") != NULL);
    check_code(b, "get", &got, 200);
    check_at(b, &got, "metadata|uid", uid_of(&r));
    check_at(b, &got, "metadata|resourceVersion", rv_of(&r));
}

static void created_ours(struct bed *b)
{
    struct reply r = make_environment(b, "dev");

    check_at(b, &r, "kind", "Environment");
    check_at(b, &r, "apiVersion", "runtimecloud.io/v1alpha1");
    check_at(b, &r, "metadata|generation", "1");
}

static void twice(struct bed *b)
{
    struct reply first = make_configmap(b, "a", "", ""), r;

    r = bed_do(b, "POST", at(b, "configmaps", NULL),
               "{\"metadata\":{\"name\":\"a\"},\"data\":{\"k\":\"other\"}}");
    check_refusal(b, "again", &r, 409, "AlreadyExists", "configmaps \"a\" already exists");
    check_details(b, "again", &r, "a", NULL, "configmaps");
    r = bed_do(b, "GET", at(b, "configmaps", "a"), NULL);
    check_at(b, &r, "metadata|resourceVersion", rv_of(&first));
}

static void same_name_again(struct bed *b)
{
    struct reply first = make_configmap(b, "a", "", ""), second;

    bed_do(b, "DELETE", at(b, "configmaps", "a"), NULL);
    second = make_configmap(b, "a", "", "");
    check(b, "it is another object", strcmp(uid_of(&first), uid_of(&second)) != 0);
}

static void nameless(struct bed *b)
{
    struct reply r = bed_do(b, "POST", at(b, "configmaps", NULL), "{\"metadata\":{}}");

    check_refusal(b, "no name", &r, 422, "Invalid",
                  "ConfigMap \"\" is invalid: metadata.name: Required value: name or generateName "
                  "is required");
    check_cause(b, "no name", &r, "FieldValueRequired", "metadata.name");
}

static void misnamed(struct bed *b)
{
    struct reply r =
        bed_do(b, "POST", at(b, "configmaps", NULL), "{\"metadata\":{\"name\":\"A_b\"}}");

    check_refusal(
        b, "bad name", &r, 422, "Invalid",
        "ConfigMap \"A_b\" is invalid: metadata.name: Invalid value: \"A_b\": a lowercase "
        "RFC 1123 subdomain must consist of *");
    check_cause(b, "bad name", &r, "FieldValueInvalid", "metadata.name");
}

static void generated_name(struct bed *b)
{
    struct reply r =
        bed_do(b, "POST", at(b, "configmaps", NULL), "{\"metadata\":{\"generateName\":\"g-\"}}");

    check_code(b, "create", &r, 201);
    check_at(b, &r, "metadata|name", "g-*");
    check_int(b, "length of the name", 7,
              (int64_t)strlen(rco_str_or_empty(sim_tree_str(r.json, "metadata|name"))));
}

static void no_namespace(struct bed *b)
{
    struct reply r = bed_do(b, "POST", at_in(b, "never-was", "configmaps", NULL),
                            "{\"metadata\":{\"name\":\"a\"}}");

    check_refusal(b, "create", &r, 404, "NotFound", "namespaces \"never-was\" not found");
    check_details(b, "create", &r, "never-was", NULL, "namespaces");
    r = bed_do(b, "GET", at_in(b, "never-was", "configmaps", NULL), NULL);
    check_code(b, "a list of nothing", &r, 200);
}

static void other_namespace(struct bed *b)
{
    struct reply r = bed_do(b, "POST", at(b, "configmaps", NULL),
                            "{\"metadata\":{\"name\":\"a\",\"namespace\":\"another\"}}");

    check_refusal(b, "create", &r, 400, "BadRequest",
                  "the namespace of the provided object does not match the namespace sent on the "
                  "request");
}

static void broken_bodies(struct bed *b)
{
    struct reply r = bed_do(b, "POST", at(b, "configmaps", NULL), "{\"a");

    check_refusal(b, "half a text", &r, 400, "BadRequest", NULL);
    r = bed_do(b, "POST", at(b, "environments", NULL), "{\"metadata\":{\"name\":\"x\"}}");
    check_refusal(b, "ours without a kind", &r, 400, "BadRequest",
                  "the object provided is unrecognized (must be of type Environment)*");
    make_configmap(b, "a", "", "");
    r = bed_do(b, "PATCH", at(b, "configmaps", "a"), "{\"data\"");
    check_refusal(b, "half a patch", &r, 400, "BadRequest", "error decoding patch*");
}

static void version_on_create(struct bed *b)
{
    struct reply r = bed_do(b, "POST", at(b, "configmaps", NULL),
                            "{\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"5\"}}");

    check_code(b, "create", &r, 500);
    check_at(b, &r, "message", "resourceVersion should not be set on objects to be created");
}

static void servers_fields(struct bed *b)
{
    struct reply r = make_configmap(
        b, "a",
        ",\"uid\":\"mine\",\"creationTimestamp\":\"2020-01-01T00:00:00Z\",\"deletionTimestamp\":"
        "\"2020-01-01T00:00:00Z\"",
        "");

    check(b, "the uid is the server's", strcmp(uid_of(&r), "mine") != 0);
    check(b, "the time is the server's",
          !rco_streq(sim_tree_str(r.json, "metadata|creationTimestamp"), "2020-01-01T00:00:00Z"));
    check_at(b, &r, "metadata|deletionTimestamp", NULL);
}

static void bad_label(struct bed *b)
{
    struct reply r = bed_do(b, "POST", at(b, "configmaps", NULL),
                            "{\"metadata\":{\"name\":\"a\",\"labels\":{\"a\":\"b c\"}}}");

    check_refusal(
        b, "create", &r, 422, "Invalid",
        "ConfigMap \"a\" is invalid: metadata.labels: Invalid value: \"b c\": a valid label "
        "must be *");
    check_cause(b, "create", &r, "FieldValueInvalid", "metadata.labels");
}

static void bad_finalizer(struct bed *b)
{
    struct reply r = bed_do(b, "POST", at(b, "configmaps", NULL),
                            "{\"metadata\":{\"name\":\"a\",\"finalizers\":[\"x\"]}}");

    check_refusal(
        b, "create", &r, 422, "Invalid",
        "ConfigMap \"a\" is invalid: metadata.finalizers[0]: Invalid value: \"x\": name is "
        "neither a standard finalizer name nor is it fully qualified");
}

static const char *big(struct bed *b, size_t n)
{
    char *text = rco_arena_alloc(&b->arena, n + 1);

    memset(text, 'x', n);
    return bed_text(b, "{\"metadata\":{\"name\":\"big\"},\"data\":{\"k\":\"%s\"}}", text);
}

#define TRIES_MAX 20

static void too_large(struct bed *b)
{
    int tries = 0;
    struct reply r = bed_do(b, "POST", at(b, "configmaps", NULL), big(b, LARGE));

    check_refusal(b, "more than 1 MiB", &r, 422, "Invalid",
                  "ConfigMap \"big\" is invalid: []: Too long: may not be more than 1048576 bytes");
    /* A real server answers and closes while the rest of the body still comes, so that the answer
     * may be cut off; it is asked again. */
    do
        r = bed_do(b, "POST", at(b, "configmaps", NULL), big(b, HUGE));
    while (r.status == 0 && ++tries < TRIES_MAX);
    check_refusal(b, "more than 3 MiB", &r, 413, "RequestEntityTooLarge",
                  "Request entity too large: limit is 3145728");
}

static void unknown_paths(struct bed *b)
{
    struct reply r = bed_do(b, "GET", at(b, "things", NULL), NULL);

    check_refusal(b, "no such resource", &r, 404, "NotFound",
                  "the server could not find the requested resource");
    r = bed_do(b, "GET", "/apis/none.example.com/v1/things", NULL);
    check_code(b, "no such group", &r, 404);
    check_str(b, "no such group", "404 page not found\n", r.text);
    make_configmap(b, "a", "", "");
    r = bed_do(b, "PATCH", at(b, "configmaps", "a/status"), "{}");
    check_refusal(b, "no such subresource", &r, 404, "NotFound",
                  "the server could not find the requested resource");
}

static void deleted(struct bed *b)
{
    struct reply made = make_configmap(b, "a", "", ""), r;

    r = bed_do(b, "DELETE", at(b, "configmaps", "a"), "{\"propagationPolicy\":\"Background\"}");
    check_code(b, "delete", &r, 200);
    check_at(b, &r, "kind", "Status");
    check_at(b, &r, "status", "Success");
    check_at(b, &r, "details|name", "a");
    check_at(b, &r, "details|kind", "configmaps");
    check_at(b, &r, "details|uid", uid_of(&made));
    r = bed_do(b, "GET", at(b, "configmaps", "a"), NULL);
    check_code(b, "it is gone", &r, 404);
}

static void deleted_ours(struct bed *b)
{
    struct reply made = make_environment(b, "dev"), r;

    r = bed_do(b, "DELETE", at(b, "environments", "dev"), NULL);
    check_code(b, "delete", &r, 200);
    check_at(b, &r, "kind", "Status");
    check_at(b, &r, "details|group", "runtimecloud.io");
    check_at(b, &r, "details|uid", uid_of(&made));
}

static void wrong_uid(struct bed *b)
{
    struct reply made = make_configmap(b, "a", "", ""), r;

    r = bed_do(b, "DELETE", at(b, "configmaps", "a"), "{\"preconditions\":{\"uid\":\"other\"}}");
    check_refusal(b, "delete", &r, 409, "Conflict",
                  bed_text(b,
                           "Operation cannot be fulfilled on ConfigMap \"a\": the UID in the "
                           "precondition (other) does not match the UID in record (%s). The object "
                           "might have been deleted and then recreated",
                           uid_of(&made)));
    r = bed_do(b, "GET", at(b, "configmaps", "a"), NULL);
    check_code(b, "it is untouched", &r, 200);
    check_at(b, &r, "metadata|resourceVersion", rv_of(&made));
}

static void wrong_version(struct bed *b)
{
    struct reply made = make_environment(b, "dev"), r;

    r = bed_do(b, "DELETE", at(b, "environments", "dev"),
               bed_text(b, "{\"preconditions\":{\"uid\":\"%s\",\"resourceVersion\":\"1\"}}",
                        uid_of(&made)));
    check_refusal(
        b, "delete", &r, 409, "Conflict",
        bed_text(b,
                 "Operation cannot be fulfilled on Environment.runtimecloud.io \"dev\": the "
                 "ResourceVersion in the precondition (1) does not match the "
                 "ResourceVersion in record (%s). The object might have been modified",
                 rv_of(&made)));
    check_details(b, "delete", &r, "dev", "runtimecloud.io", "Environment");
    r = bed_do(b, "DELETE", at(b, "environments", "dev"),
               bed_text(b, "{\"preconditions\":{\"uid\":\"%s\",\"resourceVersion\":\"%s\"}}",
                        uid_of(&made), rv_of(&made)));
    check_code(b, "with both right", &r, 200);
}

const struct contract_case object_cases[] = {
    {"what is missing is 404", missing},
    {"a create fills in what is the server's", created},
    {"ours begin with generation 1", created_ours},
    {"a taken name is 409 AlreadyExists", twice},
    {"a name used again is another object", same_name_again},
    {"a create without a name is 422", nameless},
    {"a bad name is 422", misnamed},
    {"generateName makes a name", generated_name},
    {"a create in no namespace is 404", no_namespace},
    {"a create for another namespace is 400", other_namespace},
    {"broken bodies are 400", broken_bodies},
    {"a create with a version is refused", version_on_create},
    {"uid and times of the client are ignored", servers_fields},
    {"a bad label is 422", bad_label},
    {"a bad finalizer is 422", bad_finalizer},
    {"what is too large is 422 or 413", too_large},
    {"unknown paths are 404", unknown_paths},
    {"a delete answers with a Status", deleted},
    {"a delete of ours answers with a Status", deleted_ours},
    {"a delete with a wrong uid is 409 and touches nothing", wrong_uid},
    {"a delete with a wrong version is 409", wrong_version},
    {0}};
