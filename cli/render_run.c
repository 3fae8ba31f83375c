#include "render.h"

#include "base/str.h"
#include "render_parts.h"
#include "table.h"

#include <inttypes.h>
#include <string.h>

#define MAX_MOMENTS 16

/* --- the table ------------------------------------------------------------------------------- */

static void duration_cell(struct rco_table *t, const struct rco_render *r,
                          const struct rco_run *run)
{
    rco_autobuf text = RCO_BUF_INIT;
    rco_wall end = run->status.completed_at;

    if (!end && !rco_run_state_is_final(run->status.state))
        end = r->now;
    rco_text_span(&text, run->metadata.creation, end);
    rco_table_cell(t, rco_buf_str(&text));
}

static void run_cells(const struct rco_render *r, struct rco_table *t, const struct rco_run *run)
{
    const struct rco_plan_receipt *p = &run->status.plan_receipt;
    bool planned = run->status.has_plan_receipt;

    rco_table_row(t);
    if (r->scope == RCO_SHOW_ALL_NAMESPACES)
        rco_table_cell(t, run->metadata.ns);
    rco_table_cell(t, run->metadata.name);
    rco_table_cell(t, run->spec.specification_ref.name);
    rco_table_cell_int(t, run->spec.has_specification_version, run->spec.specification_version);
    rco_table_cell(t, rco_run_kind_name(run->spec.kind));
    rco_table_cell_ink(t, r->style, rco_render_state_ink(run->status.state),
                       rco_run_state_name(run->status.state));
    rco_table_cell_int(t, planned, p->adds);
    rco_table_cell_int(t, planned, p->changes);
    rco_table_cell_int(t, planned, p->deletes);
    rco_table_cell_int(t, planned, p->replaces);
    rco_table_cell_age(t, r->now, run->metadata.creation);
    if (r->detail != RCO_DETAIL_WIDE)
        return;
    rco_autobuf commit = RCO_BUF_INIT, digest = RCO_BUF_INIT;
    rco_render_short(&commit, run->spec.snapshot.program.commit);
    rco_render_short(&digest, p->plan_digest);
    rco_table_cell(t, run->spec.environment_id);
    rco_table_cell(t, rco_buf_str(&commit));
    rco_table_cell(t, rco_buf_str(&digest));
    duration_cell(t, r, run);
    rco_table_cell(t, run->status.has_failure ? rco_failure_class_name(run->status.failure.class)
                                              : run->status.reason);
}

void rco_render_runs(const struct rco_render *r, const struct rco_run *const *runs, size_t n,
                     struct rco_buf *out)
{
    static const char *const headers[] = {"NAME", "SPEC",   "VERSION", "KIND",    "STATE",
                                          "ADD",  "CHANGE", "DELETE",  "REPLACE", "AGE"};
    static const char *const wide[] = {"ENVIRONMENT", "COMMIT", "DIGEST", "DURATION", "REASON"};
    rco_autoarena a = RCO_ARENA_INIT;
    struct rco_table t;

    rco_table_init(&t, &a);
    if (r->scope == RCO_SHOW_ALL_NAMESPACES)
        rco_table_column(&t, "NAMESPACE");
    for (size_t i = 0; i < RCO_ARRAY_LEN(headers); i++)
        rco_table_column(&t, headers[i]);
    for (size_t i = 0; r->detail == RCO_DETAIL_WIDE && i < RCO_ARRAY_LEN(wide); i++)
        rco_table_column(&t, wide[i]);
    for (size_t i = 0; i < n; i++)
        run_cells(r, &t, runs[i]);
    rco_table_print(&t, r->style, 0, out);
}

/* --- one run --------------------------------------------------------------------------------- */

struct moment {
    rco_wall at;
    const char *text;
};

static void add_moment(struct moment *m, size_t *n, rco_wall at, const char *text)
{
    size_t i = *n;

    if (!at || *n == MAX_MOMENTS)
        return;
    for (; i > 0 && m[i - 1].at > at; i--)
        m[i] = m[i - 1];
    m[i] = (struct moment){at, text};
    (*n)++;
}

static size_t collect_moments(const struct rco_style *style, const struct rco_run *run,
                              struct rco_arena *a, struct moment *m)
{
    const struct rco_run_status *s = &run->status;
    rco_autobuf counts = RCO_BUF_INIT;
    size_t n = 0;

