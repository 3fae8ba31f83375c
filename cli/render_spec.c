#include "render.h"

#include "base/str.h"
#include "render_parts.h"
#include "table.h"

#include <inttypes.h>
#include <string.h>

static void add_version(struct rco_buf *out, const char *label, bool has, int64_t version,
                        rco_wall now, rco_wall at)
{
    rco_render_label(out, label);
    if (!has) {
        rco_buf_adds(out, "nothing yet");
        return;
    }
    rco_buf_addf(out, "version %" PRId64, version);
    if (at) {
        rco_buf_adds(out, ", ");
        rco_text_age(out, now, at);
        rco_buf_adds(out, " ago");
    }
}

static void add_program(const struct rco_render *r, const struct rco_depspec *s,
                        struct rco_buf *out)
{
    rco_render_label(out, "Program");
    rco_text_clean(out, s->spec.program_ref);
    rco_buf_adds(out, " @ ");
    if (r->detail == RCO_DETAIL_WIDE)
        rco_text_clean(out, s->spec.program_version);
    else
        rco_render_short(out, s->spec.program_version);
    rco_buf_addc(out, '\n');
}

static void add_run(const struct rco_render *r, const char *label, const struct rco_run *run,
                    struct rco_buf *out)
{
    if (!run)
        return;
    rco_render_label(out, label);
    rco_text_clean(out, run->metadata.name);
    rco_buf_adds(out, "  ");
    rco_text_ink(out, r->style, rco_render_state_ink(run->status.state),
                 run->status.state ? rco_run_state_name(run->status.state) : "New");
    if (run->status.has_plan_receipt) {
        rco_buf_adds(out, "  ");
        rco_render_counts(r->style, run->status.plan_receipt.adds, run->status.plan_receipt.changes,
                          run->status.plan_receipt.deletes, run->status.plan_receipt.replaces, out);
    }
    if (run->status.completed_at) {
        rco_buf_adds(out, "  in ");
        rco_text_span(out, run->metadata.creation, run->status.completed_at);
    }
    rco_buf_addc(out, '\n');
}

/* The receipt with the outputs of what is applied, or NULL. */
static const struct rco_apply_receipt *outputs_of(const struct rco_facts *f)
{
    const struct rco_run *run = f->outputs_of ? f->outputs_of : f->applied;

    return run ? &run->status.apply_receipt : NULL;
}

static void add_outputs(const struct rco_apply_receipt *receipt, struct rco_buf *out)
{
    for (size_t i = 0; receipt && i < receipt->n_outputs; i++) {
        const struct rco_kv *kv = &receipt->outputs[i];

        rco_render_label(out, i ? "" : "Outputs");
        rco_text_clean(out, kv->key);
        rco_buf_adds(out, " = ");
        rco_text_clean(out, kv->value);
        rco_buf_addc(out, '\n');
    }
}

static void add_environment(const struct rco_facts *f, struct rco_buf *out)
{
    rco_render_label(out, "Environment");
    rco_text_clean(out, f->spec->spec.environment_id);
    if (f->env)
        rco_buf_addf(out, " (%s)", rco_env_class_name(f->env->spec.class));
    else if (f->env_missing)
        rco_buf_adds(out, " (does not exist)");
    rco_buf_addc(out, '\n');
}

void rco_render_spec(const struct rco_render *r, const struct rco_facts *f,
                     const struct rco_explanation *x, struct rco_buf *out)
{
    const struct rco_depspec_status *s = &f->spec->status;

    rco_text_ink(out, r->style, RCO_INK_BOLD, f->spec->metadata.name);
    rco_buf_adds(out, "  ");
    rco_render_health(r->style, x, out);
    rco_buf_adds(out, "  ");
    rco_text_clean(out, x->what);
    rco_buf_addc(out, '\n');
    add_environment(f, out);
    add_program(r, f->spec, out);
    add_version(out, "Declared", s->has_version, s->version, r->now, s->declared_at);
    rco_buf_addc(out, '\n');
    add_version(out, "Applied", s->has_applied_version, s->applied_version, r->now, s->applied_at);
    if (s->has_applied_run_ref) {
        rco_buf_adds(out, ", by run ");
        rco_text_clean(out, s->applied_run_ref.name);
    }
    rco_buf_addc(out, '\n');
    add_run(r, "Running", f->run, out);
    if (f->last != f->run)
        add_run(r, "Last run", f->last, out);
    add_outputs(outputs_of(f), out);
    if (s->has_open_findings && s->open_findings) {
        rco_render_label(out, "Drift");
        rco_buf_addf(out, "%" PRId64 " open findings\n", s->open_findings);
    }
    rco_render_reasons(r->style, x, out);
}

