/* Writes docs/api.md: every field of our own kinds with its meaning and its bounds. */
#include "gen.h"

#include <string.h>

/* One cell of a table: no line breaks, no bars. */
static void cell(FILE *out, const char *text)
{
    bool space = false;
    for (const char *p = text ? text : ""; *p; p++) {
        if (*p == ' ' || *p == '\n') {
            space = true;
            continue;
        }
        if (space)
            fputc(' ', out);
        space = false;
        if (*p == '|' || *p == '<' || *p == '\\')
            fputc('\\', out);
        fputc(*p, out);
    }
}

static char *type_text(const struct node *schema)
{
    const char *type = gen_text(schema, "type");
    if (gen_streq(type, "array"))
        return gen_printf("list of %s", type_text(gen_get(schema, "items")));
    if (gen_path(schema, "additionalProperties", NULL))
        return gen_printf("map of %s", type_text(gen_get(schema, "additionalProperties")));
    if (gen_streq(gen_text(schema, "format"), "date-time"))
        return gen_printf("time");
    if (gen_text(schema, "x-kubernetes-int-or-string"))
        return gen_printf("quantity");
    return gen_printf("%s", type ? type : "any");
}

static bool is_required(const struct node *schema, const char *name)
{
    const struct node *list = gen_get(schema, "required");
    for (size_t i = 0; list && i < list->n; i++)
        if (gen_streq(list->items[i]->text, name))
            return true;
    return false;
}

static void bounds(const struct node *schema, FILE *out)
{
    static const struct {
        const char *key, *text;
    } list[] = {{"default", "default"},    {"minimum", "at least"}, {"maximum", "at most"},
                {"maxLength", "length ≤"}, {"maxItems", "items ≤"}, {"maxProperties", "entries ≤"},
                {"pattern", "pattern"}};
    for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
        const char *value = gen_text(schema, list[i].key);
        if (!value)
            continue;
        fprintf(out, " %s `", list[i].text);
        for (const char *p = value; *p; p++) { /* a bar would end the cell, even in code */
            if (*p == '|')
                fputc('\\', out);
            fputc(*p, out);
        }
        fputs("`.", out);
    }
    const struct node *words = gen_get(schema, "enum");
    if (!words)
        return;
    fputs(" One of", out);
    for (size_t i = 0; i < words->n; i++)
        fprintf(out, "%s `%s`", i ? "," : "", words->items[i]->text);
    fputc('.', out);
}

static void rows(const struct node *schema, const char *prefix, FILE *out)
{
    const struct node *properties = gen_get(schema, "properties");
    for (size_t i = 0; properties && i < properties->n; i++) {
        const struct node *p = properties->items[i];
        bool list = gen_streq(gen_text(p, "type"), "array");
        char *path = gen_printf("%s%s%s", prefix, properties->keys[i], list ? "[]" : "");
        fprintf(out, "| `%s` | %s%s | ", path, type_text(p),
                is_required(schema, properties->keys[i]) ? ", required" : "");
        cell(out, gen_text(p, "description"));
        bounds(p, out);
        fputs(" |\n", out);
        rows(list ? gen_get(p, "items") : p, gen_printf("%s.", path), out);
    }
}

static void rules(const struct node *schema, const char *path, FILE *out)
{
    const struct node *list = gen_get(schema, "x-kubernetes-validations");
    for (size_t i = 0; list && i < list->n; i++) {
        fprintf(out, "- `%s`: ", *path ? path : "object");
        cell(out, gen_text(list->items[i], "message"));
        fputc('\n', out);
    }
    const struct node *properties = gen_get(schema, "properties");
    for (size_t i = 0; properties && i < properties->n; i++) {
        const struct node *p = properties->items[i];
        bool array = gen_streq(gen_text(p, "type"), "array");
        char *sub =
            gen_printf("%s%s%s%s", path, *path ? "." : "", properties->keys[i], array ? "[]" : "");
        rules(p, sub, out);
        if (array)
            rules(gen_get(p, "items"), sub, out);
    }
}

static void states(const struct gen_model *m, const struct gen_kind *k, FILE *out)
{
    char *name = gen_printf("%s_state", k->c_name);
    for (const struct gen_enum *e = m->enums; e; e = e->next) {
        if (strcmp(e->name, name) != 0 || !e->n_edges)
            continue;
        fprintf(out, "\n### States\n\nThe first state is `%s`.\n\n| from | to |\n|---|---|\n",
                e->words[e->first]);
        for (size_t w = 0; w < e->n_words; w++) {
            fprintf(out, "| `%s` |", e->words[w]);
            const char *join = "";
            for (size_t i = 0; i < e->n_edges; i++) {
                if (e->edges[i].from != w)
                    continue;
                fprintf(out, "%s `%s`", join, e->words[e->edges[i].to]);
                join = ",";
            }
            fprintf(out, "%s |\n", *join ? "" : " (final)");
        }
    }
}

void gen_emit_docs(const struct gen_model *m, FILE *out)
{
    fputs("# API reference\n\n<!-- Generated by rco-gen from crds/; do not edit. -->\n\n"
          "All kinds are of group `runtimecloud.io`. Fields that are marked required must be set;\n"
          "everything under `status` is written by the operator.\n",
          out);
    for (const struct gen_kind *k = m->kinds; k; k = k->next) {
        if (k->external)
            continue;
        const struct node *names = gen_path(k->crd, "spec", "names", NULL);
        const struct node *shorts = gen_get(names, "shortNames");
        fprintf(out, "\n## %s\n\n", k->kind);
        cell(out, gen_text(k->schema, "description"));
        fprintf(out, "\n\n`%s/%s`, plural `%s`, %s.", k->group, k->version, k->plural,
                k->namespaced ? "namespaced" : "cluster-scoped");
        for (size_t i = 0; shorts && i < shorts->n; i++)
            fprintf(out, " Short name `%s`.", shorts->items[i]->text);
        fputs("\n\n| field | type | meaning |\n|---|---|---|\n", out);
        static const char *const parts[] = {"spec", "status"};
        for (size_t i = 0; i < 2; i++)
            rows(gen_path(k->schema, "properties", parts[i], NULL), gen_printf("%s.", parts[i]),
                 out);
        fputs("\n### What the API server refuses\n\n", out);
        rules(k->schema, "", out);
        states(m, k, out);
    }
}
