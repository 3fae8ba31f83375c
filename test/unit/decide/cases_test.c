/* Decision cases: each file under test/cases/<decision>/ gives what was observed and wants a row,
 * actions and a status. Every row of every table has at least one case. CONTRIBUTING.md explains
 * the format. */
#include "world.h"

#include "decide/table.h"

#include <dirent.h>

#define CASES "test/cases"
#define MAX_CASES 400

struct decision {
    const char *dir, *key_kind;
    enum rco_kind kind;
    const struct rco_table *(*table)(void);
};

static const struct decision decisions[] = {
    {"environment", "Environment", RCO_KIND_ENV, rco_env_table},
    {"deployment", "DeploymentSpecification", RCO_KIND_DEPSPEC, rco_depspec_table},
    {"run", "ProvisioningRun", RCO_KIND_RUN, rco_run_table},
};

struct covered {
    char rows[MAX_CASES][64];
    size_t n;
};

static const char *file_text(struct world *w, const char *name)
{
    return rco_arena_printf(&w->a, CASES "/base/%s.yaml", name);
}

/* An object of a base or a case: new, changed by merge patch, or gone. */
static void put_object(struct world *w, const struct rco_value *given)
{
    enum rco_kind kind = world_kind(rco_value_text(given, "kind"));
    const char *name = tree_string(given, "metadata.name");
    const char *ns = tree_string(given, "metadata.namespace");
    struct world_object *o =
        world_find(w, kind, rco_kind_info(kind)->namespaced ? rco_or(ns, "team-a") : "", name);
    assert_non_null(name);
    if (rco_value_bool(given, "gone")) {
        assert_non_null(o);
        o->gone = true;
        return;
    }
    if (o) {
        tree_merge(&w->a, o->tree, given);
        o->decoded = NULL;
        return;
    }
    world_add(w, kind, tree_copy(&w->a, given));
}

static void load_base(struct world *w, const char *name)
{
    struct rco_error err = RCO_ERROR_INIT;
    struct rco_value *base = tree_load(&w->a, file_text(w, name));
    const char *extends = rco_value_text(base, "extends");
    const char *now = rco_value_text(base, "now");
    if (extends)
        load_base(w, extends);
    if (now)
        assert_int_equal(rco_wall_parse(now, &w->now, &err), 0);
    const struct rco_value *objects = rco_value_get(base, "objects");
    for (const struct rco_value *o = objects ? objects->first : NULL; o; o = o->next)
        put_object(w, o);
}

static void load_outcomes(struct world *w, const struct decision *d, const char *ns,
                          const char *name, const struct rco_value *list)
{
    static const char *const words[] = {"created", "exists", "same", "foreign", "refused"};
    struct world_outcomes *out = world_outcomes(w, d->kind, ns, name);
    for (const struct rco_value *x = list ? list->first : NULL; x; x = x->next) {
        struct rco_outcome *o = &out->items[out->n++];
        o->kind = world_kind(rco_value_text(x, "kind"));
        o->name = rco_value_text(x, "name");
        o->uid = rco_value_text(x, "uid");
        o->message = rco_value_text(x, "message");
        bool known = false;
        for (size_t i = 0; i < RCO_ARRAY_LEN(words); i++)
            if (rco_streq(rco_value_text(x, "type"), words[i])) {
                o->type = (enum rco_outcome_type)i;
                known = true;
            }
        assert_true(known);
    }
}

/* The body of an exchange: the template with the case's changes; "raw" stands for what cannot be
 * read. */
static void *load_body(struct world *w, const struct rco_value *x, const struct rco_schema *schema)
{
    struct rco_error err = RCO_ERROR_INIT;
    const char *template = rco_value_text(x, "template");
    const struct rco_value *changes = rco_value_get(x, "body");
    if (rco_value_get(x, "error"))
        return NULL;
    struct rco_value *tree =
        template ? tree_load(&w->a, file_text(w, template)) : tree_parse(&w->a, "{}");
    if (changes)
        tree_merge(&w->a, tree, changes);
    char *text = tree_text(&w->a, tree);
    void *obj = rco_arena_alloc(&w->a, schema->size);
    if (rco_codec_decode(schema, text, strlen(text), &w->a, obj, &err) != 0)
        fail_msg("%s: %s", schema->name, err.msg);
    return obj;
}

