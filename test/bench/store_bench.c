/* Memory of the informer stores for 20,000 specifications and as many finished runs, all different,
 * and the time of a relist. Run from the root of the repository. */
#include "api/zz_generated_types.h"
#include "base/clock.h"
#include "base/file.h"
#include "decide/compact.h"
#include "runtime/store.h"

#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>

#define OBJECTS 20000

static void by_environment(const void *obj, struct rco_index_sink *sink)
{
    const struct rco_depspec *d = obj;

    rco_index_emit(sink, d->spec.environment_id);
}

static void by_uid(const void *obj, struct rco_index_sink *sink)
{
    rco_index_emit(sink, ((const struct rco_meta *)obj)->uid);
}

static void by_specification(const void *obj, struct rco_index_sink *sink)
{
    const struct rco_run *r = obj;

    rco_index_emit(sink, r->spec.specification_ref.name);
}

struct kind {
    const char *path;
    enum rco_kind kind;
    rco_compact_fn compact;
    struct rco_index indexes[2];
    size_t n_indexes;
};

static const struct kind kinds[] = {
    {"test/data/objects/depspec.json",
     RCO_KIND_DEPSPEC,
     rco_compact_depspec,
     {{"by-environment", by_environment}, {"by-uid", by_uid}},
     2},
    {"test/data/objects/run.json",
     RCO_KIND_RUN,
     rco_compact_run,
     {{"by-specification", by_specification}, {"by-uid", by_uid}},
     2},
};

/* Makes object number I out of the sample: other names, uids, versions. */
static void vary(struct rco_meta *m, int i, int version, struct rco_arena *a)
{
    m->name = rco_arena_printf(a, "%s-%05d", m->name, i);
    m->ns = rco_arena_printf(a, "team-%d", i % 100);
    m->uid = rco_arena_printf(a, "%08x-1c2d-4e3f-8a9b-%012x", i * 2654435761u, i);
    m->resource_version = rco_arena_printf(a, "%d", 8000000 + i + version);
    m->creation += (rco_wall)i * 7 * RCO_US_PER_S;
}

static void fill(const struct kind *k, struct rco_store *s, const struct rco_buf *json, int version)
{
    const struct rco_schema *schema = rco_kind_info(k->kind)->schema;
    struct rco_arena a = RCO_ARENA_INIT;
    struct rco_error err = RCO_ERROR_INIT;

    for (int i = 0; i < OBJECTS; i++) {
        void *obj;

        rco_arena_clear(&a);
        obj = rco_arena_alloc(&a, schema->size);
        if (rco_codec_decode(schema, json->data, json->len, &a, obj, &err) < 0) {
            fprintf(stderr, "%s: %s\n", k->path, err.msg);
            exit(1);
        }
        vary(obj, i, version, &a);
        if (k->kind == RCO_KIND_RUN) {
            struct rco_run *r = obj;

            r->metadata.n_finalizers = 0; /* finished and recorded */
            r->spec.specification_id =
                rco_arena_printf(&a, "%08x-1c2d-4e3f-8a9b-%012x", i * 40503u, i);
            r->spec.specification_ref.name = rco_arena_printf(&a, "shop-web-%05d", i);
            r->spec.specification_ref.uid = r->spec.specification_id;
        }
        rco_store_upsert(s, obj, &a);
    }
    rco_arena_release(&a);
}

static void measure(const struct kind *k)
{
    rco_autobuf json = RCO_BUF_INIT;
    struct rco_error err = RCO_ERROR_INIT;
    struct rco_intern *intern = rco_intern_new();
    struct rco_store_stats stats, relisted;
    size_t before, after;
    struct rco_store *s;
    rco_mono began;

    if (rco_file_read(k->path, 1024 * 1024, &json, &err) < 0) {
        fprintf(stderr, "%s\n", err.msg);
        exit(1);
    }
    malloc_trim(0);
    before = mallinfo2().uordblks + mallinfo2().hblkhd;
    s = rco_store_new(k->kind, intern);
    rco_store_set_compact(s, k->compact);
    for (size_t i = 0; i < k->n_indexes; i++)
        rco_store_add_index(s, &k->indexes[i]);
    fill(k, s, &json, 0);
    after = mallinfo2().uordblks + mallinfo2().hblkhd;
    rco_store_stats(s, &stats);
    began = rco_clock_mono();
    rco_store_mark_begin(s);
    fill(k, s, &json, 1);
    rco_store_mark_finish(s);
    rco_store_stats(s, &relisted);
    printf("%-24s %zu bytes of JSON; kept: %zu record + %zu tables = %zu, malloc says %zu per "
           "object; relist %" PRId64 " us per object with decoding, peak %.2f\n",
           rco_kind_info(k->kind)->kind, json.len, stats.record_bytes / OBJECTS,
           stats.table_bytes / OBJECTS, (stats.record_bytes + stats.table_bytes) / OBJECTS,
           (after - before) / OBJECTS, (rco_clock_mono() - began) / 1000 / OBJECTS,
           (double)(relisted.record_bytes + relisted.table_bytes) /
               (double)(stats.record_bytes + stats.table_bytes));
    rco_store_free(s);
    rco_intern_free(intern);
}

int main(void)
{
    for (size_t i = 0; i < RCO_ARRAY_LEN(kinds); i++)
        measure(&kinds[i]);
    return 0;
}
