/* Lists: what they show, selectors, versions, pages. */
#include "check.h"

#include <string.h>

/* Names of the items, joined by spaces. */
static const char *names(struct bed *b, const struct reply *r)
{
    const struct rco_value *items = sim_tree_get(r->json, "items");
    const char *text = "";

    for (const struct rco_value *x = items ? items->first : NULL; x; x = x->next)
        text = bed_text(b, "%s%s%s", text, *text ? " " : "",
                        rco_str_or_empty(sim_tree_str(x, "metadata|name")));
    return text;
}

static struct reply list(struct bed *b, const char *plural, const char *query)
{
    return bed_do(b, "GET", bed_text(b, "%s%s%s", at(b, plural, NULL), *query ? "?" : "", query),
                  NULL);
}

static void make_some(struct bed *b, int n)
{
    for (int i = 0; i < n; i++)
        make_configmap(b, bed_text(b, "a%d", i),
                       bed_text(b, ",\"labels\":{\"all\":\"x\",\"half\":\"%d\"}", i % 2), "");
}

static void empty(struct bed *b)
{
    struct reply r = list(b, "configmaps", "");

    check_code(b, "list", &r, 200);
    check_at(b, &r, "kind", "ConfigMapList");
    check_at(b, &r, "apiVersion", "v1");
    check(b, "it has a version", *rv_of(&r) != '\0');
    check(b, "items is an empty list",
          sim_tree_get(r.json, "items") && sim_tree_get(r.json, "items")->type == RCO_VALUE_ARRAY &&
              sim_tree_get(r.json, "items")->len == 0);
    r = list(b, "environments", "");
    check_at(b, &r, "kind", "EnvironmentList");
    check_at(b, &r, "apiVersion", "runtimecloud.io/v1alpha1");
}

static void kinds_of_items(struct bed *b)
{
    struct reply r;

    make_configmap(b, "a", "", "");
    make_environment(b, "a");
    r = list(b, "configmaps", "");
    check_str(b, "kind of an item of a built-in kind", NULL,
              sim_tree_str(sim_tree_get(r.json, "items")->first, "kind"));
    r = list(b, "environments", "");
    check_str(b, "kind of an item of ours", "Environment",
              sim_tree_str(sim_tree_get(r.json, "items")->first, "kind"));
}

static void sorted(struct bed *b)
{
    struct reply r;

    make_configmap(b, "b", "", "");
    make_configmap(b, "a-b", "", "");
    make_configmap(b, "a", "", "");
    make_configmap(b, "a.b", "", "");
    r = list(b, "configmaps", "");
    check_str(b, "names", "a a-b a.b b", names(b, &r));
}

static void selectors(struct bed *b)
{
    static const struct {
        const char *query, *want;
    } rows[] = {{"labelSelector=half%3D1", "a1 a3"},
                {"labelSelector=half%21%3D1", "a0 a2 plain"},
                {"labelSelector=half", "a0 a1 a2 a3"},
                {"labelSelector=%21half", "plain"},
                {"labelSelector=half%20in%20%280%2C2%29", "a0 a2"},
                {"labelSelector=all%3Dx%2Chalf%3D0", "a0 a2"},
                {"labelSelector=all%3Dnone", ""},
                {"fieldSelector=metadata.name%3Da2", "a2"},
                {"fieldSelector=metadata.name%3Dnone", ""}};
    struct reply r;

    make_some(b, 4);
    make_configmap(b, "plain", "", "");
    for (size_t i = 0; i < RCO_ARRAY_LEN(rows); i++) {
        r = list(b, "configmaps", rows[i].query);
        check_code(b, rows[i].query, &r, 200);
        check_str(b, rows[i].query, rows[i].want, names(b, &r));
    }
}

