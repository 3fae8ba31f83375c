#include "decide/common.h"

#include "plan/plan.h"
#include "pulumi/failure.h"

#include <string.h>

const char *rco_namespace_tenant(const struct rco_namespace *ns,
                                 const struct rco_decide_config *config)
{
    const char *label = ns ? rco_meta_label(&ns->metadata, RCO_LABEL_TENANT) : NULL;
    if (!rco_str_empty(label))
        return label;
    return rco_str_empty(config->default_tenant) ? NULL : config->default_tenant;
}

bool rco_namespace_is_unlabelled(const struct rco_namespace *ns)
{
    return !ns || rco_str_empty(rco_meta_label(&ns->metadata, RCO_LABEL_TENANT));
}

const struct rco_outcome *rco_outcome_find(const struct rco_outcome *items, size_t n,
                                           enum rco_kind kind, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (items[i].kind == kind && rco_streq(items[i].name, name))
            return &items[i];
    return NULL;
}

int64_t rco_run_number(const char *name)
{
    const char *dash = name ? strrchr(name, '-') : NULL;
    if (!dash || !dash[1] || dash[2] < '1' || dash[2] > '9')
        return 0;
    struct rco_error err = RCO_ERROR_INIT;
    int64_t n;
    return rco_parse_int64(dash + 2, &n, &err) == 0 ? n : 0;
}

const char *rco_or(const char *value, const char *fallback)
{
    return rco_str_empty(value) ? fallback : value;
}

int64_t rco_or_int(int64_t value, int64_t fallback)
{
    return value ? value : fallback;
}

const char *rco_remedy_of(enum rco_failure_class class, const char *reason, struct rco_arena *a)
{
    if (rco_streq(reason, RCO_REASON_STACK_CLAIMED) ||
        rco_streq(reason, RCO_REASON_BACKEND_CHANGED))
        return "";
    if (rco_streq(reason, RCO_REASON_MISSING_SECRET))
        return "; a Secret that appears later is found by itself";
    return rco_arena_printf(a, "; %s", rco_fail_row(class)->remedy);
}
