/* Writes the transition tables of the product as Promela, so that the models run on what the
 * program runs on: zz_generated_*.pml in the directory that is named. `make check` says when one is
 * not up to date. */
#include "api/zz_generated_types.h"
#include "runtime/elector.h"
#include "runtime/queue_phase.h"
#include "runtime/reflector_table.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

static FILE *create(const char *dir, const char *name, const char *source)
{
    char path[4096];
    FILE *f;

    snprintf(path, sizeof(path), "%s/zz_generated_%s.pml", dir, name);
    f = fopen(path, "w");
    if (!f) {
        perror(path);
        exit(1);
    }
    fprintf(f, "/* Written by `make generate` from %s. Not to be edited. */\n", source);
    return f;
}

/* Of the comment that is compared with what a model went through. */
#define ROW " * row %s %s %s\n"

static void finish(FILE *f)
{
    if (ferror(f) || fclose(f) != 0) {
        perror("zz_generated");
        exit(1);
    }
}

/* PREFIX_LIST_FAILED of "ListFailed". */
static const char *symbol(const char *prefix, const char *name, char *out)
{
    size_t n = (size_t)sprintf(out, "%s", prefix);

    for (const char *p = name; *p; p++) {
        if (isupper((unsigned char)*p))
            out[n++] = '_';
        out[n++] = (char)toupper((unsigned char)*p);
    }
    out[n] = '\0';
    return out;
}

/* Numbers for the model, and names for what it prints. WHAT is "state" or "input". */
static void define_names(FILE *f, const char *prefix, const char *what, size_t n,
                         const char *(*name)(unsigned))
{
    char text[128];

    for (unsigned i = 0; i < n; i++)
        fprintf(f, "#define %s %u\n", symbol(prefix, name(i), text), i);
    fprintf(f, "c_decl {\n    static const char *const %s_names[] = {", what);
    for (unsigned i = 0; i < n; i++)
        fprintf(f, "%s\"%s\"", i ? ", " : "", name(i));
    fprintf(f, "};\n}\n\n");
}

/* ---- work queue ---- */

static const char *queue_phase(unsigned i)
{
    return rco_queue_phase_name((enum rco_queue_phase)i);
}

static const char *queue_input(unsigned i)
{
    return rco_queue_input_name((enum rco_queue_input)i);
}

static void write_queue(const char *dir)
{
    FILE *f = create(dir, "workqueue", "pkg/runtime/queue_phase.c");
    char a[128], b[128], c[128];
    unsigned open = 0;

    fprintf(f, "/*\n");
    for (unsigned p = 0; p < RCO_QUEUE_PHASE_COUNT; p++) {
        for (unsigned i = 0; i < RCO_QUEUE_INPUT_COUNT; i++) {
            unsigned next = rco_queue_next((enum rco_queue_phase)p, (enum rco_queue_input)i);

            if (next != RCO_QUEUE_PHASE_COUNT)
                fprintf(f, ROW, queue_phase(p), queue_input(i), queue_phase(next));
        }
    }
    fprintf(f, " */\n");
    define_names(f, "PHASE", "state", RCO_QUEUE_PHASE_COUNT, queue_phase);
    define_names(f, "IN", "input", RCO_QUEUE_INPUT_COUNT, queue_input);
    fprintf(f, "#define NEVER %u\n#define TABLE_NEXT(p, i) ( \\\n", RCO_QUEUE_PHASE_COUNT);
    for (unsigned p = 0; p < RCO_QUEUE_PHASE_COUNT; p++) {
        for (unsigned i = 0; i < RCO_QUEUE_INPUT_COUNT; i++) {
            unsigned next = rco_queue_next((enum rco_queue_phase)p, (enum rco_queue_input)i);

            if (next == RCO_QUEUE_PHASE_COUNT)
                continue;
            fprintf(f, "    ((p) == %s && (i) == %s) -> %s : ( \\\n",
                    symbol("PHASE", queue_phase(p), a), symbol("IN", queue_input(i), b),
                    symbol("PHASE", queue_phase(next), c));
            open++;
        }
    }
    fprintf(f, "    NEVER %.*s)\n", (int)open, "))))))))))))))))))))))))))))))))))))))))");
    finish(f);
}

/* ---- reflector ---- */

static const char *reflector_state(unsigned i)
{
    return rco_reflector_state_name((enum rco_reflector_state)i);
}

static const char *reflector_input(unsigned i)
{
    return rco_reflector_input_name((enum rco_reflector_input)i);
}

