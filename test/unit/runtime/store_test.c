#include "runtime/store.h"

#include "api/zz_generated_types.h"
#include "base/map.h"
#include "runtime/multimap.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct log {
    unsigned adds, updates, deletes;
    char old_value[64], new_value[64];
};

static void by_value(const void *obj, struct rco_index_sink *sink)
{
    const struct rco_configmap *c = obj;

    rco_index_emit(sink, rco_kv_get(c->data, c->n_data, "k"));
}

static void by_label(const void *obj, struct rco_index_sink *sink)
{
    const struct rco_meta *m = obj;

    for (size_t i = 0; i < m->n_labels; i++)
        rco_index_emit(sink, m->labels[i].key);
}

static void on_change(void *ctx, const void *old_obj, const void *new_obj)
{
    struct log *l = ctx;
    const struct rco_configmap *o = old_obj, *n = new_obj;

    l->adds += !o;
    l->deletes += !n;
    l->updates += o && n;
    snprintf(l->old_value, 64, "%s",
             o ? rco_str_or_empty(rco_kv_get(o->data, o->n_data, "k")) : "");
    snprintf(l->new_value, 64, "%s",
             n ? rco_str_or_empty(rco_kv_get(n->data, n->n_data, "k")) : "");
}

struct world {
    struct rco_intern *intern;
    struct rco_store *store;
    struct log log;
};

static void world_init(struct world *w)
{
    static const struct rco_index indexes[] = {{"by-value", by_value}, {"by-label", by_label}};

    memset(w, 0, sizeof(*w));
    w->intern = rco_intern_new();
    w->store = rco_store_new(RCO_KIND_CONFIGMAP, w->intern);
    rco_store_add_index(w->store, &indexes[0]);
    rco_store_add_index(w->store, &indexes[1]);
    rco_store_add_handler(w->store, on_change, &w->log);
}

static void world_release(struct world *w)
{
    rco_store_free(w->store);
    assert_int_equal(rco_intern_count(w->intern), 0);
    rco_intern_free(w->intern);
}

static void put(struct world *w, const char *ns, const char *name, const char *rv,
                const char *value)
{
    rco_autoarena a = RCO_ARENA_INIT;
    struct rco_configmap *c = RCO_NEW(&a, struct rco_configmap);
    struct rco_kv data = {"k", value}, label = {"app", "x"};

    c->metadata = (struct rco_meta){.ns = ns,
                                    .name = name,
                                    .resource_version = rv,
                                    .uid = "11111111-2222-4333-8444-555555555555",
                                    .labels = &label,
                                    .n_labels = 1};
    c->data = &data;
    c->n_data = 1;
    rco_store_upsert(w->store, c, &a);
}

static void drop(struct world *w, const char *ns, const char *name)
{
    struct rco_key k = rco_key_of(ns, name);

    rco_store_remove(w->store, &k);
}

static void test_object_comes_back_as_it_was_put_in(void **state)
{
    struct world w;
    rco_autoarena a = RCO_ARENA_INIT;

    (void)state;
    world_init(&w);
    put(&w, "ns1", "one", "7", "value");
    const struct rco_configmap *c = rco_lister_get(w.store, "ns1", "one", &a);
    assert_string_equal(c->metadata.name, "one");
    assert_string_equal(c->metadata.ns, "ns1");
    assert_string_equal(c->metadata.resource_version, "7");
    assert_string_equal(c->metadata.uid, "11111111-2222-4333-8444-555555555555");
    assert_string_equal(rco_meta_label(&c->metadata, "app"), "x");
    assert_string_equal(rco_kv_get(c->data, c->n_data, "k"), "value");
    assert_null(rco_lister_get(w.store, "ns2", "one", &a));
    assert_null(rco_lister_get(w.store, "ns1", "on", &a));
    assert_null(rco_lister_get(w.store, "ns1", "one2", &a));
    assert_false(rco_lister_has(w.store, NULL, "one"));
    world_release(&w);
}

