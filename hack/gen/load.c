#include "gen.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

static struct node *convert(yaml_document_t *doc, int id, const char *path)
{
    yaml_node_t *y = yaml_document_get_node(doc, id);
    struct node *out = gen_alloc(sizeof(*out));
    if (y->type == YAML_SCALAR_NODE) {
        out->type = NODE_SCALAR;
        out->text = gen_printf("%.*s", (int)y->data.scalar.length, (char *)y->data.scalar.value);
        return out;
    }
    if (y->type == YAML_SEQUENCE_NODE) {
        out->type = NODE_LIST;
        size_t n = (size_t)(y->data.sequence.items.top - y->data.sequence.items.start);
        out->items = gen_alloc(n * sizeof(*out->items));
        for (size_t i = 0; i < n; i++)
            out->items[out->n++] = convert(doc, y->data.sequence.items.start[i], path);
        return out;
    }
    out->type = NODE_MAP;
    size_t n = (size_t)(y->data.mapping.pairs.top - y->data.mapping.pairs.start);
    out->items = gen_alloc(n * sizeof(*out->items));
    out->keys = gen_alloc(n * sizeof(*out->keys));
    for (size_t i = 0; i < n; i++) {
        yaml_node_pair_t *pair = &y->data.mapping.pairs.start[i];
        struct node *key = convert(doc, pair->key, path);
        if (key->type != NODE_SCALAR)
            gen_die("%s: a map key is not text", path);
        if (gen_get(out, key->text))
            gen_die("%s: the key %s stands twice in one map", path, key->text);
        out->keys[out->n] = key->text;
        out->items[out->n++] = convert(doc, pair->value, path);
    }
    return out;
}

struct node **gen_load(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        gen_die("%s: cannot be opened", path);
    yaml_parser_t parser;
    if (!yaml_parser_initialize(&parser))
        gen_die("out of memory");
    yaml_parser_set_input_file(&parser, f);
    struct node **docs = gen_alloc(65 * sizeof(*docs));
    for (size_t n = 0; n < 64;) {
        yaml_document_t doc;
        if (!yaml_parser_load(&parser, &doc))
            gen_die("%s:%zu: %s", path, parser.problem_mark.line + 1,
                    parser.problem ? parser.problem : "not YAML");
        yaml_node_t *root = yaml_document_get_root_node(&doc);
        if (root)
            docs[n++] = convert(&doc, 1, path);
        yaml_document_delete(&doc);
        if (!root)
            break;
    }
    yaml_parser_delete(&parser);
    fclose(f);
    return docs;
}

const struct node *gen_get(const struct node *map, const char *key)
{
    if (!map || map->type != NODE_MAP)
        return NULL;
    for (size_t i = 0; i < map->n; i++)
        if (strcmp(map->keys[i], key) == 0)
            return map->items[i];
    return NULL;
}

const char *gen_text(const struct node *map, const char *key)
{
    const struct node *value = gen_get(map, key);
    return value && value->type == NODE_SCALAR ? value->text : NULL;
}

const struct node *gen_path(const struct node *map, ...)
{
    va_list ap;
    va_start(ap, map);
    const char *key;
    while (map && (key = va_arg(ap, const char *)))
        map = gen_get(map, key);
    va_end(ap);
    return map;
}