static void bad_queries(struct bed *b)
{
    struct reply r = list(b, "configmaps", "resourceVersion=abc");

    check_refusal(b, "a version that is none", &r, 400, "BadRequest",
                  "invalid resource version: *");
    r = list(b, "configmaps", "resourceVersionMatch=Exact");
    check_refusal(b, "a match without a version", &r, 422, "Invalid",
                  "ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Forbidden: "
                  "resourceVersionMatch is forbidden unless resourceVersion is provided");
    r = list(b, "configmaps", "resourceVersion=5&resourceVersionMatch=Zz");
    check_refusal(b, "a match that is none", &r, 422, "Invalid", NULL);
    r = list(b, "configmaps", "resourceVersion=0&resourceVersionMatch=Exact");
    check_refusal(b, "exactly 0", &r, 422, "Invalid", NULL);
    r = list(b, "configmaps", "limit=2&continue=zzz");
    check_refusal(b, "a page token that is none", &r, 400, "BadRequest", "*");
    r = list(b, "configmaps", "fieldSelector=spec.foo%3Dx");
    check_refusal(b, "a field that is none", &r, 400, "BadRequest",
                  "\"spec.foo\" is not a known field selector: *");
}

static void all_namespaces(struct bed *b)
{
    const char *ns = another_namespace(b, "b");
    struct reply r;

    make_configmap(b, "mine", bed_text(b, ",\"labels\":{\"case\":\"%s\"}", b->ns), "");
    r = bed_do(
        b, "POST", at_in(b, ns, "configmaps", NULL),
        bed_text(b, "{\"metadata\":{\"name\":\"theirs\",\"labels\":{\"case\":\"%s\"}}}", b->ns));
    check_code(b, "create", &r, 201);
    r = bed_do(b, "GET", bed_text(b, "/api/v1/configmaps?labelSelector=case%%3D%s", b->ns), NULL);
    check_str(b, "names: keys are sorted, not namespaces", "theirs mine", names(b, &r));
}

/* --- versions --- */

static void from_cache(struct bed *b)
{
    struct reply made, r;

    make_some(b, 2);
    made = make_configmap(b, "last", "", "");
    r = list(b, "configmaps",
             bed_text(b, "resourceVersion=%s&resourceVersionMatch=NotOlderThan", rv_of(&made)));
    check_code(b, "not older than now", &r, 200);
    check_str(b, "not older than now", "a0 a1 last", names(b, &r));
    r = list(b, "configmaps", "resourceVersion=0");
    check_code(b, "any version", &r, 200);
}

static void future(struct bed *b)
{
    struct reply r =
        list(b, "configmaps", "resourceVersion=99999999&resourceVersionMatch=NotOlderThan");

    check_refusal(b, "list", &r, 504, "Timeout",
                  "Timeout: Too large resource version: 99999999, current: *");
    check_cause(b, "list", &r, "ResourceVersionTooLarge", NULL);
    check_at(b, &r, "details|retryAfterSeconds", "1");
    check_int(b, "Retry-After", 1000, r.retry_after_ms);
    check(b, "it takes three seconds", r.took >= 2900 * BED_MS && r.took < 5 * BED_S);
}

static void exact(struct bed *b)
{
    struct reply before, r;

    make_some(b, 2);
    before = list(b, "configmaps", "");
    make_configmap(b, "later", "", "");
    bed_do(b, "DELETE", at(b, "configmaps", "a0"), NULL);
    r = list(b, "configmaps",
             bed_text(b, "resourceVersion=%s&resourceVersionMatch=Exact", rv_of(&before)));
    check_code(b, "list", &r, 200);
    check_str(b, "names", "a0 a1", names(b, &r));
    check_at(b, &r, "metadata|resourceVersion", rv_of(&before));
}

static void exact_forgotten(struct bed *b)
{
    struct reply r;

    make_environment(b, "a");
    b->ops->compact(b);
    r = list(b, "environments", "resourceVersion=2&resourceVersionMatch=Exact");
    check_refusal(b, "list", &r, 410, "Expired",
                  "The resourceVersion for the provided list is too old.");
}

const struct contract_case list_cases[] = {
    {"an empty list", empty},
    {"items of built-in kinds do not name their kind", kinds_of_items},
    {"items are sorted", sorted},
    {"selectors", selectors},
    {"queries that make no sense are refused", bad_queries},
    {"a list of all namespaces", all_namespaces},
    {"lists not older than a version", from_cache},
    {"a version of the future is 504 after three seconds", future},
    {"a list at an exact version", exact},
    {"an exact version that is forgotten is 410", exact_forgotten},
    {0}};