static void test_handlers_see_both_states_and_no_echo(void **state)
{
    struct world w;

    (void)state;
    world_init(&w);
    put(&w, "a", "one", "1", "x");
    put(&w, "a", "one", "1", "x"); /* the same again */
    assert_int_equal(w.log.adds, 1);
    assert_int_equal(w.log.updates, 0);
    put(&w, "a", "one", "2", "y");
    assert_string_equal(w.log.old_value, "x");
    assert_string_equal(w.log.new_value, "y");
    drop(&w, "a", "one");
    assert_int_equal(w.log.deletes, 1);
    assert_string_equal(w.log.old_value, "y");
    drop(&w, "a", "one");
    assert_int_equal(w.log.deletes, 1);
    world_release(&w);
}

static void test_index_follows_changes_and_is_sorted(void **state)
{
    struct world w;
    rco_autoarena a = RCO_ARENA_INIT;
    const void **objs;

    (void)state;
    world_init(&w);
    put(&w, "b", "two", "1", "v");
    put(&w, "a", "zwei", "2", "v");
    put(&w, "a", "eins", "3", "v");
    put(&w, "a", "other", "4", "w");
    assert_int_equal(rco_lister_by_index(w.store, "by-value", "v", &a, &objs), 3);
    assert_string_equal(((const struct rco_meta *)objs[0])->name, "eins");
    assert_string_equal(((const struct rco_meta *)objs[1])->name, "zwei");
    assert_string_equal(((const struct rco_meta *)objs[2])->name, "two");
    put(&w, "a", "zwei", "5", "w");
    drop(&w, "b", "two");
    assert_int_equal(rco_lister_by_index(w.store, "by-value", "v", &a, &objs), 1);
    assert_int_equal(rco_lister_by_index(w.store, "by-value", "w", &a, &objs), 2);
    assert_int_equal(rco_lister_count(w.store, "by-value", "w"), 2);
    assert_int_equal(rco_lister_by_index(w.store, "by-value", "nobody", &a, &objs), 0);
    assert_int_equal(rco_lister_by_index(w.store, "by-label", "app", &a, &objs), 3);
    assert_int_equal(rco_lister_by_index(w.store, "by-label", "v", &a, &objs), 0);
    world_release(&w);
}

static void test_A22_sweep_removes_what_a_relist_did_not_show(void **state)
{
    struct world w;

    (void)state;
    world_init(&w);
    put(&w, "a", "one", "1", "v");
    put(&w, "a", "two", "2", "v");
    put(&w, "a", "bad", "3", "v");
    rco_store_mark_begin(w.store);
    put(&w, "a", "two", "2", "v");
    put(&w, "a", "new", "9", "v");
    struct rco_key bad = rco_key_of("a", "bad");
    rco_store_mark_keep(w.store, &bad);
    assert_int_equal(rco_lister_size(w.store), 4);
    rco_store_mark_finish(w.store);
    assert_int_equal(rco_lister_size(w.store), 3);
    assert_false(rco_lister_has(w.store, "a", "one"));
    assert_true(rco_lister_has(w.store, "a", "bad"));
    assert_int_equal(w.log.deletes, 1);
    world_release(&w);
}

static void test_many_abandoned_relists_keep_every_object(void **state)
{
    struct world w;

    (void)state;
    world_init(&w);
    put(&w, "a", "one", "1", "v");
    put(&w, "a", "two", "1", "v");
    for (int i = 0; i < 1000; i++) {
        rco_store_mark_begin(w.store);
        put(&w, "a", "one", "1", "v");
        rco_store_mark_abandon(w.store);
        assert_int_equal(rco_lister_size(w.store), 2);
    }
    rco_store_mark_begin(w.store);
    put(&w, "a", "one", "1", "v");
    rco_store_mark_finish(w.store);
    assert_false(rco_lister_has(w.store, "a", "two"));
    world_release(&w);
}

static void test_every_one_of_a_thousand_relists_removes_what_is_gone(void **state)
{
    struct world w;

    (void)state;
    world_init(&w);
    for (int i = 0; i < 1000; i++) {
        put(&w, "a", "one", "1", "v");
        put(&w, "a", "two", "1", "v");
        rco_store_mark_begin(w.store);
        put(&w, "a", "one", "1", "v");
        rco_store_mark_finish(w.store);
        assert_true(rco_lister_has(w.store, "a", "one"));
        assert_false(rco_lister_has(w.store, "a", "two"));
    }
    world_release(&w);
}