    add_moment(m, &n, run->metadata.creation, "created");
    add_moment(m, &n, s->started_at, "taken up");
    if (s->has_plan_receipt) {
        rco_render_counts(style, s->plan_receipt.adds, s->plan_receipt.changes,
                          s->plan_receipt.deletes, s->plan_receipt.replaces, &counts);
        add_moment(m, &n, s->plan_receipt.planned_at,
                   rco_arena_printf(a, "planned: %s", rco_buf_str(&counts)));
    }
    if (s->has_engine)
        add_moment(m, &n, s->engine.started_at,
                   rco_arena_printf(a, "%s engine began in pod %s",
                                    rco_engine_phase_name(s->engine.phase),
                                    rco_str_or_empty(s->engine.pod_name)));
    if (s->completed_at)
        add_moment(m, &n, s->completed_at,
                   rco_arena_printf(a, "%s%s%s%s", rco_run_state_name(s->state),
                                    s->reason ? " (" : "", rco_str_or_empty(s->reason),
                                    s->reason ? ")" : ""));
    add_moment(m, &n, run->metadata.deletion, "deletion asked for");
    return n;
}

static void add_timeline(const struct rco_render *r, const struct rco_run *run, struct rco_buf *out)
{
    rco_autoarena a = RCO_ARENA_INIT;
    struct moment m[MAX_MOMENTS];
    size_t n = collect_moments(r->style, run, &a, m);

    rco_text_ink(out, r->style, RCO_INK_BOLD, "Timeline");
    rco_buf_adds(out, n ? "  (UTC, from " : "\n");
    if (n) {
        rco_text_time(out, m[0].at);
        rco_buf_adds(out, ")\n");
    }
    for (size_t i = 0; i < n; i++) {
        rco_autobuf span = RCO_BUF_INIT;

        rco_text_span(&span, m[0].at, m[i].at);
        rco_buf_adds(out, "  ");
        rco_text_clock(out, m[i].at);
        rco_buf_addf(out, "  %8s  ", rco_buf_str(&span));
        rco_text_clean(out, m[i].text);
        rco_buf_addc(out, '\n');
    }
}

/* "kubernetes:core/v1:ConfigMap  web-config" of a URN; a text that is none as it stands. */
static void add_urn(struct rco_buf *out, const char *urn)
{
    rco_autofree char *copy = rco_strdup(rco_str_or_empty(urn));
    char *name = NULL, *type = NULL, *dollar;

    if (rco_str_has_prefix(copy, "urn:pulumi:")) {
        char *at = strstr(copy, "::"); /* project */

        at = at ? strstr(at + 2, "::") : NULL; /* type */
        type = at ? at + 2 : NULL;
        at = type ? strstr(type, "::") : NULL;
        name = at ? at + 2 : NULL;
        if (at)
            *at = '\0';
    }
    if (!name) {
        rco_text_clean(out, copy);
        return;
    }
    dollar = strrchr(type, '$');
    rco_text_clean(out, dollar ? dollar + 1 : type);
    rco_buf_adds(out, "  ");
    rco_text_clean(out, name);
}

static const char *op_sign(const struct rco_style *s, const char *op)
{
    if (rco_str_has_prefix(op, "create-rep") || rco_streq(op, "replace") ||
        rco_str_has_prefix(op, "delete-rep"))
        return s->unicode ? "\u00b1 " : "+-";
    if (rco_streq(op, "create") || rco_streq(op, "import"))
        return "+ ";
    if (rco_streq(op, "update"))
        return "~ ";
    if (rco_str_has_prefix(op, "delete"))
        return "- ";
    return "  ";
}

static enum rco_ink op_ink(const char *op)
{
    return rco_streq(op, "create")   ? RCO_INK_GOOD
           : rco_streq(op, "update") ? RCO_INK_BUSY
                                     : RCO_INK_BAD;
}

static void add_types(const struct rco_render *r, const struct rco_plan_receipt *p,
                      struct rco_buf *out)
{
    rco_autoarena a = RCO_ARENA_INIT;
    static const char *const headers[] = {"TYPE", "ADD", "CHANGE", "DELETE", "REPLACE"};
    struct rco_table t;

    if (r->detail != RCO_DETAIL_WIDE || !p->n_types)
        return;
    rco_table_init(&t, &a);
    for (size_t i = 0; i < RCO_ARRAY_LEN(headers); i++)
        rco_table_column(&t, headers[i]);
    for (size_t i = 0; i < p->n_types; i++) {
        rco_table_row(&t);
        rco_table_cell(&t, p->types[i].type);
        rco_table_cell_int(&t, true, p->types[i].adds);
        rco_table_cell_int(&t, true, p->types[i].changes);
        rco_table_cell_int(&t, true, p->types[i].deletes);
        rco_table_cell_int(&t, true, p->types[i].replaces);
    }
    rco_table_print(&t, r->style, 2, out);
}