static void load_mailbox(struct world *w, const struct rco_value *given, const char *run)
{
    const struct rco_value *starts = rco_value_get(given, "starts");
    const struct rco_value *receipts = rco_value_get(given, "receipts");
    for (const struct rco_value *x = starts ? starts->first : NULL; x; x = x->next) {
        w->starts[w->n_starts].run = run;
        w->starts[w->n_starts].live = true;
        w->starts[w->n_starts].start = (struct rco_mailbox_start){
            .exchange = 100 + w->n_starts,
            .phase = rco_phase_parse(rco_value_text(x, "phase")),
            .pod_name = rco_value_text(x, "pod"),
            .pod_uid = rco_value_text(x, "uid"),
            .request = load_body(w, x, &rco_runner_start_schema),
            .error = rco_value_text(x, "error"),
        };
        w->n_starts++;
    }
    for (const struct rco_value *x = receipts ? receipts->first : NULL; x; x = x->next) {
        w->receipts[w->n_receipts].run = run;
        w->receipts[w->n_receipts].live = true;
        w->receipts[w->n_receipts].receipt = (struct rco_mailbox_receipt){
            .exchange = 200 + w->n_receipts,
            .phase = rco_phase_parse(rco_value_text(x, "phase")),
            .pod_name = rco_value_text(x, "pod"),
            .pod_uid = rco_value_text(x, "uid"),
            .receipt = load_body(w, x, &rco_runner_receipt_schema),
            .error = rco_value_text(x, "error"),
        };
        w->n_receipts++;
    }
}

static void load_given(struct world *w, const struct decision *d, const struct rco_value *given,
                       const char *ns, const char *name)
{
    struct rco_error err = RCO_ERROR_INIT;
    const struct rco_value *objects = rco_value_get(given, "objects");
    const struct rco_value *config = rco_value_get(given, "config");
    const char *after = rco_value_text(given, "after");
    int64_t ns_later = 0;
    if (rco_value_text(given, "base"))
        load_base(w, rco_value_text(given, "base"));
    for (const struct rco_value *o = objects ? objects->first : NULL; o; o = o->next)
        put_object(w, o);
    if (after)
        assert_int_equal(rco_duration_parse(after, &ns_later, &err), 0);
    w->now += ns_later / 1000;
    if (config && rco_value_get(config, "defaultTenant"))
        w->config.default_tenant = rco_value_text(config, "defaultTenant");
    w->config.history_limit = config ? rco_value_int(config, "historyLimit", 0) : 0;
    load_outcomes(w, d, ns, name, rco_value_get(given, "outcomes"));
    load_mailbox(w, given, name);
}

/* ---- what came of it ---- */

/* The plan's actions as a JSON list of the shape that cases want. */
static struct rco_value *actions_tree(struct world *w)
{
    static const char *const words[] = {"create", "patch", "status", "delete", "absent", "current", "event", "reply"};
    rco_autobuf text = RCO_BUF_INIT;
    struct rco_json_writer j;
    rco_json_writer_init(&j, &text);
    rco_json_begin_array(&j);
    for (const struct rco_action *x = w->plan.first; x; x = x->next) {
        rco_json_begin_object(&j);
        rco_json_kv_string(&j, "do", words[x->type]);
        if (x->type == RCO_ACTION_REPLY) {
            rco_json_kv_int(&j, "status", x->http_status);
            rco_json_kv_int(&j, "exchange", (int64_t)x->mailbox);
        } else {
            rco_json_kv_string(&j, "kind", rco_kind_info(x->kind)->kind);
            rco_json_kv_string(&j, "name", x->name);
        }
        if (x->type == RCO_ACTION_EVENT) {
            rco_json_kv_string(&j, "type", x->event_type);
            rco_json_kv_string(&j, "reason", x->reason);
            rco_json_kv_string(&j, "note", x->note);
        }
        if (x->body) {
            rco_json_key(&j, "body");
            rco_json_raw(&j, x->body, x->body_len);
        }
        rco_json_end_object(&j);
    }
    rco_json_end_array(&j);
    return tree_parse(&w->a, rco_buf_str(&text));
}