static void test_A5_version_never_goes_back(void **state)
{
    struct world w;

    (void)state;
    world_init(&w);
    rco_store_set_rv(w.store, "99");
    rco_store_set_rv(w.store, "100"); /* longer is greater */
    assert_string_equal(rco_store_rv(w.store), "100");
    rco_store_set_rv(w.store, "99");
    rco_store_set_rv(w.store, "");
    rco_store_set_rv(w.store, NULL);
    rco_store_set_rv(w.store, "0200");
    rco_store_set_rv(w.store, "abc");
    assert_string_equal(rco_store_rv(w.store), "100");
    rco_store_set_rv(w.store, "340282366920938463463374607431768211456"); /* beyond 64 bits */
    assert_string_equal(rco_store_rv(w.store), "340282366920938463463374607431768211456");
    world_release(&w);
}

static void shorten(void *obj, struct rco_arena *scratch)
{
    struct rco_configmap *c = obj;

    (void)scratch;
    c->n_data = 0;
    c->metadata.n_labels = 0;
}

static void test_A33_compacted_fields_are_not_kept(void **state)
{
    rco_autoarena a = RCO_ARENA_INIT;
    struct world w;
    const void **objs;

    (void)state;
    world_init(&w);
    rco_store_set_compact(w.store, shorten);
    put(&w, "a", "one", "1", "value");
    assert_int_equal(
        ((const struct rco_configmap *)rco_lister_get(w.store, "a", "one", &a))->n_data, 0);
    assert_int_equal(rco_lister_by_index(w.store, "by-value", "value", &a, &objs), 0);
    world_release(&w);
}

static void count_visit(void *ctx, const void *obj)
{
    assert_non_null(((const struct rco_meta *)obj)->name);
    ++*(unsigned *)ctx;
}

static void test_walk_in_slices_visits_each_object_once(void **state)
{
    struct world w;
    char name[32];
    size_t cursor = 0;
    unsigned visits = 0, slices = 1;

    (void)state;
    world_init(&w);
    for (int i = 0; i < 1000; i++) {
        snprintf(name, sizeof(name), "n%d", i);
        put(&w, "a", name, "1", "v");
    }
    for (int i = 0; i < 1000; i += 3) {
        snprintf(name, sizeof(name), "n%d", i);
        drop(&w, "a", name);
    }
    while (rco_lister_walk(w.store, &cursor, 100, count_visit, &visits))
        slices++;
    assert_int_equal(visits, 666);
    assert_int_equal(slices, 7);
    world_release(&w);
}

/* Against a simple model, with random operations: tables, gaps, ids, index chains. */
static void test_random_operations_agree_with_a_model(void **state)
{
    enum { KEYS = 300, STEPS = 60000 };
    struct world w;
    char values[KEYS][8] = {{0}};
    uint64_t seed = 42;
    unsigned n = 0;

    (void)state;
    world_init(&w);
    for (int step = 0; step < STEPS; step++) {
        char name[16], value[8];
        rco_autoarena a = RCO_ARENA_INIT;

        seed = rco_hash(&seed, sizeof(seed), 1);
        unsigned k = (unsigned)(seed % KEYS), op = (unsigned)(seed >> 32) % 3;
        snprintf(name, sizeof(name), "n%u", k);
        if (op == 0) {
            n -= values[k][0] != 0;
            values[k][0] = 0;
            drop(&w, "a", name);
        } else {
            snprintf(value, sizeof(value), "v%u", (unsigned)(seed >> 40) % 20);
            n += values[k][0] == 0;
            memcpy(values[k], value, sizeof(value));
            put(&w, "a", name, "1", value);
        }
        assert_int_equal(rco_lister_size(w.store), n);
        if (step % 500 == 0) {
            for (unsigned v = 0; v < 20; v++) {
                const void **objs;
                unsigned want = 0;

                snprintf(value, sizeof(value), "v%u", v);
                for (unsigned i = 0; i < KEYS; i++)
                    want += strcmp(values[i], value) == 0;
                assert_int_equal(rco_lister_by_index(w.store, "by-value", value, &a, &objs), want);
            }
        }
    }
    world_release(&w);
}