static void add_plan(const struct rco_render *r, const struct rco_run *run, struct rco_buf *out)
{
    const struct rco_plan_receipt *p = &run->status.plan_receipt;

    if (!run->status.has_plan_receipt)
        return;
    rco_text_ink(out, r->style, RCO_INK_BOLD, "Plan");
    rco_buf_addf(out,
                 "  %" PRId64 " to create, %" PRId64 " to change, %" PRId64 " to delete, %" PRId64
                 " to replace, %" PRId64 " stay\n",
                 p->adds, p->changes, p->deletes, p->replaces, p->sames);
    for (size_t i = 0; i < p->n_resources; i++) {
        rco_buf_adds(out, "  ");
        rco_text_ink(out, r->style, op_ink(p->resources[i].op),
                     op_sign(r->style, p->resources[i].op));
        rco_buf_addc(out, ' ');
        add_urn(out, p->resources[i].urn);
        rco_buf_addc(out, '\n');
    }
    if (p->truncated)
        rco_buf_adds(out, "  ... and more: the diff artifact has all of it\n");
    add_types(r, p, out);
    rco_render_label(out, "digest");
    if (r->detail == RCO_DETAIL_WIDE)
        rco_text_clean(out, p->plan_digest);
    else
        rco_render_short(out, p->plan_digest);
    rco_buf_addf(out, "  engine %s\n", rco_str_or_empty(p->engine_version));
    if (r->detail != RCO_DETAIL_WIDE)
        return;
    rco_render_field(out, "operations", p->operations_digest);
    rco_render_field(out, "base state", p->base_state_digest);
    rco_render_field(out, "workspace", p->workspace_digest);
    rco_render_field(out, "inputs", p->inputs_hash);
    rco_render_field(out, "image", p->image_digest);
    for (size_t i = 0; i < p->n_plugins; i++) {
        rco_autofree char *plugin = rco_asprintf("%s %s %s", rco_str_or_empty(p->plugins[i].kind),
                                                 rco_str_or_empty(p->plugins[i].name),
                                                 rco_str_or_empty(p->plugins[i].version));
        rco_render_field(out, i ? "" : "plugins", plugin);
    }
}

static void add_apply(const struct rco_render *r, const struct rco_run *run, struct rco_buf *out)
{
    const struct rco_apply_receipt *p = &run->status.apply_receipt;

    if (!run->status.has_apply_receipt)
        return;
    rco_text_ink(out, r->style, RCO_INK_BOLD, "Apply");
    rco_buf_addf(out, "  %s", rco_apply_result_name(p->result));
    if (!rco_str_empty(p->duration)) {
        rco_buf_adds(out, " in ");
        rco_text_clean(out, p->duration);
    }
    rco_buf_addf(out,
                 ": %" PRId64 " created, %" PRId64 " changed, %" PRId64 " deleted, %" PRId64
                 " replaced\n",
                 p->adds, p->changes, p->deletes, p->replaces);
    for (size_t i = 0; i < p->n_outputs; i++) {
        rco_render_label(out, i ? "" : "outputs");
        rco_text_clean(out, p->outputs[i].key);
        rco_buf_adds(out, " = ");
        rco_text_clean(out, p->outputs[i].value);
        rco_buf_addc(out, '\n');
    }
    if (r->detail == RCO_DETAIL_WIDE)
        rco_render_field(out, "state", p->state_digest);
}

static void add_failure(const struct rco_render *r, const struct rco_run *run, struct rco_buf *out)
{
    if (!run->status.has_failure)
        return;
    rco_text_ink(out, r->style, RCO_INK_BOLD, "Failure");
    rco_buf_adds(out, "  ");
    rco_text_ink(out, r->style, RCO_INK_BAD, rco_failure_class_name(run->status.failure.class));
    rco_buf_addc(out, '\n');
    rco_render_field(out, "message", run->status.failure.message);
    rco_render_field(out, "resource", run->status.failure.urn);
}

static void add_artifact(const struct rco_artifact *artifact, struct rco_buf *out)
{
    rco_buf_addf(out, "  %-6s %-8s ", rco_engine_phase_name(artifact->phase),
                 rco_artifact_kind_name(artifact->kind));
    rco_text_size(out, artifact->size);
    rco_buf_adds(out, artifact->truncated ? " (cut at the limit)" : "");
    rco_buf_adds(out, "  sha256 ");
    rco_render_short(out, artifact->digest);
    rco_buf_addc(out, '\n');
}

static bool is_listed(const struct rco_run *run, const struct rco_artifact *artifact)
{
    for (size_t i = 0; i < run->status.n_artifacts; i++)
        if (rco_streq(run->status.artifacts[i].digest, artifact->digest) &&
            run->status.artifacts[i].kind == artifact->kind)
            return true;
    return false;
}

static void add_artifacts(const struct rco_render *r, const struct rco_run *run,
                          struct rco_buf *out)
{
    const struct rco_run_status *s = &run->status;

