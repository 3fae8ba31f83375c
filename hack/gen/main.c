/* rco-gen [-o OUTPUT] ROOT: reads ROOT/crds and ROOT/hack/gen, writes below OUTPUT (default ROOT).
 */
#include "gen.h"

#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef void (*emit_fn)(const struct gen_model *m, FILE *out);

/* Writes only what changed, so that make does not rebuild the world. */
static void write_file(const struct gen_model *m, const char *path, emit_fn emit)
{
    char *text = NULL;
    size_t n = 0;
    FILE *mem = open_memstream(&text, &n);
    if (!mem)
        gen_die("out of memory");
    emit(m, mem);
    fclose(mem);
    FILE *old = fopen(path, "rb");
    if (old) {
        char *have = gen_alloc(n + 1);
        size_t got = fread(have, 1, n + 1, old);
        fclose(old);
        if (got == n && memcmp(have, text, n) == 0)
            return;
    }
    FILE *out = fopen(path, "wb");
    if (!out || fwrite(text, 1, n, out) != n || fclose(out) != 0)
        gen_die("%s: cannot be written", path);
}

static void add_files(struct gen_model *m, const char *pattern,
                      void (*add)(struct gen_model *m, const struct node *doc))
{
    glob_t found = {0};
    int rc = glob(pattern, 0, NULL, &found);
    if (rc != 0 && rc != GLOB_NOMATCH)
        gen_die("%s: cannot be listed", pattern);
    for (size_t i = 0; i < found.gl_pathc; i++)
        for (struct node **doc = gen_load(found.gl_pathv[i]); *doc; doc++)
            add(m, *doc);
    globfree(&found);
}

int main(int argc, char **argv)
{
    const char *output = NULL;
    int opt;
    while ((opt = getopt(argc, argv, "o:")) != -1) {
        if (opt != 'o')
            gen_die("usage: rco-gen [-o OUTPUT] ROOT");
        output = optarg;
    }
    if (optind + 1 != argc)
        gen_die("usage: rco-gen [-o OUTPUT] ROOT");
    const char *root = argv[optind];
    if (!output)
        output = root;
    struct gen_model m;
    gen_model_init(&m, gen_load(gen_printf("%s/hack/gen/names.yaml", root))[0]);
    add_files(&m, gen_printf("%s/crds/*.yaml", root), gen_model_add_crd);
    add_files(&m, gen_printf("%s/hack/gen/external/*.yaml", root), gen_model_add_external);
    write_file(&m, gen_printf("%s/pkg/api/zz_generated_types.h", output), gen_emit_types);
    write_file(&m, gen_printf("%s/pkg/api/zz_generated_tables.c", output), gen_emit_tables);
    write_file(&m, gen_printf("%s/docs/api.md", output), gen_emit_docs);
    return 0;
}
