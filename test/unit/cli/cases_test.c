/* Golden tests of the screens: each directory below test/cases/cli holds objects (spec.json,
 * env.json, run.json, last.json, applied.json, pod.json, event.json of a Job, claim.json) or one
 * line of text (no-account.txt, says.txt of the engine, user.txt), and what is printed for them
 * (want.txt, and want.json where there is a document). The prefix of the directory's name chooses
 * the screen: spec-, run-, env-, why-spec-, why-run-, why-env-, progress-; a name that ends in
 * -wide prints wide. RCO_GOLDEN_WRITE=1 writes the wants anew. */
#include "base/file.h"
#include "base/str.h"
#include "explain.h"
#include "format.h"
#include "render.h"
#include "json/codec.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define CASES "test/cases/cli"
#define MAX_CASES 200
#define MAX_FILE (1024 * 1024)

struct case_facts {
    struct rco_arena arena;
    struct rco_facts facts;
    const struct rco_pod *pods[1];
};

/* NULL when the case has no such file. */
static void *load(struct rco_arena *a, const char *name, const char *file,
                  const struct rco_schema *schema)
{
    rco_autofree char *path = rco_asprintf("%s/%s/%s", CASES, name, file);
    rco_autobuf text = RCO_BUF_INIT;
    struct rco_error err = RCO_ERROR_INIT;
    void *obj;

    if (access(path, R_OK) != 0)
        return NULL;
    if (rco_file_read(path, MAX_FILE, &text, &err) < 0)
        fail_msg("%s", err.msg);
    obj = rco_arena_alloc(a, schema->size);
    if (rco_codec_decode(schema, rco_buf_str(&text), text.len, a, obj, &err) < 0)
        fail_msg("%s: %s", path, err.msg);
    return obj;
}

/* The first line of a text, or NULL when the case has no such file. */
static const char *load_line(struct rco_arena *a, const char *name, const char *file)
{
    rco_autofree char *path = rco_asprintf("%s/%s/%s", CASES, name, file);
    rco_autobuf text = RCO_BUF_INIT;
    struct rco_error err = RCO_ERROR_INIT;

    if (access(path, R_OK) != 0)
        return NULL;
    if (rco_file_read(path, MAX_FILE, &text, &err) < 0)
        fail_msg("%s", err.msg);
    return rco_arena_strndup(a, rco_buf_str(&text), strcspn(rco_buf_str(&text), "\n"));
}

static void load_facts(const char *name, struct case_facts *c)
{
    struct rco_error err = RCO_ERROR_INIT;
    struct rco_facts *f = &c->facts;
    const struct rco_event *event;

    *c = (struct case_facts){.arena = RCO_ARENA_INIT};
    assert_int_equal(rco_wall_parse("2026-11-30T12:00:00Z", &f->now, &err), 0);
    f->flags = " -n team-a";
    f->cluster = "";
    f->spec = load(&c->arena, name, "spec.json", &rco_depspec_schema);
    f->env = load(&c->arena, name, "env.json", &rco_env_schema);
    f->env_missing = !f->env && strstr(name, "no-env");
    f->run = load(&c->arena, name, "run.json", &rco_run_schema);
    f->last = load(&c->arena, name, "last.json", &rco_run_schema);
    f->applied = load(&c->arena, name, "applied.json", &rco_run_schema);
    f->claim = load(&c->arena, name, "claim.json", &rco_pvc_schema);
    c->pods[0] = load(&c->arena, name, "pod.json", &rco_pod_schema);
    f->pods = c->pods;
    f->n_pods = c->pods[0] != NULL;
    event = load(&c->arena, name, "event.json", &rco_event_schema);
    f->job_trouble = event ? event->note : NULL;
    f->no_account[0] = load_line(&c->arena, name, "no-account.txt");
    f->n_no_account = f->no_account[0] != NULL;
    f->engine_says = load_line(&c->arena, name, "says.txt");
    f->user = load_line(&c->arena, name, "user.txt");
}

/* A table reads neither pods nor runs that have ended. */
static struct rco_render_row as_row(struct rco_arena *a, const struct rco_facts *f)
{
    struct rco_render_row row = {.facts = {.now = f->now,
                                           .flags = f->flags,
                                           .spec = f->spec,
                                           .env = f->env,
                                           .env_missing = f->env_missing,
                                           .run = f->run,
                                           .pods_unread = true}};