/* The status as it is after the plan, conditions by type. */
static struct rco_value *status_tree(struct world *w, const struct decision *d, const char *ns,
                                     const char *name)
{
    struct world_object *o = world_find(w, d->kind, ns, name);
    struct rco_value *status = o && tree_get(o->tree, "status")
                                   ? tree_copy(&w->a, tree_get(o->tree, "status"))
                                   : tree_parse(&w->a, "{}");
    for (const struct rco_action *x = w->plan.first; x; x = x->next) {
        if (x->type != RCO_ACTION_PATCH_STATUS || x->kind != d->kind)
            continue;
        struct rco_value *patch = tree_parse_n(&w->a, x->body, x->body_len);
        status = tree_merge(&w->a, status, rco_value_get(patch, "status"));
    }
    const struct rco_value *list = rco_value_get(status, "conditions");
    struct rco_value *by_type = tree_parse(&w->a, "{}");
    for (const struct rco_value *c = list ? list->first : NULL; c; c = c->next)
        tree_put(&w->a, by_type, rco_value_text(c, "type"), tree_copy(&w->a, c));
    tree_put(&w->a, status, "conditions", by_type);
    return status;
}

static void compare(struct world *w, const char *path, const struct rco_value *want,
                    const struct rco_value *got, const char *what)
{
    rco_autobuf where = RCO_BUF_INIT;
    if (!want || tree_contains(want, got, what, &where))
        return;
    print_message("%s (row %s)\n", path, w->plan.row);
    print_message("  %s\n", rco_buf_str(&where));
    fail_msg("%s", path);
}

static void check_want(struct world *w, const struct decision *d, const char *path,
                       const struct rco_value *want, const char *ns, const char *name)
{
    struct rco_error err = RCO_ERROR_INIT;
    const char *row = rco_value_text(want, "row");
    const char *requeue = rco_value_text(want, "requeue");
    int64_t after = 0;
    if (!row)
        fail_msg("%s: want.row is missing", path);
    if (!rco_streq(row, w->plan.row))
        fail_msg("%s: want row %s, got %s", path, row, w->plan.row);
    compare(w, path, rco_value_get(want, "actions"), actions_tree(w), "actions");
    compare(w, path, rco_value_get(want, "status"), status_tree(w, d, ns, name), "status");
    if (requeue)
        assert_int_equal(rco_duration_parse(requeue, &after, &err), 0);
    if (requeue && after != w->plan.requeue_after_ns)
        fail_msg("%s: want requeue %s, got %lld ns", path, requeue,
                 (long long)w->plan.requeue_after_ns);
    if (!rco_value_get(want, "actions") && !rco_value_get(want, "status"))
        fail_msg("%s: want has neither actions nor status", path);
}

/* The object that is decided about: given.key, else the one of the bases. */
static const char *key_name(const struct decision *d, const struct rco_value *given)
{
    const char *key = rco_value_text(given, "key");
    if (key)
        return key;
    return d->kind == RCO_KIND_ENV       ? "dev"
           : d->kind == RCO_KIND_DEPSPEC ? "web"
                                         : "web-5b1d0-v1-b1";
}

/* What the caches leave out (decide/compact.h) is nothing that a decision reads. */
static void decide_whole(struct world *w, const struct decision *d, const char *path,
                         const char *name, const char *first)
{
    w->whole = true;
    for (size_t i = 0; i < w->n_objects; i++)
        w->objects[i].decoded = NULL;
    world_decide(w, d->kind, "team-a", name);
    const char *second = tree_text(&w->a, actions_tree(w));
    if (strcmp(first, second) != 0)
        fail_msg("%s: on whole objects the plan is %s", path, second);
}

