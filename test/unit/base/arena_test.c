#include "base/arena.h"
#include "base/buf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void memory_is_zeroed_aligned_and_apart(void **state)
{
    rco_autoarena a = RCO_ARENA_INIT;
    unsigned char *pieces[300];
    for (size_t i = 0; i < 300; i++) {
        size_t n = i * 37 % 5000;
        pieces[i] = rco_arena_alloc(&a, n);
        assert_int_equal((uintptr_t)pieces[i] % _Alignof(max_align_t), 0);
        for (size_t k = 0; k < n; k++)
            assert_int_equal(pieces[i][k], 0);
        memset(pieces[i], (int)i, n);
    }
    for (size_t i = 0; i < 300; i++)
        for (size_t k = 0; k < i * 37 % 5000; k++)
            assert_int_equal(pieces[i][k], (unsigned char)i);
}

static void a_cleared_arena_gives_zeroed_memory_again(void **state)
{
    rco_autoarena a = RCO_ARENA_INIT;
    for (int round = 0; round < 3; round++) {
        char *p = rco_arena_alloc(&a, 1000);
        for (int i = 0; i < 1000; i++)
            assert_int_equal(p[i], 0);
        memset(p, 0xff, 1000);
        rco_arena_alloc(&a, 500000);
        assert_true(a.used >= 501000);
        rco_arena_clear(&a);
        assert_int_equal(a.used, 0);
    }
}

static void texts_are_copied_with_their_end(void **state)
{
    rco_autoarena a = RCO_ARENA_INIT;
    assert_null(rco_arena_strdup(&a, NULL));
    assert_string_equal(rco_arena_strdup(&a, "text"), "text");
    assert_string_equal(rco_arena_strndup(&a, "text", 2), "te");
    assert_string_equal(rco_arena_strndup(&a, NULL, 0), "");
    assert_string_equal(rco_arena_printf(&a, "%s-%d", "x", 7), "x-7");
    assert_memory_equal(rco_arena_memdup(&a, "a\0b", 3), "a\0b", 3);
}

static void a_buffer_ends_with_a_nul_after_every_step(void **state)
{
    rco_autobuf b = RCO_BUF_INIT;
    assert_string_equal(rco_buf_str(&b), "");
    rco_buf_adds(&b, NULL);
    rco_buf_adds(&b, "ab");
    rco_buf_addc(&b, 'c');
    rco_buf_addf(&b, "%03d", 7);
    rco_buf_add(&b, "de", 2);
    assert_string_equal(b.data, "abc007de");
    assert_int_equal(b.len, 8);
    rco_buf_consume(&b, 3);
    assert_string_equal(b.data, "007de");
    rco_buf_consume(&b, 99);
    assert_string_equal(b.data, "");
    for (int i = 0; i < 10000; i++) {
        rco_buf_addc(&b, 'x');
        assert_int_equal(b.data[b.len], '\0');
    }
    assert_int_equal(strlen(b.data), 10000);
    rco_buf_clear(&b);
    assert_string_equal(b.data, "");
}

static void a_capped_buffer_stays_as_it_was_when_it_would_overflow(void **state)
{
    rco_autobuf b = RCO_BUF_INIT;
    struct rco_error err = RCO_ERROR_INIT;
    assert_int_equal(rco_buf_add_capped(&b, "12345678", 8, 10, &err), 0);
    assert_int_equal(rco_buf_add_capped(&b, "123", 3, 10, &err), -1);
    assert_int_equal(err.code, RCO_ETOOBIG);
    assert_string_equal(b.data, "12345678");
    assert_int_equal(rco_buf_add_capped(&b, "90", 2, 10, &err), 0);
    assert_int_equal(rco_buf_add_capped(&b, "", SIZE_MAX, 10, &err), -1);
    assert_int_equal(b.len, 10);
}

static void the_memory_of_a_buffer_can_be_taken_out(void **state)
{
    struct rco_buf b = RCO_BUF_INIT;
    rco_autofree char *empty = rco_buf_take(&b);
    assert_string_equal(empty, "");
    rco_buf_adds(&b, "x");
    rco_autofree char *s = rco_buf_take(&b);
    assert_string_equal(s, "x");
    assert_null(b.data);
    rco_autofree char *t = rco_asprintf("%d%%", 5);
    assert_string_equal(t, "5%");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_zeroed_aligned_and_apart),
        cmocka_unit_test(a_cleared_arena_gives_zeroed_memory_again),
        cmocka_unit_test(texts_are_copied_with_their_end),
        cmocka_unit_test(a_buffer_ends_with_a_nul_after_every_step),
        cmocka_unit_test(a_capped_buffer_stays_as_it_was_when_it_would_overflow),
        cmocka_unit_test(the_memory_of_a_buffer_can_be_taken_out),
    };
    return cmocka_run_group_tests_name("arena", tests, NULL, NULL);
}