    rco_explain_spec(&row.facts, a, &row.explanation);
    return row;
}

static void render(const char *name, struct case_facts *c, struct rco_buf *text,
                   struct rco_buf *json)
{
    static const struct rco_style style = {.unicode = true};
    const struct rco_facts *f = &c->facts;
    struct rco_render r = {.style = &style, .now = f->now};
    struct rco_render_row row;
    const char *screen = rco_str_has_prefix(name, "why-") ? name + 4 : name;
    struct rco_explanation x;

    if (rco_str_has_suffix(name, "-wide"))
        r.detail = RCO_DETAIL_WIDE;
    if (rco_str_has_prefix(screen, "spec-"))
        rco_explain_spec(f, &c->arena, &x);
    else if (rco_str_has_prefix(screen, "env-"))
        rco_explain_env(f, &c->arena, &x);
    else
        rco_explain_run(f, &c->arena, &x);
    if (screen != name) {
        rco_render_why(&r, "object/name", &x, text);
        rco_render_why_json("Kind",
                            f->spec  ? &f->spec->metadata
                            : f->run ? &f->run->metadata
                                     : &f->env->metadata,
                            &x, json);
    } else if (rco_str_has_prefix(name, "spec-")) {
        rco_render_spec(&r, f, &x, text);
        rco_buf_addc(text, '\n');
        row = as_row(&c->arena, f);
        rco_render_specs(&r, &row, 1, text);
        rco_render_spec_json(f, &x, json);
    } else if (rco_str_has_prefix(name, "env-")) {
        rco_render_env(&r, f, &x, NULL, 0, text);
        rco_render_env_json(f, &x, NULL, 0, json);
    } else if (rco_str_has_prefix(name, "progress-")) {
        rco_render_progress(&r, f, text);
        rco_buf_addc(text, '\n');
    } else {
        rco_render_run(&r, f, &x, text);
        rco_buf_addc(text, '\n');
        rco_render_runs(&r, &f->run, 1, text);
    }
}

static void check_golden(const char *name, const char *file, const struct rco_buf *got)
{
    rco_autofree char *path = rco_asprintf("%s/%s/%s", CASES, name, file);
    rco_autobuf want = RCO_BUF_INIT;
    struct rco_error err = RCO_ERROR_INIT;

    if (getenv("RCO_GOLDEN_WRITE")) {
        assert_int_equal(rco_file_write_atomic(path, rco_buf_str(got), got->len, 0644, &err), 0);
        return;
    }
    if (rco_file_read(path, MAX_FILE, &want, &err) < 0)
        fail_msg("%s", err.msg);
    if (!rco_streq(rco_buf_str(got), rco_buf_str(&want)))
        fail_msg("%s differs; got:\n%s", path, rco_buf_str(got));
}

static void screen_is_as_wanted(void **state)
{
    const char *name = *state;
    rco_autobuf text = RCO_BUF_INIT, json = RCO_BUF_INIT, pretty = RCO_BUF_INIT;
    struct rco_error err = RCO_ERROR_INIT;
    struct case_facts c;

    load_facts(name, &c);
    render(name, &c, &text, &json);
    check_golden(name, "want.txt", &text);
    if (json.len) {
        if (rco_format_json(rco_buf_str(&json), json.len, &pretty, &err) < 0)
            fail_msg("%s: %s", name, err.msg);
        check_golden(name, "want.json", &pretty);
    }
    assert_null(strstr(rco_buf_str(&text), "\033"));
    assert_null(strstr(rco_buf_str(&text), "{run}"));
    rco_arena_release(&c.arena);
}

static int is_case(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

int main(void)
{
    struct CMUnitTest tests[MAX_CASES] = {{0}};
    struct dirent **found = NULL;
    int n = scandir(CASES, &found, is_case, alphasort);

    if (n <= 0 || n > MAX_CASES) {
        fprintf(stderr, "no cases in %s\n", CASES);
        return 1;
    }
    for (int i = 0; i < n; i++)
        tests[i] = (struct CMUnitTest){.name = found[i]->d_name,
                                       .test_func = screen_is_as_wanted,
                                       .initial_state = found[i]->d_name};
    int failed = _cmocka_run_group_tests("cli screens", tests, (size_t)n, NULL, NULL);
    for (int i = 0; i < n; i++)
        free(found[i]);
    free(found);
    return failed;
}