/* A state only ever changes along the edges of the CRD. */
static void check_edge(struct world *w, const char *path, const char *ns, const char *name)
{
    struct world_object *o = world_find(w, RCO_KIND_RUN, ns, name);
    const struct rco_action *x = w->plan.first;
    while (x && x->type != RCO_ACTION_PATCH_STATUS)
        x = x->next;
    if (!o || !x || x->kind != RCO_KIND_RUN)
        return;
    const char *to = tree_string(tree_parse_n(&w->a, x->body, x->body_len), "status.state");
    const char *from = tree_string(o->tree, "status.state");
    if (to && !rco_run_state_may_become(rco_run_state_parse(from), rco_run_state_parse(to)))
        fail_msg("%s: %s must not become %s", path, from ? from : "nothing", to);
}

/* What waits at the gateway is answered after the writes it stands for, and nothing is written
 * after. */
static void check_order(struct world *w, const char *path)
{
    bool replied = false;
    for (const struct rco_action *x = w->plan.first; x; x = x->next) {
        if (replied && x->type != RCO_ACTION_REPLY)
            fail_msg("%s: a write stands behind a reply", path);
        replied |= x->type == RCO_ACTION_REPLY;
    }
}

static void run_case(const struct decision *d, const char *path, struct covered *covered)
{
    struct world *w = calloc(1, sizeof(*w));
    world_init(w);
    struct rco_value *file = tree_load(&w->a, path);
    const struct rco_value *given = rco_value_get(file, "given"),
                           *want = rco_value_get(file, "want");
    if (!rco_value_text(file, "case") || !given || !want)
        fail_msg("%s: needs case, given and want", path);
    const char *name = key_name(d, given);
    load_given(w, d, given, "team-a", name);
    world_decide(w, d->kind, "team-a", name);
    check_want(w, d, path, want, "team-a", name);
    check_edge(w, path, "team-a", name);
    check_order(w, path);
    /* Deciding again gives the same plan: nothing but what was observed goes in. */
    char *first = tree_text(&w->a, actions_tree(w));
    world_decide(w, d->kind, "team-a", name);
    assert_string_equal(first, tree_text(&w->a, actions_tree(w)));
    decide_whole(w, d, path, name, first);
    assert_true(covered->n < MAX_CASES);
    snprintf(covered->rows[covered->n++], sizeof(covered->rows[0]), "%s", w->plan.row);
    world_release(w);
    free(w);
}

static void check_covered(const struct decision *d, const struct covered *covered)
{
    const struct rco_table *table = d->table();
    size_t missing = 0;
    for (size_t i = 0; i < table->n_rows; i++) {
        bool found = false;
        for (size_t k = 0; k < covered->n && !found; k++)
            found = rco_streq(table->rows[i].name, covered->rows[k]);
        if (!found)
            print_message("row %s of %s has no case\n", table->rows[i].name, d->dir);
        missing += !found;
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(table->rows[i].name, table->rows[k].name);
    }
    assert_null(table->rows[table->n_rows - 1].guard);
    assert_int_equal(missing, 0);
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_case(const struct dirent *e)
{
    return rco_str_has_suffix(e->d_name, ".yaml");
}

static void run_decision(const struct decision *d)
{
    struct covered *covered = calloc(1, sizeof(*covered));
    struct dirent **files;
    char dir[64];
    const char *only = getenv("RCO_TEST_CASE");
    snprintf(dir, sizeof(dir), CASES "/%s", d->dir);
    int n = scandir(dir, &files, is_case, by_name);
    if (n <= 0)
        fail_msg("no cases in %s", dir);
    for (int i = 0; i < n; i++) {
        char path[512];
        snprintf(path, sizeof(path), "%s/%s", dir, files[i]->d_name);
        if (!only || strstr(path, only))
            run_case(d, path, covered);
        free(files[i]);
    }
    free(files);
    if (!only)
        check_covered(d, covered);
    free(covered);
}

static void test_environment_cases(void **state)
{
    run_decision(&decisions[0]);
}

static void test_deployment_cases(void **state)
{
    run_decision(&decisions[1]);
}

static void test_run_cases(void **state)
{
    run_decision(&decisions[2]);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_environment_cases),
        cmocka_unit_test(test_deployment_cases),
        cmocka_unit_test(test_run_cases),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