    if (!s->n_artifacts && !s->plan_receipt.has_artifact && !s->apply_receipt.n_artifacts)
        return;
    rco_text_ink(out, r->style, RCO_INK_BOLD, "Artifacts");
    rco_buf_addc(out, '\n');
    for (size_t i = 0; i < s->n_artifacts; i++)
        add_artifact(&s->artifacts[i], out);
    if (s->plan_receipt.has_artifact && !is_listed(run, &s->plan_receipt.artifact))
        add_artifact(&s->plan_receipt.artifact, out);
    for (size_t i = 0; i < s->apply_receipt.n_artifacts; i++)
        if (!is_listed(run, &s->apply_receipt.artifacts[i]))
            add_artifact(&s->apply_receipt.artifacts[i], out);
}

static void add_identity(const struct rco_render *r, const struct rco_run *run, struct rco_buf *out)
{
    const struct rco_resolved *snapshot = &run->spec.snapshot;

    rco_render_label(out, "Spec");
    rco_text_clean(out, run->spec.specification_ref.name);
    rco_buf_addf(out, ", version %" PRId64 " (%s)\n", run->spec.specification_version,
                 rco_run_kind_name(run->spec.kind));
    rco_render_label(out, "Environment");
    rco_text_clean(out, run->spec.environment_id);
    rco_buf_addf(out, " (%s)\n", rco_env_class_name(run->spec.environment_class));
    rco_render_label(out, "Program");
    rco_text_clean(out, snapshot->program.repository);
    rco_buf_adds(out, "//");
    rco_text_clean(out, snapshot->program.path);
    rco_buf_adds(out, " @ ");
    if (r->detail == RCO_DETAIL_WIDE)
        rco_text_clean(out, snapshot->program.commit);
    else
        rco_render_short(out, snapshot->program.commit);
    rco_buf_addc(out, '\n');
    rco_render_label(out, "Stack");
    rco_text_clean(out, snapshot->stack_name);
    if (!rco_str_empty(run->status.engine.project)) {
        rco_buf_adds(out, " of project ");
        rco_text_clean(out, run->status.engine.project);
    }
    rco_buf_addc(out, '\n');
    if (r->detail != RCO_DETAIL_WIDE)
        return;
    rco_render_field(out, "Image", snapshot->image);
    rco_render_field(out, "State",
                     snapshot->backend.url ? snapshot->backend.url : snapshot->backend.claim_name);
    rco_render_field(out, "Accounts", snapshot->apply_service_account_name);
}

/* The reasons that the screen has not said yet. */
static void add_reasons(const struct rco_render *r, const struct rco_run *run,
                        const struct rco_explanation *x, struct rco_buf *out)
{
    struct rco_explanation rest = *x;
    rco_autobuf message = RCO_BUF_INIT;

    rco_text_clean(&message, run->status.failure.message);
    rest.n_why = 0;
    for (size_t i = 0; i < x->n_why; i++)
        if (!rco_streq(x->why[i], rco_buf_str(&message)) &&
            !rco_str_has_prefix(x->why[i], "resource: "))
            rest.why[rest.n_why++] = x->why[i];
    rco_render_reasons(r->style, &rest, out);
}

void rco_render_run(const struct rco_render *r, const struct rco_facts *f,
                    const struct rco_explanation *x, struct rco_buf *out)
{
    const struct rco_run *run = f->run;

    rco_text_ink(out, r->style, RCO_INK_BOLD, run->metadata.name);
    rco_buf_adds(out, "  ");
    rco_render_health(r->style, x, out);
    rco_buf_adds(out, "  ");
    rco_text_clean(out, x->what);
    rco_buf_addc(out, '\n');
    add_identity(r, run, out);
    add_timeline(r, run, out);
    add_plan(r, run, out);
    add_apply(r, run, out);
    add_failure(r, run, out);
    add_artifacts(r, run, out);
    add_reasons(r, run, x, out);
}

void rco_render_progress(const struct rco_render *r, const struct rco_facts *f, struct rco_buf *out)
{
    const struct rco_run *run = f->run;
    rco_autoarena a = RCO_ARENA_INIT;
    rco_autobuf state = RCO_BUF_INIT;
    struct rco_explanation x;

    rco_explain_run(f, &a, &x);
    rco_buf_addf(&state, "%-16s",
                 run->status.state ? rco_run_state_name(run->status.state) : "New");
    rco_text_ink(out, r->style, rco_render_state_ink(run->status.state), rco_buf_str(&state));
    rco_buf_addc(out, ' ');
    if (rco_run_state_is_final(run->status.state))
        rco_text_clean(out, x.n_why && x.health != RCO_HEALTH_FINE ? x.why[0] : x.what);
    else if (x.n_why)
        rco_text_clean(out, x.why[0]);
    else
        rco_text_clean(out, x.what);
}