static void write_reflector(const char *dir)
{
    FILE *f = create(dir, "reflector", "pkg/runtime/reflector_table.c");
    size_t n;
    const struct rco_reflector_row *rows = rco_reflector_rows(&n);
    char a[128], b[128], c[128];

    fprintf(f, "/*\n");
    for (size_t i = 0; i < n; i++)
        fprintf(f, ROW, reflector_state(rows[i].state), reflector_input(rows[i].input),
                reflector_state(rows[i].next));
    fprintf(f, " */\n");
    define_names(f, "AT", "state", RCO_REFLECTOR_STATE_COUNT, reflector_state);
    define_names(f, "IN", "input", RCO_REFLECTOR_INPUT_COUNT, reflector_input);
    for (unsigned bit = 1; bit <= RCO_REFLECTOR_GO_ON; bit <<= 1)
        fprintf(f, "#define %s %u\n",
                symbol("DO", rco_reflector_effect_name((enum rco_reflector_effect)bit), a), bit);
    fprintf(f, "\n#define NEVER %u\n#define TABLE_NEXT(s, i) ( \\\n", RCO_REFLECTOR_STATE_COUNT);
    for (size_t i = 0; i < n; i++)
        fprintf(f, "    ((s) == %s && (i) == %s) -> %s : ( \\\n",
                symbol("AT", reflector_state(rows[i].state), a),
                symbol("IN", reflector_input(rows[i].input), b),
                symbol("AT", reflector_state(rows[i].next), c));
    fprintf(f, "    NEVER ");
    for (size_t i = 0; i <= n; i++)
        fputc(')', f);
    fprintf(f, "\n#define TABLE_EFFECTS(s, i) ( \\\n");
    for (size_t i = 0; i < n; i++) {
        fprintf(f, "    ((s) == %s && (i) == %s) -> ",
                symbol("AT", reflector_state(rows[i].state), a),
                symbol("IN", reflector_input(rows[i].input), b));
        for (unsigned bit = 1, first = 1; bit <= RCO_REFLECTOR_GO_ON; bit <<= 1) {
            if (!(rows[i].effects & bit))
                continue;
            fprintf(f, "%s%s", first ? "" : "+",
                    symbol("DO", rco_reflector_effect_name((enum rco_reflector_effect)bit), c));
            first = 0;
        }
        fprintf(f, "%s : ( \\\n", rows[i].effects ? "" : "0");
    }
    fprintf(f, "    0 ");
    for (size_t i = 0; i <= n; i++)
        fputc(')', f);
    fputc('\n', f);
    finish(f);
}

/* ---- elector ---- */

static const char *const actions[] = {"Read",    "Create", "Acquire", "Renew",
                                      "Release", "Wait",   "Lost"};
static const char *const answers[] = {"Ours", "Others", "Missing", "Failed"};
static const char *const afters[] = {"Look", "Lead", "GivenBack", "ReadFirst"};

static const char *action_name(unsigned i)
{
    return actions[i];
}

static const char *answer_name(unsigned i)
{
    return answers[i];
}

/* A key of all that the decision looks at, by the macro VIEW of the model. */
static enum rco_elector_action decide(unsigned key)
{
    static const char *const holders[] = {"", "me", "other"};
    const struct rco_elector_timing timing = RCO_ELECTOR_TIMING_DEFAULT;
    const rco_mono now = 1000 * RCO_NS_PER_S;
    struct rco_elector_view v = {.identity = "me", .duration_ns = timing.lease_ns};

    v.changed = now - (key % 2 ? timing.lease_ns : timing.lease_ns - 1);
    v.holder = holders[key / 2 % 3];
    v.exists = key / 6 % 2;
    v.known = key / 12 % 2;
    v.releasing = key / 24 % 2;
    v.renewed = now - (key / 48 % 2 ? timing.renew_ns : timing.renew_ns - 1);
    v.leading = key / 96 % 2;
    return rco_elector_decide(&v, &timing, now);
}

#define VIEWS 192