/* --- pages --- */

static const char *token_of(const struct reply *r)
{
    return rco_str_or_empty(sim_tree_str(r->json, "metadata|continue"));
}

static void pages(struct bed *b)
{
    struct reply first, r;

    make_some(b, 5);
    first = list(b, "configmaps", "limit=2");
    check_str(b, "first page", "a0 a1", names(b, &first));
    check_at(b, &first, "metadata|remainingItemCount", "3");
    make_configmap(b, "a9", "", "");
    bed_do(b, "DELETE", at(b, "configmaps", "a3"), NULL);
    r = list(b, "configmaps", bed_text(b, "limit=2&continue=%s", token_of(&first)));
    check_str(b, "second page", "a2 a3", names(b, &r));
    check_at(b, &r, "metadata|resourceVersion", rv_of(&first));
    check_at(b, &r, "metadata|remainingItemCount", "1");
    r = list(b, "configmaps", bed_text(b, "limit=2&continue=%s", token_of(&r)));
    check_str(b, "last page", "a4", names(b, &r));
    check_at(b, &r, "metadata|continue", NULL);
    check_at(b, &r, "metadata|resourceVersion", rv_of(&first));
}

static void exact_fit(struct bed *b)
{
    struct reply r;

    make_some(b, 2);
    r = list(b, "configmaps", "limit=2");
    check_str(b, "the page", "a0 a1", names(b, &r));
    check_at(b, &r, "metadata|continue", NULL);
    check_at(b, &r, "metadata|remainingItemCount", NULL);
}

static void with_selector(struct bed *b)
{
    struct reply r;

    make_some(b, 6);
    r = list(b, "configmaps", "limit=2&labelSelector=half%3D0");
    check_str(b, "first page", "a0 a2", names(b, &r));
    check_at(b, &r, "metadata|remainingItemCount", NULL);
    r = list(b, "configmaps",
             bed_text(b, "limit=2&labelSelector=half%%3D0&continue=%s", token_of(&r)));
    check_str(b, "second page", "a4", names(b, &r));
    check_at(b, &r, "metadata|continue", NULL);
}

static void version_with_token(struct bed *b)
{
    struct reply r;

    make_some(b, 3);
    r = list(b, "configmaps", "limit=2");
    r = list(b, "configmaps", bed_text(b, "limit=2&resourceVersion=5&continue=%s", token_of(&r)));
    check_refusal(b, "list", &r, 400, "BadRequest",
                  "specifying resource version is not allowed when using continue");
}

static void limit_of_any_version(struct bed *b)
{
    struct reply made, r;

    make_some(b, 2);
    made = make_configmap(b, "last", "", "");
    r = list(
        b, "configmaps",
        bed_text(b, "limit=2&resourceVersion=%s&resourceVersionMatch=NotOlderThan", rv_of(&made)));
    check_str(b, "not older than", "a0 a1", names(b, &r));
    r = list(b, "configmaps", bed_text(b, "limit=2&continue=%s", token_of(&r)));
    check_str(b, "its second page", "last", names(b, &r));
}

static void forgotten(struct bed *b)
{
    struct reply r;

    make_environment(b, "a");
    make_environment(b, "b");
    b->ops->compact(b);
    r = list(b, "environments", bed_text(b, "limit=1&continue=%s", b->ops->old_token(b, "a")));
    check_refusal(
        b, "list", &r, 410, "Expired",
        "The provided continue parameter is too old to display a consistent list result. *");
    check(b, "it offers another token", sim_tree_str(r.json, "metadata|continue") != NULL);
}

const struct contract_case page_cases[] = {
    {"pages show one version", pages},
    {"a page that fits is the last", exact_fit},
    {"pages with a selector do not count the rest", with_selector},
    {"a version with a page token is 400", version_with_token},
    {"pages of a list not older than a version", limit_of_any_version},
    {"a page token that is forgotten is 410", forgotten},
    {0}};
