/* What one decision about a settled specification costs: reading it and what belongs to it out of
 * the stores, then deciding. Run from the root of the repository. test/bench/instructions counts
 * what the two functions below execute, which is the same each time. */
#include "api/zz_generated_types.h"
#include "base/file.h"
#include "decide/compact.h"
#include "decide/deployment.h"
#include "plan/plan.h"
#include "runtime/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOW (INT64_C(1796000000) * RCO_US_PER_S)

static const struct {
    enum rco_kind kind;
    const char *path;
    rco_compact_fn compact;
} objects[] = {
    {RCO_KIND_NAMESPACE, "test/bench/objects/namespace.json", rco_compact_namespace},
    {RCO_KIND_ENV, "test/bench/objects/environment.json", NULL},
    {RCO_KIND_DEPSPEC, "test/bench/objects/specification.json", rco_compact_depspec},
    {RCO_KIND_RUN, "test/bench/objects/run.json", rco_compact_run},
    {RCO_KIND_CONFIGMAP, "test/bench/objects/configmap.json", rco_compact_configmap},
};

struct rco_bench_world {
    struct rco_store *stores[RCO_KIND_COUNT];
    struct rco_key keys[RCO_KIND_COUNT];
    struct rco_arena arena;
};

static void load(struct rco_bench_world *w, struct rco_intern *intern)
{
    for (size_t i = 0; i < RCO_ARRAY_LEN(objects); i++) {
        enum rco_kind kind = objects[i].kind;
        const struct rco_schema *schema = rco_kind_info(kind)->schema;
        void *obj = rco_arena_alloc(&w->arena, schema->size);
        rco_autobuf json = RCO_BUF_INIT;
        struct rco_error err = RCO_ERROR_INIT;

        if (rco_file_read(objects[i].path, 1 << 20, &json, &err) < 0 ||
            rco_codec_decode(schema, json.data, json.len, &w->arena, obj, &err) < 0) {
            fprintf(stderr, "%s: %s\n", objects[i].path, err.msg);
            exit(1);
        }
        w->stores[kind] = rco_store_new(kind, intern);
        if (objects[i].compact)
            rco_store_set_compact(w->stores[kind], objects[i].compact);
        w->keys[kind] = rco_key_of(rco_arena_strdup(&w->arena, ((struct rco_meta *)obj)->ns),
                                   rco_arena_strdup(&w->arena, ((struct rco_meta *)obj)->name));
        rco_store_upsert(w->stores[kind], obj, &w->arena);
    }
}

static const void *get(const struct rco_bench_world *w, enum rco_kind kind, struct rco_arena *a)
{
    return rco_lister_get(w->stores[kind], w->keys[kind].ns, w->keys[kind].name, a);
}

/* Not static and not inlined: valgrind counts by name. */
void rco_bench_observe(const struct rco_bench_world *w, struct rco_depspec_observed *o,
                       struct rco_arena *a);
void rco_bench_decide(const struct rco_depspec_observed *o, struct rco_plan *plan);

__attribute__((noinline)) void rco_bench_observe(const struct rco_bench_world *w,
                                                 struct rco_depspec_observed *o,
                                                 struct rco_arena *a)
{
    const struct rco_run **runs = rco_arena_array(a, 1, sizeof(*runs));
    const struct rco_configmap **configmaps = rco_arena_array(a, 1, sizeof(*configmaps));

    o->spec = get(w, RCO_KIND_DEPSPEC, a);
    o->ns = get(w, RCO_KIND_NAMESPACE, a);
    o->env = get(w, RCO_KIND_ENV, a);
    runs[0] = get(w, RCO_KIND_RUN, a);
    o->runs = runs;
    o->n_runs = 1;
    configmaps[0] = get(w, RCO_KIND_CONFIGMAP, a);
    o->configmaps = configmaps;
    o->n_configmaps = 1;
}

__attribute__((noinline)) void rco_bench_decide(const struct rco_depspec_observed *o,
                                                struct rco_plan *plan)
{
    rco_depspec_decide(o, NOW, plan);
}

int main(void)
{
    static const struct rco_decide_config config = {
        .operator_namespace = "runtime-cloud",
        .default_tenant = "default",
        .runner_image = "runtimecloud.local/runtime-cloud-runner:0.1.0",
        .history_limit = 20,
    };
    struct rco_intern *intern = rco_intern_new();
    struct rco_bench_world w = {0};
    int result = 0;

    load(&w, intern);
    /* Twice: the first allocates. */
    for (int i = 0; i < 2; i++) {
        rco_autoarena a = RCO_ARENA_INIT;
        struct rco_depspec_observed o = {.config = &config};
        struct rco_plan plan;

        rco_plan_init(&plan, &a);
        rco_bench_observe(&w, &o, &a);
        rco_bench_decide(&o, &plan);
        if (plan.n_actions != 0 || strcmp(plan.row, "applied") != 0) {
            fprintf(stderr, "decide_bench: row %s with %zu actions, the object is not settled\n",
                    plan.row, (size_t)plan.n_actions);
            result = 1;
        }
    }
    for (int kind = 0; kind < RCO_KIND_COUNT; kind++)
        rco_store_free(w.stores[kind]);
    rco_intern_free(intern);
    rco_arena_release(&w.arena);
    return result;
}