static void write_elector(const char *dir)
{
    FILE *f = create(dir, "elector", "rco_elector_decide and rco_elector_after");
    unsigned open = 0;
    char a[128], b[128], c[128];

    fprintf(f, "/*\n");
    for (unsigned x = RCO_ELECTOR_READ; x <= RCO_ELECTOR_RELEASE; x++)
        for (unsigned y = 0; y < RCO_ELECTOR_ANSWER_COUNT; y++)
            fprintf(
                f, ROW, actions[x], answers[y],
                afters[rco_elector_after((enum rco_elector_action)x, (enum rco_elector_answer)y)]);
    fprintf(f, " */\n");
    for (unsigned i = 0; i < 4; i++)
        fprintf(f, "#define %s %u\n", symbol("THEN", afters[i], a), i);
    define_names(f, "DO", "state", sizeof(actions) / sizeof(actions[0]), action_name);
    define_names(f, "GOT", "input", RCO_ELECTOR_ANSWER_COUNT, answer_name);
    fprintf(
        f,
        "/* HOLDER: 0 nobody, 1 we, 2 another. */\n"
        "#define VIEW(leading, overdue, releasing, known, exists, holder, expired) \\\n"
        "    ((leading) * 96 + (overdue) * 48 + (releasing) * 24 + (known) * 12 + (exists) * 6 + "
        "\\\n     (holder) * 2 + (expired))\n"
        "#define VIEWS %d\n#define TABLE_DECIDE(view) ( \\\n",
        VIEWS);
    for (unsigned k = 0; k < VIEWS; k++) {
        if (k + 1 < VIEWS && decide(k) == decide(k + 1))
            continue;
        if (k + 1 < VIEWS) {
            fprintf(f, "    (view) <= %u -> %s : ( \\\n", k, symbol("DO", actions[decide(k)], a));
            open++;
        } else {
            fprintf(f, "    %s ", symbol("DO", actions[decide(k)], a));
        }
    }
    for (unsigned i = 0; i <= open; i++)
        fputc(')', f);
    fprintf(f, "\n\n#define TABLE_AFTER(action, answer) ( \\\n");
    for (unsigned x = RCO_ELECTOR_READ; x <= RCO_ELECTOR_RELEASE; x++)
        for (unsigned y = 0; y < RCO_ELECTOR_ANSWER_COUNT; y++)
            fprintf(f, "    ((action) == %s && (answer) == %s) -> %s : ( \\\n",
                    symbol("DO", actions[x], a), symbol("GOT", answers[y], b),
                    symbol("THEN",
                           afters[rco_elector_after((enum rco_elector_action)x,
                                                    (enum rco_elector_answer)y)],
                           c));
    fprintf(f, "    0 ");
    for (unsigned i = 0; i <= (RCO_ELECTOR_RELEASE + 1) * RCO_ELECTOR_ANSWER_COUNT; i++)
        fputc(')', f);
    fputc('\n', f);
    finish(f);
}

/* ---- run ---- */

static const char *run_state(unsigned i)
{
    return i == RCO_RUN_STATE_UNSET ? "Unset" : rco_run_state_name((enum rco_run_state)i);
}

static void write_run(const char *dir)
{
    FILE *f =
        create(dir, "run", "the transition rule of crds/runtimecloud.io_provisioningruns.yaml");
    char a[128], b[128];
    unsigned open = 0;

    fprintf(f, "/*\n");
    for (unsigned x = 0; x <= RCO_RUN_STATE_CANCELLED; x++)
        for (unsigned y = 0; y <= RCO_RUN_STATE_CANCELLED; y++)
            if (rco_run_state_may_become((enum rco_run_state)x, (enum rco_run_state)y))
                fprintf(f, " * row %s %s\n", run_state(x), run_state(y));
    fprintf(f, " */\n");
    define_names(f, "RUN", "state", RCO_RUN_STATE_CANCELLED + 1, run_state);
    fprintf(f, "#define TABLE_MAY(from, to) ( \\\n");
    for (unsigned x = 0; x <= RCO_RUN_STATE_CANCELLED; x++) {
        for (unsigned y = 0; y <= RCO_RUN_STATE_CANCELLED; y++) {
            if (!rco_run_state_may_become((enum rco_run_state)x, (enum rco_run_state)y))
                continue;
            fprintf(f, "    ((from) == %s && (to) == %s) -> true : ( \\\n",
                    symbol("RUN", run_state(x), a), symbol("RUN", run_state(y), b));
            open++;
        }
    }
    fprintf(f, "    false ");
    for (unsigned i = 0; i <= open; i++)
        fputc(')', f);
    fprintf(f, "\n#define TABLE_FINAL(s) (");
    open = 0;
    for (unsigned x = 0; x <= RCO_RUN_STATE_CANCELLED; x++)
        if (rco_run_state_is_final((enum rco_run_state)x))
            fprintf(f, "%s(s) == %s", open++ ? " || " : "", symbol("RUN", run_state(x), a));
    fprintf(f, ")\n");
    finish(f);
}

int main(int argc, char **argv)
{
    const char *dir = argc > 1 ? argv[1] : "test/models";

    write_queue(dir);
    write_reflector(dir);
    write_elector(dir);
    write_run(dir);
    return 0;
}
