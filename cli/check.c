#include "check.h"

#include "base/str.h"
#include "verbs.h"
#include "json/writer.h"

#include <stdarg.h>
#include <string.h>

#define AT(FIELD) offsetof(struct rco_options, FIELD)

void rco_check_section(struct rco_checks *c, const char *section)
{
    c->section = section;
}

void rco_check_add(struct rco_checks *c, enum rco_check_result result, const char *name,
                   const char *next, const char *fmt, ...)
{
    rco_autobuf text = RCO_BUF_INIT;
    va_list ap;

    if (c->n == RCO_CHECK_MAX_ITEMS)
        return;
    va_start(ap, fmt);
    rco_buf_addv(&text, fmt, ap);
    va_end(ap);
    c->items[c->n++] = (struct rco_check_item){
        .result = result,
        .section = c->section,
        .name = name,
        .message = rco_arena_strdup(c->arena, rco_buf_str(&text)),
        .next = next,
    };
}

void rco_check_unknown(struct rco_checks *c, const char *name, const struct rco_error *err)
{
    if (err->code == RCO_EFORBIDDEN)
        rco_check_add(c, RCO_CHECK_UNKNOWN, name, NULL, "not allowed to look (%s)", err->msg);
    else
        rco_check_add(c, RCO_CHECK_UNKNOWN, name, NULL, "%s", err->msg);
}

int rco_check_exit(const struct rco_checks *c)
{
    for (size_t i = 0; i < c->n; i++)
        if (c->items[i].result == RCO_CHECK_FAILED)
            return RCO_EXIT_NOT_FINE;
    return RCO_EXIT_FINE;
}

const char *rco_check_word(enum rco_check_result result)
{
    static const char *const words[] = {[RCO_CHECK_OK] = "ok",
                                        [RCO_CHECK_NOTE] = "note",
                                        [RCO_CHECK_UNKNOWN] = "unknown",
                                        [RCO_CHECK_WARNING] = "warning",
                                        [RCO_CHECK_FAILED] = "failed"};

    return words[result];
}

static enum rco_ink ink_of(enum rco_check_result result)
{
    switch (result) {
    case RCO_CHECK_OK:
        return RCO_INK_GOOD;
    case RCO_CHECK_FAILED:
        return RCO_INK_BAD;
    case RCO_CHECK_NOTE:
        return RCO_INK_DIM;
    default:
        return RCO_INK_BUSY;
    }
}

static void add_item(const struct rco_check_item *item, const struct rco_style *style,
                     struct rco_buf *out)
{
    static const char *const glyphs[] = {[RCO_CHECK_OK] = "\u2714",
                                         [RCO_CHECK_NOTE] = "\u25ba",
                                         [RCO_CHECK_UNKNOWN] = "\u25ce",
                                         [RCO_CHECK_WARNING] = "\u25ce",
                                         [RCO_CHECK_FAILED] = "\u2717"};
    rco_autobuf word = RCO_BUF_INIT;

    if (style->unicode)
        rco_buf_addf(&word, "%s ", glyphs[item->result]);
    rco_buf_addf(&word, "%-8s", rco_check_word(item->result));
    rco_buf_adds(out, "  ");
    rco_text_ink(out, style, ink_of(item->result), rco_buf_str(&word));
    rco_text_clean(out, item->name);
    rco_buf_adds(out, ": ");
    rco_text_clean(out, item->message);
    rco_buf_addc(out, '\n');
}

/* One command for a row of items that need the same. */
static void add_next(const struct rco_checks *c, size_t i, const struct rco_style *style,
                     struct rco_buf *out)
{
    const struct rco_check_item *item = &c->items[i];

    if (!item->next || item->result == RCO_CHECK_OK)
        return;
    if (i + 1 < c->n && rco_streq(c->items[i + 1].section, item->section) &&
        rco_streq(c->items[i + 1].next, item->next))
        return;
    rco_buf_adds(out, style->unicode ? "            next: " : "          next: ");
    rco_text_clean(out, item->next);
    rco_buf_addc(out, '\n');
}

