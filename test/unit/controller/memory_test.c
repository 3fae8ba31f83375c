/* What the caches take for a settled specification and its run, with the product's own table of
 * informers. Sizes only: the same on every machine. */
#include "api/zz_generated_types.h"
#include "base/file.h"
#include "runtime/store.h"
#include "setup.h"
#include "world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define OBJECTS 2000
#define PER_NAMESPACE 100

static struct rco_store *make_store(const struct rco_setup *setup, enum rco_kind kind,
                                    struct rco_intern *intern)
{
    struct rco_store *s = rco_store_new(kind, intern);

    for (size_t i = 0; i < setup->n_informers; i++) {
        const struct rco_informer_spec *spec = &setup->informers[i];

        if (spec->kind != kind)
            continue;
        if (spec->compact)
            rco_store_set_compact(s, spec->compact);
        for (size_t n = 0; n < spec->n_indexes; n++)
            rco_store_add_index(s, &spec->indexes[n]);
    }
    return s;
}

static const char *hex(struct rco_arena *a, int i, int salt, int digits)
{
    uint64_t x = ((uint64_t)i + 1) * 0x9e3779b97f4a7c15u ^ (uint64_t)salt * 0xbf58476d1ce4e5b9u;
    char *s = rco_arena_alloc(a, 41);

    for (int k = 0; k < digits; k++) {
        s[k] = "0123456789abcdef"[x >> 60];
        x = x * 6364136223846793005u + 1442695040888963407u;
    }
    return s;
}

static const char *uid(struct rco_arena *a, int i, int salt)
{
    const char *h = hex(a, i, salt, 32);

    return rco_arena_printf(a, "%.8s-%.4s-4%.3s-8%.3s-%.12s", h, h + 8, h + 13, h + 17, h + 20);
}

/* As text, so that names and uids change wherever they stand. */
static void vary(struct rco_buf *out, const struct rco_buf *json, const char *const *from,
                 const char *const *to, size_t n)
{
    const char *p = json->data, *end = p + json->len;

    rco_buf_clear(out);
    while (p < end) {
        size_t k = 0;

        while (k < n && strncmp(p, from[k], strlen(from[k])) != 0)
            k++;
        if (k < n) {
            rco_buf_adds(out, to[k]);
            p += strlen(from[k]);
        } else {
            rco_buf_addc(out, *p++);
        }
    }
}

static void put(struct rco_store *s, const struct rco_buf *json, int i)
{
    rco_autoarena a = RCO_ARENA_INIT;
    rco_autobuf copy = RCO_BUF_INIT;
    struct rco_error err = RCO_ERROR_INIT;
    const struct rco_schema *schema = rco_kind_info(rco_store_kind(s))->schema;
    void *obj = rco_arena_alloc(&a, schema->size);
    const char *spec = rco_arena_printf(&a, "web-%05d", i), *spec_uid = uid(&a, i, 1);
    const char *run_uid = uid(&a, i, 2), *commit = hex(&a, i, 3, 40);
    /* The longer ones first. */
    static const char *const from[] = {
        "web-00101-3ec38-v1-b1",
        "web-00101",
        "bench-0001",
        "3ec383d9-3c4d-4a3f-8c6a-2870ec33a8bb",
        "0ef160bb-ac63-425c-8733-37cf108c29b7",
        "575343ffbe3dff1f0883d0b6356f369ca928c4a1",
        "575343ffbe3d",
    };
    const char *const to[] = {
        rco_arena_printf(&a, "%s-%.5s-v1-b1", spec, spec_uid),
        spec,
        rco_arena_printf(&a, "bench-%04d", i / PER_NAMESPACE),
        spec_uid,
        run_uid,
        commit,
        rco_arena_strndup(&a, commit, 12),
    };

    vary(&copy, json, from, to, RCO_ARRAY_LEN(from));
    if (rco_codec_decode(schema, copy.data, copy.len, &a, obj, &err) < 0)
        fail_msg("%s", err.msg);
    rco_store_upsert(s, obj, &a);
}

static size_t bytes_per_object(const struct rco_setup *setup, enum rco_kind kind, const char *path)
{
    struct rco_intern *intern = rco_intern_new();
    struct rco_store *s = make_store(setup, kind, intern);
    rco_autobuf json = RCO_BUF_INIT;
    struct rco_error err = RCO_ERROR_INIT;
    struct rco_store_stats stats;

    if (rco_file_read(path, 1024 * 1024, &json, &err) < 0)
        fail_msg("%s", err.msg);
    for (int i = 0; i < OBJECTS; i++)
        put(s, &json, i);
    assert_int_equal(rco_lister_size(s), OBJECTS);
    /* Strings that differ in each object do not pile up beside the records. */
    assert_true(rco_intern_count(intern) < 100);
    rco_store_stats(s, &stats);
    rco_store_free(s);
    rco_intern_free(intern);
    print_message("%s: %zu bytes of record, %zu of tables\n", rco_kind_info(kind)->kind,
                  stats.record_bytes / OBJECTS, stats.table_bytes / OBJECTS);
    return (stats.record_bytes + stats.table_bytes) / OBJECTS;
}

static void test_a_settled_specification_and_its_run_take_few_bytes(void **state)
{
    static struct rco_setup_storage storage;
    struct rco_world world = {.config = {.operator_namespace = "runtime-cloud"}};
    size_t spec, run;

    (void)state;
    rco_setup_fill(&storage, &world);
    spec =
        bytes_per_object(&storage.setup, RCO_KIND_DEPSPEC, "test/bench/objects/specification.json");
    run = bytes_per_object(&storage.setup, RCO_KIND_RUN, "test/bench/objects/run.json");
    assert_true(spec <= 440);
    assert_true(run <= 210);
    assert_true((spec + run) / 2 <= 400); /* what the product promises */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_settled_specification_and_its_run_take_few_bytes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
