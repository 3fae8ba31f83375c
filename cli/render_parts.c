#include "render_parts.h"

#include "base/str.h"

#include <inttypes.h>
#include <string.h>

void rco_render_label(struct rco_buf *out, const char *label)
{
    rco_buf_addf(out, "  %-*s", RCO_RENDER_LABEL_WIDTH, label);
}

void rco_render_field(struct rco_buf *out, const char *label, const char *text)
{
    if (rco_str_empty(text))
        return;
    rco_render_label(out, label);
    rco_text_clean(out, text);
    rco_buf_addc(out, '\n');
}

enum rco_ink rco_render_ink(enum rco_health health)
{
    return health == RCO_HEALTH_FINE  ? RCO_INK_GOOD
           : health == RCO_HEALTH_BAD ? RCO_INK_BAD
                                      : RCO_INK_BUSY;
}

enum rco_ink rco_render_state_ink(enum rco_run_state state)
{
    switch (state) {
    case RCO_RUN_STATE_APPLIED:
        return RCO_INK_GOOD;
    case RCO_RUN_STATE_FAILED:
    case RCO_RUN_STATE_REJECTED:
        return RCO_INK_BAD;
    case RCO_RUN_STATE_CANCELLED:
        return RCO_INK_DIM;
    default:
        return RCO_INK_BUSY;
    }
}

void rco_render_health(const struct rco_style *s, const struct rco_explanation *x,
                       struct rco_buf *out)
{
    static const char *const glyphs[] = {[RCO_HEALTH_FINE] = "\u2714 ",
                                         [RCO_HEALTH_BUSY] = "\u25ba ",
                                         [RCO_HEALTH_WAITING] = "\u25ce ",
                                         [RCO_HEALTH_BAD] = "\u2717 "};
    rco_autobuf text = RCO_BUF_INIT;

    rco_buf_addf(&text, "%s%s", s->unicode ? glyphs[x->health] : "", x->word);
    rco_text_ink(out, s, rco_render_ink(x->health), rco_buf_str(&text));
}

void rco_render_reasons(const struct rco_style *s, const struct rco_explanation *x,
                        struct rco_buf *out)
{
    for (size_t i = 0; i < x->n_why; i++) {
        rco_text_ink(out, s, RCO_INK_BOLD, i ? "     " : "Why: ");
        rco_text_clean(out, x->why[i]);
        rco_buf_addc(out, '\n');
    }
    if (x->who) {
        rco_text_ink(out, s, RCO_INK_BOLD, "Who: ");
        rco_text_clean(out, x->who);
        rco_buf_addc(out, '\n');
    }
    for (size_t i = 0; i < x->n_next; i++) {
        rco_text_ink(out, s, RCO_INK_BOLD, i ? "      " : "Next: ");
        rco_text_clean(out, x->next[i]);
        rco_buf_addc(out, '\n');
    }
}

void rco_render_counts(const struct rco_style *s, int64_t adds, int64_t changes, int64_t deletes,
                       int64_t replaces, struct rco_buf *out)
{
    rco_buf_addf(out, "+%" PRId64 " ~%" PRId64 " -%" PRId64 " %s%" PRId64, adds, changes, deletes,
                 s->unicode ? "\u00b1" : "+-", replaces);
}

void rco_render_short(struct rco_buf *out, const char *hex)
{
    rco_autofree char *cut = rco_str_empty(hex) ? NULL : rco_strndup(hex, 12);

    rco_text_clean(out, cut ? cut : "-");
}

void rco_render_json_begin(struct rco_json_writer *w, const char *kind, struct rco_buf *out)
{
    rco_json_writer_init(w, out);
    rco_json_begin_object(w);
    rco_json_kv_string(w, "apiVersion", "cli.runtimecloud.io/v1");
    rco_json_kv_string(w, "kind", kind);
}

static void json_strings(struct rco_json_writer *w, const char *key, const char *const *items,
                         size_t n)
{
    rco_json_kv_array(w, key);
    for (size_t i = 0; i < n; i++)
        rco_json_string(w, items[i]);
    rco_json_end_array(w);
}

void rco_render_json_explanation(struct rco_json_writer *w, const struct rco_explanation *x)
{
    rco_json_kv_string(w, "health", rco_health_name(x->health));
    rco_json_kv_string(w, "state", x->word);
    rco_json_kv_string(w, "message", x->what);
    json_strings(w, "why", x->why, x->n_why);
    rco_json_kv_string_opt(w, "who", x->who);
    json_strings(w, "next", x->next, x->n_next);
}

void rco_render_json_time(struct rco_json_writer *w, const char *key, rco_wall t)
{
    char text[RCO_TIME_STR_MAX];

    if (!t)
        return;
    rco_wall_format(t, text);
    rco_json_kv_string(w, key, text);
}

void rco_render_json_run(struct rco_json_writer *w, const char *key, const struct rco_run *run)
{
    if (!run)
        return;
    rco_json_kv_object(w, key);
    rco_json_kv_string(w, "name", run->metadata.name);
    rco_json_kv_string(w, "uid", run->metadata.uid);
    rco_json_kv_string(w, "state", rco_run_state_name(run->status.state));
    rco_json_kv_string_opt(w, "reason", run->status.reason);
    rco_json_kv_int(w, "version", run->spec.specification_version);
    if (run->status.has_plan_receipt) {
        const struct rco_plan_receipt *p = &run->status.plan_receipt;

        rco_json_kv_object(w, "plan");
        rco_json_kv_int(w, "adds", p->adds);
        rco_json_kv_int(w, "changes", p->changes);
        rco_json_kv_int(w, "deletes", p->deletes);
        rco_json_kv_int(w, "replaces", p->replaces);
        rco_json_end_object(w);
    }
    if (run->status.has_failure) {
        rco_json_kv_object(w, "failure");
        rco_json_kv_string(w, "class", rco_failure_class_name(run->status.failure.class));
        rco_json_kv_string_opt(w, "message", run->status.failure.message);
        rco_json_kv_string_opt(w, "urn", run->status.failure.urn);
        rco_json_end_object(w);
    }
    rco_render_json_time(w, "completedAt", run->status.completed_at);
    rco_json_end_object(w);
}