static void spec_cells(const struct rco_render *r, struct rco_table *t,
                       const struct rco_render_row *row)
{
    const struct rco_depspec *s = row->facts.spec;
    const struct rco_explanation *x = &row->explanation;
    rco_autobuf commit = RCO_BUF_INIT, why = RCO_BUF_INIT;

    rco_table_row(t);
    if (r->scope == RCO_SHOW_ALL_NAMESPACES)
        rco_table_cell(t, s->metadata.ns);
    rco_table_cell(t, s->metadata.name);
    rco_table_cell(t, s->spec.environment_id);
    rco_table_cell_int(t, s->status.has_version, s->status.version);
    rco_table_cell_int(t, s->status.has_applied_version, s->status.applied_version);
    rco_table_cell_ink(t, r->style, rco_render_ink(x->health), x->word);
    rco_table_cell_age(t, r->now, s->metadata.creation);
    if (r->detail == RCO_DETAIL_WIDE) {
        rco_render_short(&commit, s->spec.program_version);
        rco_table_cell(t, rco_buf_str(&commit));
        rco_table_cell(t, s->status.has_current_run_ref ? s->status.current_run_ref.name
                          : s->status.has_last_run      ? s->status.last_run.name
                                                        : NULL);
    }
    rco_text_cut(&why, x->n_why ? x->why[0] : x->what, RCO_RENDER_MAX_WHY);
    rco_table_cell(t, x->health == RCO_HEALTH_FINE ? NULL : rco_buf_str(&why));
}

static const struct rco_render_row *first_trouble(const struct rco_render_row *rows, size_t n)
{
    const struct rco_render_row *found = NULL;

    for (size_t i = 0; i < n; i++) {
        if (rows[i].explanation.health == RCO_HEALTH_FINE)
            continue;
        if (!found || rows[i].explanation.health > found->explanation.health)
            found = &rows[i];
    }
    return found;
}

void rco_render_specs(const struct rco_render *r, const struct rco_render_row *rows, size_t n,
                      struct rco_buf *out)
{
    static const char *const headers[] = {"NAME",    "ENVIRONMENT", "VERSION",
                                          "APPLIED", "STATE",       "AGE"};
    const struct rco_render_row *trouble = first_trouble(rows, n);
    rco_autoarena a = RCO_ARENA_INIT;
    struct rco_table t;

    rco_table_init(&t, &a);
    if (r->scope == RCO_SHOW_ALL_NAMESPACES)
        rco_table_column(&t, "NAMESPACE");
    for (size_t i = 0; i < RCO_ARRAY_LEN(headers); i++)
        rco_table_column(&t, headers[i]);
    if (r->detail == RCO_DETAIL_WIDE) {
        rco_table_column(&t, "COMMIT");
        rco_table_column(&t, "RUN");
    }
    rco_table_column(&t, "WHY");
    for (size_t i = 0; i < n; i++)
        spec_cells(r, &t, &rows[i]);
    rco_table_print(&t, r->style, 0, out);
    if (!trouble)
        return;
    rco_text_ink(out, r->style, RCO_INK_BOLD, "Next: ");
    rco_buf_adds(out, "kubectl runtimecloud status ");
    rco_text_clean(out, trouble->facts.spec->metadata.name);
    rco_text_clean(out, trouble->facts.flags);
    rco_buf_addc(out, '\n');
}

static void json_spec(struct rco_json_writer *w, const struct rco_facts *f,
                      const struct rco_explanation *x)
{
    const struct rco_depspec *s = f->spec;

    rco_json_kv_string(w, "name", s->metadata.name);
    rco_json_kv_string(w, "namespace", s->metadata.ns);
    rco_json_kv_string(w, "environment", s->spec.environment_id);
    if (f->env)
        rco_json_kv_string(w, "class", rco_env_class_name(f->env->spec.class));
    rco_json_kv_string(w, "program", s->spec.program_ref);
    rco_json_kv_string(w, "commit", s->spec.program_version);
    rco_json_kv_bool(w, "suspended", s->spec.suspend);
    rco_render_json_explanation(w, x);
    if (s->status.has_version)
        rco_json_kv_int(w, "version", s->status.version);
    rco_render_json_time(w, "declaredAt", s->status.declared_at);
    if (s->status.has_applied_version)
        rco_json_kv_int(w, "appliedVersion", s->status.applied_version);
    rco_render_json_time(w, "appliedAt", s->status.applied_at);
    rco_render_json_run(w, "currentRun", f->run);
    rco_render_json_run(w, "lastRun", f->last);
    rco_render_json_run(w, "appliedRun", f->applied);
    const struct rco_apply_receipt *receipt = outputs_of(f);
    if (!receipt || !receipt->n_outputs)
        return;
    rco_json_kv_object(w, "outputs");
    for (size_t i = 0; i < receipt->n_outputs; i++)
        rco_json_kv_string(w, receipt->outputs[i].key, receipt->outputs[i].value);
    rco_json_end_object(w);
}

void rco_render_spec_json(const struct rco_facts *f, const struct rco_explanation *x,
                          struct rco_buf *out)
{
    struct rco_json_writer w;

