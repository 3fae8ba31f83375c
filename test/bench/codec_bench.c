/* Time of a decode, pack and unpack, and bytes of a packed record, for real-looking objects. Run
 * from the root of the repository. */
#include "api/kinds.h"
#include "api/zz_generated_types.h"
#include "base/clock.h"
#include "base/file.h"
#include "decide/compact.h"
#include "json/codec.h"

#include <stdio.h>

#define ROUNDS 20000

struct sample {
    const char *path;
    enum rco_kind kind;
    void (*compact)(void *obj, struct rco_arena *scratch); /* what the informer keeps */
};

static int64_t time_decode(const struct rco_schema *schema, const struct rco_buf *json, void *obj)
{
    struct rco_arena a = RCO_ARENA_INIT;
    struct rco_error err = RCO_ERROR_INIT;
    rco_mono begin = rco_clock_mono();
    for (int i = 0; i < ROUNDS; i++) {
        rco_arena_clear(&a);
        if (rco_codec_decode(schema, json->data, json->len, &a, obj, &err) < 0) {
            fprintf(stderr, "%s\n", err.msg);
            exit(1);
        }
    }
    int64_t ns = (rco_clock_mono() - begin) / ROUNDS;
    rco_arena_release(&a);
    return ns;
}

static int64_t time_unpack(const struct rco_schema *schema, const struct rco_buf *packed,
                           const struct rco_intern *t, void *obj)
{
    struct rco_arena a = RCO_ARENA_INIT;
    rco_mono begin = rco_clock_mono();
    for (int i = 0; i < ROUNDS; i++) {
        rco_arena_clear(&a);
        rco_codec_unpack(schema, packed->data, packed->len, t, &a, obj);
    }
    int64_t ns = (rco_clock_mono() - begin) / ROUNDS;
    rco_arena_release(&a);
    return ns;
}

/* Bytes of the record after the informer's hook; a finished run has lost its finalizer by then. */
static size_t kept_bytes(const struct sample *s, const struct rco_buf *json, struct rco_intern *t)
{
    const struct rco_schema *schema = rco_kind_info(s->kind)->schema;
    rco_autobuf packed = RCO_BUF_INIT;
    rco_autoarena a = RCO_ARENA_INIT;
    struct rco_error err = RCO_ERROR_INIT;
    void *obj = rco_arena_alloc(&a, schema->size);
    if (rco_codec_decode(schema, json->data, json->len, &a, obj, &err) < 0)
        exit(1);
    if (s->kind == RCO_KIND_RUN)
        ((struct rco_meta *)obj)->n_finalizers = 0;
    s->compact(obj, &a);
    rco_codec_pack(schema, obj, t, &packed);
    return packed.len;
}

static void measure(const struct sample *s)
{
    const struct rco_schema *schema = rco_kind_info(s->kind)->schema;
    rco_autobuf json = RCO_BUF_INIT;
    rco_autobuf packed = RCO_BUF_INIT;
    rco_autoarena a = RCO_ARENA_INIT;
    struct rco_error err = RCO_ERROR_INIT;
    void *obj = rco_arena_alloc(&a, schema->size);
    struct rco_intern *t = rco_intern_new();
    if (rco_file_read(s->path, 1 << 20, &json, &err) < 0 ||
        rco_codec_decode(schema, json.data, json.len, &a, obj, &err) < 0) {
        fprintf(stderr, "%s\n", err.msg);
        exit(1);
    }
    rco_mono begin = rco_clock_mono();
    for (int i = 0; i < ROUNDS; i++) {
        rco_buf_clear(&packed);
        rco_codec_pack(schema, obj, t, &packed);
    }
    int64_t pack_ns = (rco_clock_mono() - begin) / ROUNDS;
    int64_t unpack_ns = time_unpack(schema, &packed, t, obj);
    printf("%-36s json %5zu B  decode %6lld ns  pack %5lld ns  unpack %5lld ns  packed %4zu B",
           s->path, json.len, (long long)time_decode(schema, &json, obj), (long long)pack_ns,
           (long long)unpack_ns, packed.len);
    printf("  kept %4zu B\n", kept_bytes(s, &json, t));
    rco_intern_free(t);
}

int main(void)
{
    static const struct sample samples[] = {
        {"test/data/objects/depspec_small.json", RCO_KIND_DEPSPEC, rco_compact_depspec},
        {"test/data/objects/depspec.json", RCO_KIND_DEPSPEC, rco_compact_depspec},
        {"test/data/objects/run.json", RCO_KIND_RUN, rco_compact_run},
        {"test/data/objects/pod.json", RCO_KIND_POD, rco_compact_pod},
    };
    for (size_t i = 0; i < RCO_ARRAY_LEN(samples); i++)
        measure(&samples[i]);
    return 0;
}
