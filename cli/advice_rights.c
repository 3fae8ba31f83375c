/* The rights that a message says are missing, as commands that give them. */
#include "advice_pattern.h"
#include "advice_words.h"
#include "base/cleanup.h"
#include "base/str.h"

#include <string.h>

#define READS "get,list,watch"
#define ALL "get,list,watch,create,update,patch,delete"

static bool is_account(const char *account, const char *of_run)
{
    return rco_streq(account, rco_str_empty(of_run) ? "default" : of_run);
}

/* What is proposed for VERB: those that are needed together, so that the next run does not fail for
 * the next of them. NULL for escalate, bind, impersonate and others, which are nobody's to propose.
 */
static const char *verbs_with(const char *verb, bool subresource)
{
    static const struct {
        const char *verb, *with;
    } rows[] = {{"get", READS},  {"list", READS}, {"watch", READS}, {"create", ALL},
                {"update", ALL}, {"patch", ALL},  {"delete", ALL}};

    for (size_t i = 0; i < RCO_ARRAY_LEN(rows); i++)
        if (rco_streq(verb, rows[i].verb))
            return subresource ? rows[i].verb : rows[i].with;
    return NULL;
}

/* "deployments.apps/scale", as kubectl wants it, of "deployments/scale" in "apps". */
static const char *add_target(struct rco_arena *a, const char *resource, const char *group)
{
    const char *slash = strchr(resource, '/');
    size_t n = slash ? (size_t)(slash - resource) : strlen(resource);

    return rco_arena_printf(a, "%.*s%s%s%s", (int)n, resource, *group ? "." : "", group,
                            slash ? slash : "");
}

/* What Pulumi reads to see that a workload or a Service is ready. A right on one of these is given
 * for all of them: it looks at each and waits without a word where it may not. */
static bool is_read_by_waits(const char *resource, const char *group)
{
    static const struct {
        const char *resource, *group;
    } rows[] = {{"pods", ""},
                {"events", ""},
                {"endpoints", ""},
                {"persistentvolumeclaims", ""},
                {"replicasets", "apps"},
                {"endpointslices", "discovery.k8s.io"}};

    for (size_t i = 0; i < RCO_ARRAY_LEN(rows); i++)
        if (rco_streq(resource, rows[i].resource) && rco_streq(group, rows[i].group))
            return true;
    return false;
}

static bool is_waited_for(const char *resource, const char *group)
{
    return rco_streq(group, "apps") || rco_streq(group, "batch") ||
           (rco_streq(resource, "services") && !*group);
}

static bool reads_only(const char *verbs)
{
    return rco_streq(verbs, READS);
}

static const char *role_name(struct rco_arena *a, const char *account, const char *verb,
                             const char *verbs, const char *target)
{
    const char *word = rco_streq(verbs, ALL) ? "change" : reads_only(verbs) ? "read" : verb;
    char *role = rco_arena_printf(a, "%s-%s-%s", account, word, target);

    for (char *c = role; *c; c++)
        if (*c == '/')
            *c = '-';
    return role;
}

bool rco_advice_fits_account(const struct rco_advice_about *about, struct rco_arena *a,
                             struct rco_advice_found *found)
{
    const struct rco_resolved *s = &about->run->spec.snapshot;
    const char *account = rco_advice_name(found, "account"), *verb = rco_advice_name(found, "verb");
    const char *resource = rco_advice_name(found, "resource");
    const char *group = rco_advice_name(found, "group");
    const char *verbs = verbs_with(verb, strchr(resource, '/'));
    bool waits;

    if (!rco_streq(rco_advice_name(found, "accountns"), about->run->metadata.ns) || !verbs ||
        !(is_account(account, s->apply_service_account_name) ||
          is_account(account, s->plan_service_account_name)))
        return false;
    waits = reads_only(verbs) && is_read_by_waits(resource, group);
    const char *target = waits ? RCO_ADVICE_WAIT_RESOURCES : add_target(a, resource, group);
    rco_advice_add_name(found, "target", target);
    rco_advice_add_name(found, "verbs", verbs);
    rco_advice_add_name(found, "role",
                        waits ? rco_arena_printf(a, RCO_ADVICE_WAIT_ROLE("%s"), account)
                              : role_name(a, account, verb, verbs, target));
    return true;
}

bool rco_advice_fits_workload(const struct rco_advice_about *about, struct rco_arena *a,
                              struct rco_advice_found *found)
{
    const char *resource = rco_advice_name(found, "resource");
    const char *group = rco_advice_name(found, "group");

    return is_waited_for(resource, group) && !is_read_by_waits(resource, group) &&
           rco_advice_fits_account(about, a, found);
}
