#include "json/codec.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void equal_texts_share_an_id_and_others_do_not(void **state)
{
    struct rco_intern *t = rco_intern_new();
    uint32_t a = rco_intern_ref(t, "a"), b = rco_intern_ref(t, "b"), empty = rco_intern_ref(t, "");
    assert_true(a >= 1 && b >= 1 && empty >= 1);
    assert_int_equal(rco_intern_ref(t, "a"), a);
    assert_int_not_equal(a, b);
    assert_string_equal(rco_intern_str(t, a), "a");
    assert_string_equal(rco_intern_str(t, empty), "");
    assert_int_equal(rco_intern_count(t), 3);
    rco_intern_free(t);
}

static void a_text_goes_with_its_last_reference(void **state)
{
    struct rco_intern *t = rco_intern_new();
    uint32_t a = rco_intern_ref(t, "a");
    rco_intern_ref(t, "a");
    rco_intern_unref(t, a);
    assert_string_equal(rco_intern_str(t, a), "a");
    rco_intern_unref(t, a);
    assert_int_equal(rco_intern_count(t), 0);
    rco_intern_free(t);
}

/* Random references and releases against a plain table of counts. */
static void many_references_and_releases_keep_the_table_right(void **state)
{
    enum { N = 3000, STEPS = 200000 };
    struct rco_intern *t = rco_intern_new();
    uint32_t *ids = calloc(N, sizeof(*ids));
    unsigned *refs = calloc(N, sizeof(*refs));
    uint64_t r = 88172645463325252u;
    size_t live = 0;
    char text[32];
    for (int step = 0; step < STEPS; step++) {
        r ^= r << 13;
        r ^= r >> 7;
        r ^= r << 17;
        size_t i = r % N;
        snprintf(text, sizeof(text), "text-%zu", i);
        if (r >> 32 & 1 || !refs[i]) {
            uint32_t id = rco_intern_ref(t, text);
            assert_true(!refs[i] || ids[i] == id);
            live += !refs[i];
            ids[i] = id;
            refs[i]++;
        } else {
            assert_string_equal(rco_intern_str(t, ids[i]), text);
            rco_intern_unref(t, ids[i]);
            live -= --refs[i] == 0;
        }
        assert_int_equal(rco_intern_count(t), live);
    }
    for (size_t i = 0; i < N; i++)
        for (; refs[i]; refs[i]--)
            rco_intern_unref(t, ids[i]);
    assert_int_equal(rco_intern_count(t), 0);
    free(ids);
    free(refs);
    rco_intern_free(t);
}

static void ids_are_used_again_so_that_they_stay_small(void **state)
{
    struct rco_intern *t = rco_intern_new();
    char text[32];
    uint32_t max = 0;
    for (int i = 0; i < 10000; i++) {
        snprintf(text, sizeof(text), "text-%d", i);
        uint32_t id = rco_intern_ref(t, text);
        max = id > max ? id : max;
        rco_intern_unref(t, id);
    }
    assert_true(max <= 2);
    rco_intern_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_texts_share_an_id_and_others_do_not),
        cmocka_unit_test(a_text_goes_with_its_last_reference),
        cmocka_unit_test(many_references_and_releases_keep_the_table_right),
        cmocka_unit_test(ids_are_used_again_so_that_they_stay_small),
    };
    return cmocka_run_group_tests_name("intern", tests, NULL, NULL);
}