static void test_relist_does_not_double_the_memory(void **state)
{
    struct world w;
    struct rco_store_stats before, during;
    char name[32];

    (void)state;
    world_init(&w);
    for (int i = 0; i < 20000; i++) {
        snprintf(name, sizeof(name), "object-number-%d", i);
        put(&w, "a", name, "1", "v");
    }
    rco_store_stats(w.store, &before);
    rco_store_mark_begin(w.store);
    for (int i = 0; i < 20000; i++) {
        snprintf(name, sizeof(name), "object-number-%d", i);
        put(&w, "a", name, i % 2 ? "1" : "2", "v");
    }
    rco_store_stats(w.store, &during);
    rco_store_mark_finish(w.store);
    assert_true(during.record_bytes + during.table_bytes <=
                (before.record_bytes + before.table_bytes) * 115 / 100);
    print_message("bytes per small object: %zu record + %zu tables\n", before.record_bytes / 20000,
                  before.table_bytes / 20000);
    assert_true((before.record_bytes + before.table_bytes) / 20000 <= 400);
    world_release(&w);
}

static void test_multimap_with_a_hundred_thousand_equal_keys(void **state)
{
    struct rco_multimap m = RCO_MULTIMAP_INIT;
    const uint32_t *ids;
    uint32_t single;

    (void)state;
    for (uint32_t i = 0; i < 100000; i++)
        rco_multimap_add(&m, 1234, i);
    assert_int_equal(rco_multimap_get(&m, 1234, &ids, &single), 100000);
    assert_true(rco_multimap_bytes(&m) < 100000 * 6);
    for (uint32_t i = 100000; i-- > 0;)
        assert_true(rco_multimap_remove(&m, 1234, i));
    assert_int_equal(rco_multimap_get(&m, 1234, &ids, &single), 0);
    assert_false(rco_multimap_remove(&m, 1234, 7));
    rco_multimap_release(&m);
}

/* Against a plain table: adds, removals and doubles of colliding hashes. */
static void test_multimap_agrees_with_a_table(void **state)
{
    enum { HASHES = 97, IDS = 31, STEPS = 200000 };
    static unsigned char want[HASHES][IDS];
    struct rco_multimap m = RCO_MULTIMAP_INIT;
    uint64_t random = 88172645463325252u;

    (void)state;
    for (int step = 0; step < STEPS; step++) {
        unsigned h, id;
        uint64_t hash;
        const uint32_t *ids;
        uint32_t single;
        size_t n, in_table = 0;

        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        h = (unsigned)(random >> 8) % HASHES;
        id = (unsigned)(random >> 32) % IDS;
        /* Many share the upper half, which says where they stand. */
        hash = (uint64_t)(h % 7) << 61 | h;
        if (random & 1 && want[h][id] < 3) {
            rco_multimap_add(&m, hash, id);
            want[h][id]++;
        } else {
            assert_int_equal(rco_multimap_remove(&m, hash, id), want[h][id] > 0);
            want[h][id] -= want[h][id] > 0;
        }
        n = rco_multimap_get(&m, hash, &ids, &single);
        for (unsigned i = 0; i < IDS; i++) {
            size_t found = 0;

            in_table += want[h][i];
            for (size_t k = 0; k < n; k++)
                found += ids[k] == i;
            assert_int_equal(found, want[h][i]);
        }
        assert_int_equal(n, in_table);
    }
    rco_multimap_release(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_object_comes_back_as_it_was_put_in),
        cmocka_unit_test(test_handlers_see_both_states_and_no_echo),
        cmocka_unit_test(test_index_follows_changes_and_is_sorted),
        cmocka_unit_test(test_A22_sweep_removes_what_a_relist_did_not_show),
        cmocka_unit_test(test_many_abandoned_relists_keep_every_object),
        cmocka_unit_test(test_every_one_of_a_thousand_relists_removes_what_is_gone),
        cmocka_unit_test(test_A5_version_never_goes_back),
        cmocka_unit_test(test_A33_compacted_fields_are_not_kept),
        cmocka_unit_test(test_walk_in_slices_visits_each_object_once),
        cmocka_unit_test(test_random_operations_agree_with_a_model),
        cmocka_unit_test(test_relist_does_not_double_the_memory),
        cmocka_unit_test(test_multimap_with_a_hundred_thousand_equal_keys),
        cmocka_unit_test(test_multimap_agrees_with_a_table),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
