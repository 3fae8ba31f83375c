#include "bundle.h"

#include "base/str.h"
#include "pulumi/value.h"
#include "json/writer.h"

#include <string.h>

static const char format[] = "rco-plan/1";

void rco_bundle_write(const void *plan, size_t plan_len, const void *manifest, size_t manifest_len,
                      struct rco_buf *out)
{
    struct rco_json_writer w;
    rco_json_writer_init(&w, out);
    rco_json_begin_object(&w);
    rco_json_kv_string(&w, "format", format);
    rco_json_kv_int(&w, "plan", (int64_t)plan_len);
    rco_json_kv_int(&w, "manifest", (int64_t)manifest_len);
    rco_json_end_object(&w);
    rco_buf_addc(out, '\n');
    rco_buf_add(out, plan, plan_len);
    rco_buf_add(out, manifest, manifest_len);
}

int rco_bundle_read(const struct rco_buf *text, const char **ret_plan, size_t *ret_plan_len,
                    const char **ret_manifest, size_t *ret_manifest_len, struct rco_error *err)
{
    rco_autoarena a = RCO_ARENA_INIT;
    struct rco_value *head;
    const char *nl =
        text->len ? memchr(text->data, '\n', text->len < 1024 ? text->len : 1024) : NULL;
    if (!nl)
        return rco_error_set(err, RCO_EINVALID, "plan artifact: no header");
    size_t start = (size_t)(nl - text->data) + 1, rest = text->len - start;
    if (rco_value_parse(text->data, start - 1, &a, &head, err) < 0)
        return rco_error_wrap(err, "plan artifact");
    int64_t plan = rco_value_int(head, "plan", -1), manifest = rco_value_int(head, "manifest", -1);
    if (!rco_streq(rco_value_text(head, "format"), format) || plan < 0 || manifest < 0 ||
        plan > RCO_BUNDLE_MAX || manifest > RCO_BUNDLE_MAX ||
        (size_t)plan + (size_t)manifest != rest)
        return rco_error_set(err, RCO_EINVALID,
                             "plan artifact: not of a form that this runner reads (%s)", format);
    *ret_plan = text->data + start;
    *ret_plan_len = (size_t)plan;
    *ret_manifest = *ret_plan + plan;
    *ret_manifest_len = (size_t)manifest;
    return 0;
}

bool rco_bundle_changes_outputs(const char *plan, size_t n)
{
    rco_autoarena a = RCO_ARENA_INIT;
    struct rco_error err = RCO_ERROR_INIT;
    struct rco_value *v;
    if (rco_value_parse(plan, n, &a, &v, &err) < 0)
        return true;
    const struct rco_value *plans = rco_value_get(v, "resourcePlans");
    for (const struct rco_value *p = plans ? plans->first : NULL; p; p = p->next) {
        const struct rco_value *goal = rco_value_get(p, "goal");
        const struct rco_value *diff = rco_value_get(goal, "outputDiff");
        if (rco_streq(rco_value_text(goal, "type"), "pulumi:pulumi:Stack") && diff &&
            diff->type == RCO_VALUE_OBJECT && diff->len > 0)
            return true;
    }
    return false;
}
