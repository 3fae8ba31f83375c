/* Map and heap against plain models. */
#include "base/heap.h"
#include "base/map.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint64_t next_random(uint64_t *r)
{
    *r ^= *r << 13;
    *r ^= *r >> 7;
    *r ^= *r << 17;
    return *r;
}

static void a_map_agrees_with_a_plain_table(void **state)
{
    enum { N = 500, STEPS = 60000 };
    static int values[N][2];
    void *model[N] = {0};
    struct rco_map m = RCO_MAP_INIT;
    uint64_t r = 42;
    size_t n = 0;
    char key[32];
    for (int step = 0; step < STEPS; step++) {
        size_t i = next_random(&r) % N;
        snprintf(key, sizeof(key), "ns/name-%zu", i);
        void *value = &values[i][step % 2];
        switch (next_random(&r) % 3) {
        case 0:
            assert_ptr_equal(rco_map_set(&m, key, value), model[i]);
            n += !model[i];
            model[i] = value;
            break;
        case 1:
            assert_ptr_equal(rco_map_remove(&m, key), model[i]);
            n -= model[i] != NULL;
            model[i] = NULL;
            break;
        default:
            assert_ptr_equal(rco_map_get(&m, key), model[i]);
            assert_int_equal(rco_map_has(&m, key), model[i] != NULL);
        }
        assert_int_equal(m.n, n);
        assert_true(m.capacity < 8 * N); /* marks of removed keys are cleared away */
    }
    rco_map_release(&m);
}

static void iteration_sees_every_entry_once_even_while_removing(void **state)
{
    struct rco_map m = RCO_MAP_INIT;
    int seen[100] = {0};
    char key[16];
    for (size_t i = 0; i < 100; i++) {
        snprintf(key, sizeof(key), "%zu", i);
        rco_map_set(&m, key, &seen[i]);
    }
    size_t it = 0;
    const char *k;
    void *v;
    while (rco_map_next(&m, &it, &k, &v)) {
        ++*(int *)v;
        assert_ptr_equal(rco_map_remove(&m, k), v);
    }
    for (size_t i = 0; i < 100; i++)
        assert_int_equal(seen[i], 1);
    assert_int_equal(m.n, 0);
    rco_map_release(&m);
}

static void an_empty_map_has_nothing(void **state)
{
    struct rco_map m = RCO_MAP_INIT;
    size_t it = 0;
    assert_null(rco_map_get(&m, "a"));
    assert_null(rco_map_remove(&m, "a"));
    assert_false(rco_map_next(&m, &it, NULL, NULL));
    rco_map_release(&m);
}

static void a_heap_gives_the_smallest_first_and_equals_in_order(void **state)
{
    enum { N = 1000 };
    struct rco_heap h = RCO_HEAP_INIT;
    struct rco_heap_node *nodes = calloc(N, sizeof(*nodes));
    uint64_t r = 7;
    for (int i = 0; i < N; i++)
        rco_heap_push(&h, &nodes[i], (int64_t)(next_random(&r) % 50));
    for (int i = 0; i < N; i += 3) {
        assert_true(rco_heap_contains(&nodes[i]));
        rco_heap_remove(&h, &nodes[i]);
        rco_heap_remove(&h, &nodes[i]);
        assert_false(rco_heap_contains(&nodes[i]));
    }
    struct rco_heap_node *last = NULL, *node;
    size_t n = 0;
    while ((node = rco_heap_pop(&h))) {
        assert_true(!last || last->key < node->key ||
                    (last->key == node->key && last->seq < node->seq));
        assert_int_not_equal((node - nodes) % 3, 0);
        last = node;
        n++;
    }
    assert_int_equal(n, N - (N + 2) / 3);
    assert_null(rco_heap_peek(&h));
    rco_heap_release(&h);
    free(nodes);
}

static void a_hash_depends_on_every_byte_the_length_and_the_seed(void **state)
{
    unsigned char a[40] = {0}, b[40];
    for (size_t i = 0; i < sizeof(a); i++) {
        memcpy(b, a, sizeof(a));
        b[i] ^= 1;
        assert_true(rco_hash(a, sizeof(a), 0) != rco_hash(b, sizeof(b), 0));
        assert_true(rco_hash(a, i, 0) != rco_hash(a, i + 1, 0));
    }
    assert_true(rco_hash(a, 3, 0) != rco_hash(a, 3, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_map_agrees_with_a_plain_table),
        cmocka_unit_test(iteration_sees_every_entry_once_even_while_removing),
        cmocka_unit_test(an_empty_map_has_nothing),
        cmocka_unit_test(a_heap_gives_the_smallest_first_and_equals_in_order),
        cmocka_unit_test(a_hash_depends_on_every_byte_the_length_and_the_seed),
    };
    return cmocka_run_group_tests_name("map", tests, NULL, NULL);
}
