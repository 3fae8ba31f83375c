/* The end of a namespace. */
#include "check.h"

static void marked(struct bed *b)
{
    const char *ns = another_namespace(b, "b");
    struct reply r = bed_do(b, "GET", at(b, "namespaces", ns), NULL);

    check_at(b, &r, "status|phase", "Active");
    check(b, "its own finalizer", sim_tree_has(r.json, "spec|finalizers", "kubernetes"));
    check_at(b, &r, "metadata|labels|kubernetes.io/metadata.name", ns);
    r = bed_do(b, "DELETE", at(b, "namespaces", ns), NULL);
    check_code(b, "delete", &r, 200);
    check_at(b, &r, "kind", "Namespace");
    check_at(b, &r, "status|phase", "Terminating");
    check(b, "it is marked", sim_tree_str(r.json, "metadata|deletionTimestamp") != NULL);
    check(b, "it waits by its own finalizer",
          sim_tree_has(r.json, "spec|finalizers", "kubernetes"));
    check(b, "and by no other", !sim_tree_get(r.json, "metadata|finalizers"));
}

static void refuses(struct bed *b)
{
    const char *ns = another_namespace(b, "b");
    struct reply r = bed_do(b, "POST", at_in(b, ns, "configmaps", NULL),
                            "{\"metadata\":{\"name\":\"a\",\"finalizers\":[\"a.example.com/x\"]}}");

    check_code(b, "create", &r, 201);
    bed_do(b, "DELETE", at(b, "namespaces", ns), NULL);
    r = bed_do(b, "POST", at_in(b, ns, "configmaps", NULL), "{\"metadata\":{\"name\":\"c\"}}");
    check_refusal(
        b, "create", &r, 403, "Forbidden",
        bed_text(b,
                 "configmaps \"c\" is forbidden: unable to create new content in namespace "
                 "%s because it is being terminated",
                 ns));
    check_details(b, "create", &r, "c", NULL, "configmaps");
    check_cause(b, "create", &r, "NamespaceTerminating", "metadata.namespace");
    r = bed_do(b, "POST", at_in(b, ns, "configmaps", NULL), "{\"metadata\":{\"name\":\"a\"}}");
    check_refusal(b, "create of a taken name", &r, 403, "Forbidden", NULL);
    r = bed_do(b, "PATCH", at_in(b, ns, "configmaps", "a"), "{\"data\":{\"k\":\"v\"}}");
    check_code(b, "changes are allowed", &r, 200);
    bed_do(b, "PATCH", at_in(b, ns, "configmaps", "a"), "{\"metadata\":{\"finalizers\":null}}");
}

static bool is_marked(const struct reply *r)
{
    return sim_tree_get(r->json, "metadata|deletionTimestamp") != NULL;
}

static void empties(struct bed *b)
{
    const char *ns = another_namespace(b, "b");
    struct reply r;

    bed_do(b, "POST", at_in(b, ns, "configmaps", NULL),
           "{\"metadata\":{\"name\":\"held\",\"finalizers\":[\"a.example.com/x\"]}}");
    bed_do(b, "POST", at_in(b, ns, "configmaps", NULL), "{\"metadata\":{\"name\":\"plain\"}}");
    bed_do(b, "DELETE", at(b, "namespaces", ns), NULL);
    check(b, "its contents go", bed_poll_gone(b, at_in(b, ns, "configmaps", "plain")));
    r = bed_poll(b, at_in(b, ns, "configmaps", "held"), is_marked);
    check(b, "what is held is marked", is_marked(&r));
    r = bed_do(b, "GET", at(b, "namespaces", ns), NULL);
    check_code(b, "it waits for that", &r, 200);
    bed_do(b, "PATCH", at_in(b, ns, "configmaps", "held"), "{\"metadata\":{\"finalizers\":null}}");
    check(b, "then it goes", bed_poll_gone(b, at(b, "namespaces", ns)));
}

const struct contract_case namespace_cases[] = {
    {"a deleted namespace is Terminating at once", marked},
    {"nothing is made in a namespace that ends", refuses},
    {"a namespace goes after its contents", empties},
    {0}};
