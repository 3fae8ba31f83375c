#include "guard.h"

#include "base/file.h"
#include "base/str.h"
#include "bundle.h"
#include "pulumi/receipt.h"
#include "workspace.h"

#include <string.h>

#define CHUNK (512 * 1024)
#define MAX_LOCKS 64

static int read_chunks(struct rco_engine *e, struct rco_buf *out, struct rco_failure *f)
{
    int64_t size = e->r->job.expected.plan_file_size;
    struct rco_error err = RCO_ERROR_INIT;
    if (size <= 0 || size > RCO_BUNDLE_MAX)
        return rco_failure_set(f, RCO_FAILURE_CLASS_INTERNAL, "RCO_JOB: .expected.planFileSize");
    for (int64_t i = 0; i * CHUNK < size; i++) {
        const char *path = rco_runner_pathf(e->r, "plan/%lld", (long long)i);
        if (rco_file_read(path, CHUNK, out, &err) < 0)
            return rco_failure_set(f, RCO_FAILURE_CLASS_PLAN_STALE,
                                   "the plan file is incomplete: its part %lld is missing",
                                   (long long)i);
    }
    return 0;
}

int rco_guard_plan_file(struct rco_engine *e, const char **ret_file, struct rco_buf *ret_manifest,
                        struct rco_failure *f)
{
    rco_autobuf text = RCO_BUF_INIT;
    struct rco_error err = RCO_ERROR_INIT;
    char hex[RCO_SHA256_HEX];
    const char *plan, *manifest;
    size_t plan_len, manifest_len;
    if (read_chunks(e, &text, f) < 0)
        return -1;
    rco_sha256_hex(text.data, text.len, hex);
    e->done.plan_file_digest = rco_arena_strdup(&e->r->arena, hex);
    if (!rco_streq(hex, e->r->job.expected.plan_file_digest))
        return rco_failure_set(
            f, RCO_FAILURE_CLASS_PLAN_STALE,
            "the plan file is not the one that was planned (digest %.12s, not %.12s)", hex,
            rco_str_or_empty(e->r->job.expected.plan_file_digest));
    if (rco_bundle_read(&text, &plan, &plan_len, &manifest, &manifest_len, &err) < 0)
        return rco_failure_error(f, RCO_FAILURE_CLASS_PLAN_STALE, &err, "plan file");
    rco_buf_add(ret_manifest, manifest, manifest_len);
    e->done.outputs_changed = rco_bundle_changes_outputs(plan, plan_len);
    *ret_file = rco_arena_printf(&e->r->arena, "%s/plan.json", e->r->tmpdir);
    if (rco_file_write_atomic(*ret_file, plan, plan_len, 0600, &err) < 0)
        return rco_failure_error(f, RCO_FAILURE_CLASS_INTERNAL, &err, "plan file");
    return 0;
}

static int name_workspace(struct rco_engine *e, const struct rco_buf *want, struct rco_failure *f)
{
    rco_autobuf got = RCO_BUF_INIT, path = RCO_BUF_INIT;
    struct rco_error err = RCO_ERROR_INIT;
    if (rco_file_read(rco_runner_path(e->r, "install/manifest"), RCO_WORKSPACE_MAX_SHORT, &got,
                      &err) == 0)
        rco_workspace_first_difference(rco_buf_str(want), rco_buf_str(&got), &path);
    return rco_failure_set(f, RCO_FAILURE_CLASS_PLAN_STALE,
                           "the workspace differs from the one that was planned, first at %s",
                           path.len ? rco_buf_str(&path) : "a path that is not recorded");
}