    rco_render_json_begin(&w, "SpecificationStatus", out);
    json_spec(&w, f, x);
    rco_json_end_object(&w);
}

static void json_rows(struct rco_json_writer *w, const struct rco_render_row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        rco_json_begin_object(w);
        json_spec(w, &rows[i].facts, &rows[i].explanation);
        rco_json_end_object(w);
    }
}

void rco_render_specs_json(const struct rco_render_row *rows, size_t n, struct rco_buf *out)
{
    struct rco_json_writer w;

    rco_render_json_begin(&w, "SpecificationStatusList", out);
    rco_json_kv_array(&w, "items");
    json_rows(&w, rows, n);
    rco_json_end_array(&w);
    rco_json_end_object(&w);
}

/* --- Environment ----------------------------------------------------------------------------- */

static void add_backend(const struct rco_facts *f, struct rco_buf *out)
{
    const struct rco_env *e = f->env;

    rco_render_label(out, "State");
    if (!rco_str_empty(e->spec.backend.url)) {
        rco_text_clean(out, e->spec.backend.url);
    } else if (e->status.has_state_claim) {
        rco_buf_adds(out, "volume claim ");
        rco_text_clean(out, e->status.state_claim.name);
        if (f->claim)
            rco_buf_addf(out, " (%s)", rco_pvc_phase_name(f->claim->status.phase));
    } else {
        rco_buf_adds(out, "no volume claim yet");
    }
    rco_buf_addc(out, '\n');
}

void rco_render_env(const struct rco_render *r, const struct rco_facts *f,
                    const struct rco_explanation *x, const struct rco_render_row *rows,
                    size_t n_rows, struct rco_buf *out)
{
    const struct rco_env *e = f->env;

    rco_text_ink(out, r->style, RCO_INK_BOLD, e->metadata.name);
    rco_buf_adds(out, "  ");
    rco_render_health(r->style, x, out);
    rco_buf_adds(out, "  ");
    rco_text_clean(out, x->what);
    rco_buf_addc(out, '\n');
    rco_render_field(out, "Class", rco_env_class_name(e->spec.class));
    rco_render_field(out, "Tenant", e->spec.tenant_id);
    rco_render_field(out, "Project", e->spec.project_id);
    rco_render_field(out, "Region", e->spec.region);
    add_backend(f, out);
    if (e->status.has_passphrase)
        rco_render_field(out, "Passphrase", e->status.passphrase.name);
    rco_render_field(out, "Runner", e->spec.runner.image);
    for (size_t i = 0; i < e->spec.git.n_allowed_repositories; i++)
        rco_render_field(out, i ? "" : "Programs", e->spec.git.allowed_repositories[i]);
    rco_render_reasons(r->style, x, out);
    rco_buf_addc(out, '\n');
    if (!n_rows)
        rco_buf_adds(out, "No specification deploys to it yet.\n");
    else
        rco_render_specs(r, rows, n_rows, out);
}

void rco_render_env_json(const struct rco_facts *f, const struct rco_explanation *x,
                         const struct rco_render_row *rows, size_t n_rows, struct rco_buf *out)
{
    struct rco_json_writer w;

    rco_render_json_begin(&w, "EnvironmentStatus", out);
    rco_json_kv_string(&w, "name", f->env->metadata.name);
    rco_json_kv_string(&w, "namespace", f->env->metadata.ns);
    rco_json_kv_string(&w, "class", rco_env_class_name(f->env->spec.class));
    rco_render_json_explanation(&w, x);
    rco_json_kv_array(&w, "specifications");
    json_rows(&w, rows, n_rows);
    rco_json_end_array(&w);
    rco_json_end_object(&w);
}

void rco_render_why(const struct rco_render *r, const char *name, const struct rco_explanation *x,
                    struct rco_buf *out)
{
    struct rco_explanation all = *x;

    rco_text_ink(out, r->style, RCO_INK_BOLD, name);
    rco_buf_adds(out, "  ");
    rco_render_health(r->style, x, out);
    rco_buf_addc(out, '\n');
    rco_text_clean(out, x->what);
    rco_buf_addc(out, '\n');
    if (!all.who)
        all.who = "nobody has to do anything";
    rco_render_reasons(r->style, &all, out);
}

void rco_render_why_json(const char *kind, const struct rco_meta *meta,
                         const struct rco_explanation *x, struct rco_buf *out)
{
    struct rco_json_writer w;

    rco_render_json_begin(&w, "Explanation", out);
    rco_json_kv_object(&w, "object");
    rco_json_kv_string(&w, "kind", kind);
    rco_json_kv_string(&w, "namespace", meta->ns);
    rco_json_kv_string(&w, "name", meta->name);
    rco_json_end_object(&w);
    rco_render_json_explanation(&w, x);
    rco_json_end_object(&w);
}
