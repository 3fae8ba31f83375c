/* Finalizers and the end of objects. */
#include "check.h"

#include <string.h>

#define FINALIZER ",\"finalizers\":[\"a.example.com/x\"]"

static void held(struct bed *b)
{
    struct reply made = make_configmap(b, "a", FINALIZER, ""), r, again;

    r = bed_do(b, "DELETE", at(b, "configmaps", "a"), "{\"propagationPolicy\":\"Background\"}");
    check_code(b, "delete", &r, 200);
    check_at(b, &r, "kind", "ConfigMap");
    check_at(b, &r, "metadata|uid", uid_of(&made));
    check_at(b, &r, "metadata|deletionGracePeriodSeconds", "0");
    check_at(b, &r, "metadata|generation", NULL);
    check(b, "it is marked", sim_tree_str(r.json, "metadata|deletionTimestamp") != NULL);
    check(b, "the version moves on",
          strtoll(rv_of(&r), NULL, 10) > strtoll(rv_of(&made), NULL, 10));
    again = bed_do(b, "DELETE", at(b, "configmaps", "a"), NULL);
    check_code(b, "again", &again, 200);
    check_at(b, &again, "metadata|resourceVersion", rv_of(&r));
}

static void held_ours(struct bed *b)
{
    struct reply r;

    make_environment(b, "dev");
    bed_do(b, "PATCH", at(b, "environments", "dev"),
           "{\"metadata\":{\"finalizers\":[\"a.example.com/x\"]}}");
    r = bed_do(b, "DELETE", at(b, "environments", "dev"), NULL);
    check_code(b, "delete", &r, 200);
    check_at(b, &r, "metadata|generation", "2");
    r = bed_do(b, "PATCH", at(b, "environments", "dev"), "{\"spec\":{\"class\":\"staging\"}}");
    check_code(b, "its spec may change", &r, 200);
    check_at(b, &r, "metadata|generation", "3");
}

static void no_more_finalizers(struct bed *b)
{
    struct reply r;

    make_configmap(b, "a", FINALIZER, "");
    bed_do(b, "DELETE", at(b, "configmaps", "a"), NULL);
    r = bed_do(b, "PATCH", at(b, "configmaps", "a"),
               "{\"metadata\":{\"finalizers\":[\"a.example.com/x\",\"a.example.com/y\"]}}");
    check_refusal(
        b, "patch", &r, 422, "Invalid",
        "ConfigMap \"a\" is invalid: metadata.finalizers: Forbidden: no new finalizers can "
        "be added if the object is being deleted, found new finalizers "
        "[]string{\"a.example.com/y\"}");
    check_cause(b, "patch", &r, "FieldValueForbidden", "metadata.finalizers");
}

static void no_way_back(struct bed *b)
{
    struct reply marked, r;

    make_configmap(b, "a", FINALIZER, "");
    marked = bed_do(b, "DELETE", at(b, "configmaps", "a"), NULL);
    r = bed_do(b, "PATCH", at(b, "configmaps", "a"), "{\"metadata\":{\"deletionTimestamp\":null}}");
    check_code(b, "patch", &r, 200);
    check_at(b, &r, "metadata|deletionTimestamp",
             sim_tree_str(marked.json, "metadata|deletionTimestamp"));
    check_at(b, &r, "metadata|resourceVersion", rv_of(&marked));
}

static void name_is_taken(struct bed *b)
{
    struct reply r;

    make_configmap(b, "a", FINALIZER, "");
    bed_do(b, "DELETE", at(b, "configmaps", "a"), NULL);
    r = bed_do(b, "POST", at(b, "configmaps", NULL), "{\"metadata\":{\"name\":\"a\"}}");
    check_refusal(b, "create", &r, 409, "AlreadyExists",
                  "object is being deleted: configmaps \"a\" already exists");
}

static void released(struct bed *b)
{
    struct reply marked, r;

    make_configmap(b, "a", FINALIZER, "");
    marked = bed_do(b, "DELETE", at(b, "configmaps", "a"), NULL);
    r = bed_do(b, "PATCH", at(b, "configmaps", "a"), "{\"metadata\":{\"finalizers\":null}}");
    check_code(b, "patch", &r, 200);
    check_at(b, &r, "kind", "ConfigMap");
    check(b, "no finalizer", !sim_tree_get(r.json, "metadata|finalizers"));
    check_at(b, &r, "metadata|resourceVersion", rv_of(&marked));
    r = bed_do(b, "GET", at(b, "configmaps", "a"), NULL);
    check_code(b, "it is gone", &r, 404);
}

static void finalizer_of_a_living(struct bed *b)
{
    struct reply r;

    make_configmap(b, "a", FINALIZER, "");
    r = bed_do(b, "PATCH", at(b, "configmaps", "a"), "{\"metadata\":{\"finalizers\":[]}}");
    check_code(b, "patch", &r, 200);
    check(b, "an empty list is none", !sim_tree_get(r.json, "metadata|finalizers"));
    r = bed_do(b, "GET", at(b, "configmaps", "a"), NULL);
    check_code(b, "it lives on", &r, 200);
}

static void delete_of_going_checks_uid(struct bed *b)
{
    struct reply r;

    make_configmap(b, "a", FINALIZER, "");
    bed_do(b, "DELETE", at(b, "configmaps", "a"), NULL);
    r = bed_do(b, "DELETE", at(b, "configmaps", "a"), "{\"preconditions\":{\"uid\":\"other\"}}");
    check_refusal(b, "delete", &r, 409, "Conflict", NULL);
}

const struct contract_case lifecycle_cases[] = {
    {"a finalizer holds what is deleted", held},
    {"a deletion is a generation of ours", held_ours},
    {"no finalizer is added to what goes", no_more_finalizers},
    {"a deletion cannot be taken back", no_way_back},
    {"the name of what goes is taken", name_is_taken},
    {"the last finalizer lets it go", released},
    {"an empty list of finalizers is none", finalizer_of_a_living},
    {"a delete of what goes checks its uid", delete_of_going_checks_uid},
    {0}};