static int explain(struct rco_engine *e, enum rco_plan_component c, const struct rco_buf *manifest,
                   const struct rco_plan_components *want, const struct rco_plan_components *got,
                   struct rco_failure *f)
{
    switch (c) {
    case RCO_COMPONENT_WORKSPACE:
        return name_workspace(e, manifest, f);
    case RCO_COMPONENT_BASE_STATE:
        return rco_failure_set(
            f, RCO_FAILURE_CLASS_PLAN_STALE,
            "the base state of stack %s has changed since the plan was made: someone "
            "else has applied to it",
            e->r->job.stack);
    case RCO_COMPONENT_COMMIT:
        return rco_failure_set(f, RCO_FAILURE_CLASS_PLAN_STALE, "the commit is %s, planned was %s",
                               got->commit, rco_str_or_empty(want->commit));
    case RCO_COMPONENT_PROJECT:
        return rco_failure_set(f, RCO_FAILURE_CLASS_PLAN_STALE,
                               "the Pulumi project is %s, planned was %s", got->project,
                               rco_str_or_empty(want->project));
    case RCO_COMPONENT_ENGINE:
        return rco_failure_set(f, RCO_FAILURE_CLASS_PLAN_STALE,
                               "the engine version is %s, planned was %s", got->engine_version,
                               rco_str_or_empty(want->engine_version));
    default:
        return rco_failure_set(f, RCO_FAILURE_CLASS_PLAN_STALE,
                               "%s changed since the plan was made", rco_plan_component_name(c));
    }
}

int rco_guard_check(struct rco_engine *e, const struct rco_buf *manifest, struct rco_failure *f)
{
    const struct rco_runner_job_expected *x = &e->r->job.expected;
    struct rco_arena *a = &e->r->arena;
    const struct rco_plan_components want = {
        .commit = x->commit,
        .project = x->project,
        .workspace_digest = x->workspace_digest,
        .plan_file_digest = x->plan_file_digest,
        .base_state_digest = x->base_state_digest,
        .inputs_hash = x->inputs_hash,
        .engine_version = x->engine_version,
        .plugins = rco_receipt_plugin_texts(x->plugins, x->n_plugins, a),
        .n_plugins = x->n_plugins};
    const struct rco_plan_components got = {
        .commit = e->fetched.commit,
        .project = e->fetched.project,
        .workspace_digest = e->installed.workspace_digest,
        .plan_file_digest = e->done.plan_file_digest,
        .base_state_digest = e->done.base_state_digest,
        .inputs_hash = e->done.inputs_hash,
        .engine_version = e->done.engine_version,
        .plugins = rco_receipt_plugin_texts(e->done.plugins, e->done.n_plugins, a),
        .n_plugins = e->done.n_plugins};
    enum rco_plan_component c = rco_plan_first_difference(&want, &got);
    return c == RCO_COMPONENT_NONE ? 0 : explain(e, c, manifest, &want, &got, f);
}

bool rco_guard_lock_holders(const char *text, struct rco_arena *a, struct rco_lock_holders *ret)
{
    static const char start[] = "the stack is currently locked by ", by[] = ": created by ";
    const char *at = strstr(text, start);
    struct rco_error err = RCO_ERROR_INIT;
    int64_t want;
    *ret = (struct rco_lock_holders){0};
    if (!at)
        return false;
    at += sizeof(start) - 1;
    const char *number = rco_arena_strndup(a, at, strspn(at, "0123456789"));
    if (rco_parse_int64(number, &want, &err) < 0 || want < 1 || want > MAX_LOCKS)
        return false;
    ret->hosts = rco_arena_array(a, (size_t)want, sizeof(*ret->hosts));
    /* "  URL: created by USER@HOST (pid N) at TIME": one line for each lock, and all must be read.
     */
    while ((at = strstr(at, by)) && ret->n < (size_t)want) {
        at += sizeof(by) - 1;
        size_t line = strcspn(at, "\r\n");
        const char *pid = memmem(at, line, " (pid ", 6);
        const char *host = pid ? memrchr(at, '@', (size_t)(pid - at)) : NULL;
        if (!host || host + 1 == pid)
            return false;
        ret->hosts[ret->n++] = rco_arena_strndup(a, host + 1, (size_t)(pid - host) - 1);
        at += line;
    }
    return ret->n == (size_t)want;
}
