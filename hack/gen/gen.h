/* rco-gen: reads the CRDs and the external views, writes the C types, their tables and the API
 * reference. A short-lived host tool: it keeps all memory until it exits, and any fault ends it. */
#ifndef RCO_HACK_GEN_H
#define RCO_HACK_GEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* ---- text.c: strings and failure ---- */

/* Prints the message to stderr and exits 1. */
void gen_die(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));
void *gen_alloc(size_t n);
char *gen_printf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* camelCase, kebab-case or PascalCase to snake_case. */
char *gen_snake(const char *s);
char *gen_upper(const char *s);
/* Singular of a plural field name ("resources" -> "resource"). */
char *gen_singular(const char *s);
/* A member name: snake_case, with a trailing underscore where C has a keyword. */
char *gen_member(const char *s);
/* `*` matches any run of characters. */
bool gen_glob(const char *pattern, const char *s);
bool gen_streq(const char *a, const char *b);

/* ---- load.c: YAML as an ordered tree ---- */

enum node_type { NODE_SCALAR, NODE_LIST, NODE_MAP };

struct node {
    enum node_type type;
    const char *text; /* scalar */
    size_t n;
    struct node **items; /* list items or map values */
    const char **keys;   /* map keys */
};

/* All documents of a file; ends with NULL. */
struct node **gen_load(const char *path);
/* Value of KEY in a map, or NULL (also for a NULL or non-map node). */
const struct node *gen_get(const struct node *map, const char *key);
/* Scalar text of KEY, or NULL. */
const char *gen_text(const struct node *map, const char *key);
/* Walks several keys: gen_path(node, "spec", "names", NULL). */
const struct node *gen_path(const struct node *map, ...);

/* ---- model.c: structs, enums and kinds ---- */

struct gen_enum {
    const char *name; /* without rco_, e.g. "run_state" */
    size_t n_words;
    const char **words;
    struct gen_edge *edges; /* allowed transitions, when a rule lists them */
    size_t n_edges;
    size_t first; /* the first state, when there are edges */
    struct gen_enum *next;
};

struct gen_edge {
    size_t from, to; /* indexes into words */
};

struct gen_field {
    const char *json;
    const char *member;
    const char *type; /* suffix of RCO_FIELD_ */
    bool intern, skip_pack, no_has, int_or_string;
    unsigned long max;
    struct gen_struct *sub;
    struct gen_enum *words;
    const char *description;
};

struct gen_struct {
    const char *name;
    const char *description;
    bool builtin; /* written by hand in pkg/api/meta.h */
    size_t n_fields;
    struct gen_field *fields;
    struct gen_struct *next;
};

struct gen_kind {
    const char *kind, *c_name, *group, *version, *plural;
    bool namespaced;
    bool external;
    struct gen_struct *object; /* NULL = never decoded */
    bool has_status;
    const struct node *schema;
    const struct node *crd; /* the whole document, NULL for external kinds */
    struct gen_kind *next;
};

struct gen_model {
    const struct node *names; /* hack/gen/names.yaml */
    const struct node *definitions;
    struct gen_struct *structs, **structs_tail; /* in an order in which C accepts them */
    struct gen_enum *enums, **enums_tail;
    struct gen_kind *kinds, **kinds_tail;
};

void gen_model_init(struct gen_model *m, const struct node *names);
/* Adds the kind of one CRD document. */
void gen_model_add_crd(struct gen_model *m, const struct node *crd);
/* Adds the kinds and structs of one external file. */
void gen_model_add_external(struct gen_model *m, const struct node *doc);

/* ---- edges.c ---- */

/* Reads the list of allowed (old, new) pairs out of the CEL rules of SCHEMA into E; leaves E alone
 * when there is no such rule. */
void gen_edges_read(const struct node *schema, const char *field, struct gen_enum *e,
                    const char *path);

/* ---- emit_*.c ---- */

void gen_emit_types(const struct gen_model *m, FILE *out);
void gen_emit_tables(const struct gen_model *m, FILE *out);
void gen_emit_docs(const struct gen_model *m, FILE *out);

#endif
