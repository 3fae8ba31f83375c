/* Writes zz_generated_tables.c: enum words, field tables, transition tables, the registry of kinds.
 */
#include "gen.h"

#include <string.h>

static void emit_edges(const struct gen_enum *e, FILE *out)
{
    char *up = gen_upper(e->name);
    fprintf(out, "static const struct { enum rco_%s from, to; } %s_edges[] = {\n", e->name,
            e->name);
    fprintf(out, "    {RCO_%s_UNSET, RCO_%s_%s},\n", up, up, gen_upper(e->words[e->first]));
    for (size_t i = 0; i < e->n_edges; i++)
        fprintf(out, "    {RCO_%s_%s, RCO_%s_%s},\n", up, gen_upper(e->words[e->edges[i].from]), up,
                gen_upper(e->words[e->edges[i].to]));
    fprintf(out,
            "};\n\n"
            "bool rco_%s_may_become(enum rco_%s from, enum rco_%s to)\n{\n"
            "    for (size_t i = 0; i < RCO_ARRAY_LEN(%s_edges); i++)\n"
            "        if (%s_edges[i].from == from && %s_edges[i].to == to)\n"
            "            return true;\n"
            "    return false;\n}\n\n",
            e->name, e->name, e->name, e->name, e->name, e->name);
    fprintf(out,
            "bool rco_%s_is_final(enum rco_%s v)\n{\n"
            "    for (size_t i = 0; i < RCO_ARRAY_LEN(%s_edges); i++)\n"
            "        if (%s_edges[i].from == v)\n"
            "            return false;\n"
            "    return v > RCO_%s_UNKNOWN;\n}\n\n",
            e->name, e->name, e->name, e->name, up);
}

static void emit_enum(const struct gen_enum *e, FILE *out)
{
    fprintf(out, "const char *const rco_%s_words[] = {", e->name);
    for (size_t i = 0; i < e->n_words; i++)
        fprintf(out, "\n    \"%s\",", e->words[i]);
    fputs("\n    NULL};\n\n", out);
    fprintf(out,
            "const char *rco_%s_name(enum rco_%s v)\n{\n"
            "    return rco_words_name(rco_%s_words, (int)v);\n}\n\n",
            e->name, e->name, e->name);
    fprintf(out,
            "enum rco_%s rco_%s_parse(const char *word)\n{\n"
            "    return (enum rco_%s)rco_words_parse(rco_%s_words, word);\n}\n\n",
            e->name, e->name, e->name, e->name);
    if (e->n_edges)
        emit_edges(e, out);
}

static const char *aux_member(const struct gen_field *f)
{
    if (f->no_has)
        return NULL;
    if (strcmp(f->type, "INT") == 0 || strcmp(f->type, "BOOL") == 0 ||
        strcmp(f->type, "STRUCT") == 0)
        return gen_printf("has_%s", f->member);
    if (strncmp(f->type, "LIST_", 5) == 0 || strncmp(f->type, "MAP_", 4) == 0)
        return gen_printf("n_%s", f->member);
    return NULL;
}

static void emit_field(const struct gen_struct *s, const struct gen_field *f, FILE *out)
{
    fprintf(out,
            "    {.name = \"%s\",\n     .name_len = %zu,\n     .type = RCO_FIELD_%s,\n"
            "     .offset = offsetof(struct rco_%s, %s)",
            f->json, strlen(f->json), f->type, s->name, f->member);
    const char *aux = aux_member(f);
    if (aux)
        fprintf(out, ",\n     .aux_offset = offsetof(struct rco_%s, %s)", s->name, aux);
    if (f->sub)
        fprintf(out, ",\n     .sub = &rco_%s_schema", f->sub->name);
    if (f->words)
        fprintf(out, ",\n     .words = rco_%s_words", f->words->name);
    if (f->max)
        fprintf(out, ",\n     .max = %lu", f->max);
    static const char *const flag_names[] = {"INTERN", "SKIP_PACK", "ALWAYS", "INT_OR_STRING"};
    const bool flags[] = {f->intern, f->skip_pack, f->no_has, f->int_or_string};
    const char *join = ",\n     .flags = ";
    for (size_t i = 0; i < 4; i++) {
        if (!flags[i])
            continue;
        fprintf(out, "%sRCO_FIELD_%s", join, flag_names[i]);
        join = " | ";
    }
    fputs("},\n", out);
}

static void emit_struct(const struct gen_struct *s, FILE *out)
{
    if (s->n_fields > 128)
        gen_die("struct %s has more than the 128 fields that the codec takes", s->name);
    fprintf(out, "static const struct rco_field %s_fields[] = {\n", s->name);
    for (size_t i = 0; i < s->n_fields; i++)
        emit_field(s, &s->fields[i], out);
    fprintf(out,
            "};\n\nconst struct rco_schema rco_%s_schema = {\n    .name = \"%s\",\n"
            "    .size = sizeof(struct rco_%s),\n    .fields = %s_fields,\n"
            "    .n_fields = RCO_ARRAY_LEN(%s_fields)};\n\n",
            s->name, s->name, s->name, s->name, s->name);
}

static void emit_kind(const struct gen_kind *k, FILE *out)
{
    fprintf(out,
            "    [RCO_KIND_%s] = {.group = \"%s\",\n        .version = \"%s\",\n"
            "        .kind = \"%s\",\n        .plural = \"%s\",\n        .namespaced = %s,\n"
            "        .schema = &rco_%s_schema",
            gen_upper(k->c_name), k->group, k->version, k->kind, k->plural,
            k->namespaced ? "true" : "false", k->object->name);
    if (k->has_status)
        fprintf(out,
                ",\n        .status_schema = &rco_%s_status_schema,\n"
                "        .status_offset = offsetof(struct rco_%s, status)",
                k->c_name, k->c_name);
    fputs("},\n", out);
}

void gen_emit_tables(const struct gen_model *m, FILE *out)
{
    fputs("/* Generated by rco-gen from crds/ and hack/gen/external/; do not edit. */\n"
          "#include \"api/zz_generated_types.h\"\n\n#include \"api/kinds.h\"\n"
          "#include \"api/kinds_table.h\"\n\n",
          out);
    for (const struct gen_enum *e = m->enums; e; e = e->next)
        emit_enum(e, out);
    for (const struct gen_struct *s = m->structs; s; s = s->next)
        if (!s->builtin)
            emit_struct(s, out);
    fputs("const struct rco_kind_info rco_kind_table[RCO_KIND_COUNT] = {\n", out);
    for (const struct gen_kind *k = m->kinds; k; k = k->next)
        emit_kind(k, out);
    fputs("};\n", out);
}