void rco_check_render(const struct rco_checks *c, const struct rco_style *style,
                      struct rco_buf *out)
{
    const char *section = NULL;
    size_t counts[RCO_CHECK_FAILED + 1] = {0};

    for (size_t i = 0; i < c->n; i++) {
        const struct rco_check_item *item = &c->items[i];

        if (!rco_streq(section, item->section)) {
            section = item->section;
            rco_text_ink(out, style, RCO_INK_BOLD, section);
            rco_buf_addc(out, '\n');
        }
        add_item(item, style, out);
        add_next(c, i, style, out);
        counts[item->result]++;
    }
    rco_buf_addf(out, "%zu ok, %zu failed, %zu warnings, %zu unknown\n", counts[RCO_CHECK_OK],
                 counts[RCO_CHECK_FAILED], counts[RCO_CHECK_WARNING], counts[RCO_CHECK_UNKNOWN]);
}

void rco_check_json(const struct rco_checks *c, struct rco_buf *out)
{
    struct rco_json_writer w;

    rco_json_writer_init(&w, out);
    rco_json_begin_object(&w);
    rco_json_kv_string(&w, "apiVersion", "cli.runtimecloud.io/v1");
    rco_json_kv_string(&w, "kind", "Check");
    rco_json_kv_bool(&w, "ok", rco_check_exit(c) == RCO_EXIT_FINE);
    rco_json_kv_array(&w, "items");
    for (size_t i = 0; i < c->n; i++) {
        rco_json_begin_object(&w);
        rco_json_kv_string(&w, "section", c->items[i].section);
        rco_json_kv_string(&w, "name", c->items[i].name);
        rco_json_kv_string(&w, "result", rco_check_word(c->items[i].result));
        rco_json_kv_string(&w, "message", c->items[i].message);
        rco_json_kv_string_opt(&w, "next", c->items[i].next);
        rco_json_end_object(&w);
    }
    rco_json_end_array(&w);
    rco_json_end_object(&w);
}

static int run(struct rco_cli *cli)
{
    struct rco_checks checks = {.arena = &cli->arena};
    struct rco_error err = RCO_ERROR_INIT;
    rco_autobuf out = RCO_BUF_INIT;

    if (rco_cli_connect(cli, &err) < 0 || rco_check_cluster(cli, &checks, &err) < 0)
        return rco_cli_fail(cli, &err);
    rco_check_installation(cli, &checks);
    rco_check_rights(cli, &checks);
    rco_check_namespace(cli, &checks);
    if (rco_cli_wants_json(cli)) {
        rco_check_json(&checks, &out);
        return rco_cli_print_json(cli, &out) ? RCO_EXIT_NOT_FINE : rco_check_exit(&checks);
    }
    rco_check_render(&checks, &cli->style, &out);
    rco_cli_print(cli, &out);
    return rco_check_exit(&checks);
}

static const struct rco_option options[] = {
    {"operator-namespace", 0, RCO_OPTION_NAME, AT(operator_ns), "NAMESPACE",
     "where the operator is installed (default: what the CRDs say)", NULL},
};

static const char *const examples[] = {
    "is it installed, does it run, what may I do here?",
    "check",
    "who can act as an approver in a namespace?",
    "check -n team-a",
    "for scripts",
    "check -o json",
    NULL,
};

const struct rco_verb rco_verb_check = {
    .name = "check",
    .args = "",
    .summary = "is it installed, does it run, what may you do",
    .description =
        "Checks the installation (server version, CRDs, admission policies, controller), lists "
        "what you may do in\n"
        "the namespace, and who can act as an approver there because of rights to pods or "
        "Secrets.\n"
        "Exit code: 1 when something is missing that the product cannot work without, else 0.",
    .examples = examples,
    .options = options,
    .n_options = RCO_ARRAY_LEN(options),
    .run = run,
};
