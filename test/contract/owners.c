/* What the garbage collector does with owners and what they own. */
#include "check.h"

#include <string.h>

static const char *owned(struct bed *b, const char *name, const char *uid, const char *more)
{
    return bed_text(b,
                    ",\"ownerReferences\":[{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"name\":"
                    "\"%s\",\"uid\":\"%s\"%s}]",
                    name, uid, more);
}

static void background(struct bed *b)
{
    struct reply owner = make_configmap(b, "owner", "", ""), r;

    make_configmap(b, "child", owned(b, "owner", uid_of(&owner), ""), "");
    r = bed_do(b, "DELETE", at(b, "configmaps", "owner"), "{\"propagationPolicy\":\"Background\"}");
    check_at(b, &r, "kind", "Status");
    r = bed_do(b, "GET", at(b, "configmaps", "owner"), NULL);
    check_code(b, "the owner goes at once", &r, 404);
    check(b, "what it owned goes", bed_poll_gone(b, at(b, "configmaps", "child")));
}

static void chain(struct bed *b)
{
    struct reply owner = make_configmap(b, "owner", "", ""), child;

    child = make_configmap(b, "child", owned(b, "owner", uid_of(&owner), ""), "");
    make_configmap(b, "grandchild", owned(b, "child", uid_of(&child), ""), "");
    bed_do(b, "DELETE", at(b, "configmaps", "owner"), NULL);
    check(b, "what is owned by what was owned goes",
          bed_poll_gone(b, at(b, "configmaps", "grandchild")));
}

static void never_was(struct bed *b)
{
    make_configmap(b, "child", owned(b, "owner", "99999999-2222-4333-8444-555555555555", ""), "");
    check(b, "it goes", bed_poll_gone(b, at(b, "configmaps", "child")));
}

static void other_uid(struct bed *b)
{
    struct reply r;

    make_configmap(b, "owner", "", "");
    make_configmap(b, "child", owned(b, "owner", "99999999-2222-4333-8444-555555555555", ""), "");
    check(b, "a namesake is no owner", bed_poll_gone(b, at(b, "configmaps", "child")));
    r = bed_do(b, "GET", at(b, "configmaps", "owner"), NULL);
    check_code(b, "the namesake stays", &r, 200);
}

static void other_namespace(struct bed *b)
{
    struct reply owner = make_configmap(b, "owner", "", "");
    const char *ns = another_namespace(b, "b");
    struct reply r = bed_do(b, "POST", at_in(b, ns, "configmaps", NULL),
                            bed_text(b, "{\"metadata\":{\"name\":\"child\"%s}}",
                                     owned(b, "owner", uid_of(&owner), "")));

    check_code(b, "create", &r, 201);
    check(b, "an owner elsewhere is none", bed_poll_gone(b, at_in(b, ns, "configmaps", "child")));
}

static bool has_one_owner(const struct reply *r)
{
    const struct rco_value *owners = sim_tree_get(r->json, "metadata|ownerReferences");

    return owners && owners->len == 1;
}

static void two_owners(struct bed *b)
{
    struct reply one = make_configmap(b, "one", "", ""), two = make_configmap(b, "two", "", ""), r;

    make_configmap(b, "child",
                   bed_text(b,
                            ",\"ownerReferences\":[{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\","
                            "\"name\":\"one\",\"uid\":\"%s\"},{\"apiVersion\":\"v1\",\"kind\":"
                            "\"ConfigMap\",\"name\":\"two\",\"uid\":\"%s\"}]",
                            uid_of(&one), uid_of(&two)),
                   "");
    bed_do(b, "DELETE", at(b, "configmaps", "one"), NULL);
    r = bed_poll(b, at(b, "configmaps", "child"), has_one_owner);
    check_code(b, "it stays", &r, 200);
    check(b, "and forgets the one", has_one_owner(&r));
    bed_do(b, "DELETE", at(b, "configmaps", "two"), NULL);
    check(b, "without the other it goes", bed_poll_gone(b, at(b, "configmaps", "child")));
}

static bool is_marked(const struct reply *r)
{
    return sim_tree_get(r->json, "metadata|deletionTimestamp") != NULL;
}

static void foreground(struct bed *b)
{
    struct reply owner = make_configmap(b, "owner", "", ""), r;

    make_configmap(b, "child",
                   bed_text(b, ",\"finalizers\":[\"a.example.com/x\"]%s",
                            owned(b, "owner", uid_of(&owner), ",\"blockOwnerDeletion\":true")),
                   "");
    r = bed_do(b, "DELETE", at(b, "configmaps", "owner"), "{\"propagationPolicy\":\"Foreground\"}");
    check_code(b, "delete", &r, 200);
    check_at(b, &r, "kind", "ConfigMap");
    check(b, "it waits by a finalizer",
          sim_tree_has(r.json, "metadata|finalizers", "foregroundDeletion"));
    r = bed_poll(b, at(b, "configmaps", "child"), is_marked);
    check(b, "what it owns is deleted first", is_marked(&r));
    bed_sleep(b, 300 * BED_MS);
    r = bed_do(b, "GET", at(b, "configmaps", "owner"), NULL);
    check_code(b, "it waits", &r, 200);
    bed_do(b, "PATCH", at(b, "configmaps", "child"), "{\"metadata\":{\"finalizers\":null}}");
    check(b, "then it goes", bed_poll_gone(b, at(b, "configmaps", "owner")));
}

static void foreground_without_block(struct bed *b)
{
    struct reply owner = make_configmap(b, "owner", "", ""), r;

    make_configmap(b, "child",
                   bed_text(b, ",\"finalizers\":[\"a.example.com/x\"]%s",
                            owned(b, "owner", uid_of(&owner), "")),
                   "");
    bed_do(b, "DELETE", at(b, "configmaps", "owner"), "{\"propagationPolicy\":\"Foreground\"}");
    check(b, "it does not wait", bed_poll_gone(b, at(b, "configmaps", "owner")));
    r = bed_poll(b, at(b, "configmaps", "child"), is_marked);
    check(b, "what it owned is deleted", is_marked(&r));
}

static void owner_waits_for_its_own(struct bed *b)
{
    struct reply owner = make_configmap(b, "owner", ",\"finalizers\":[\"a.example.com/x\"]", ""), r;

    make_configmap(b, "child", owned(b, "owner", uid_of(&owner), ""), "");
    bed_do(b, "DELETE", at(b, "configmaps", "owner"), "{\"propagationPolicy\":\"Background\"}");
    bed_sleep(b, 1500 * BED_MS);
    r = bed_do(b, "GET", at(b, "configmaps", "child"), NULL);
    check_code(b, "while the owner is held, it stays", &r, 200);
    bed_do(b, "PATCH", at(b, "configmaps", "owner"), "{\"metadata\":{\"finalizers\":null}}");
    check(b, "then it goes", bed_poll_gone(b, at(b, "configmaps", "child")));
}

const struct contract_case owner_cases[] = {
    {"background: what is owned goes after its owner", background},
    {"owned by what was owned goes too", chain},
    {"an owner that never was: it goes", never_was},
    {"an owner's name with another uid: it goes", other_uid},
    {"an owner in another namespace: it goes", other_namespace},
    {"two owners: it stays with the other", two_owners},
    {"foreground: the owner waits for what blocks", foreground},
    {"foreground: it does not wait for what does not block", foreground_without_block},
    {"a held owner keeps what it owns", owner_waits_for_its_own},
    {0}};
