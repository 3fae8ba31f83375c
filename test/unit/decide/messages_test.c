/* Messages of conditions and Events: caps, and that what is read back is what was written. */
#include "decide/conditions.h"

#include "base/str.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void a_message_is_cut_between_characters(void **state)
{
    rco_autoarena a = RCO_ARENA_INIT;
    assert_string_equal(rco_message_cut(&a, "short", 10), "short");
    assert_string_equal(rco_message_cut(&a, "exactly10!", 10), "exactly10!");
    assert_string_equal(rco_message_cut(&a, "more than 10", 10), "more th...");
    assert_string_equal(rco_message_cut(&a, "more t\xc3\xa4 than", 10), "more t...");
}

/* The API server stores U+FFFD for what is not UTF-8: the next decision would find another text
 * than its own, and write again. */
static void a_message_is_valid_text(void **state)
{
    static const struct {
        const char *text, *want;
    } rows[] = {
        {"a\nb\tc\x7f", "a b c "},
        {"k\xc3\xa4se \xe2\x82\xac \xf0\x9f\x98\x80", "k\xc3\xa4se \xe2\x82\xac \xf0\x9f\x98\x80"},
        {"cut \xe2\x82", "cut ??"},
        {"\xff\xc0\x80 \xed\xa0\x80", "??? ???"},
    };
    rco_autoarena a = RCO_ARENA_INIT;
    for (size_t i = 0; i < RCO_ARRAY_LEN(rows); i++)
        assert_string_equal(rco_message_cut(&a, rows[i].text, 100), rows[i].want);
    /* What a format cuts in the middle of a character. */
    assert_string_equal(rco_message(&a, "%.2s", "a\xc3\xa4"), "a?");
}

static void what_comes_from_outside_takes_no_room_from_the_remedy(void **state)
{
    rco_autoarena a = RCO_ARENA_INIT;
    char text[RCO_MESSAGE_MAX + 1];
    memset(text, 'x', RCO_MESSAGE_MAX);
    text[RCO_MESSAGE_MAX] = '\0';
    const char *s = rco_message_fit(&a, "head: ", text, "; remedy", RCO_MESSAGE_MAX);
    assert_int_equal(strlen(s), RCO_MESSAGE_MAX);
    assert_true(rco_str_has_prefix(s, "head: xxx") && rco_str_has_suffix(s, "x...; remedy"));
    assert_string_equal(rco_message_fit(&a, "head: ", "why", "; remedy", 100), "head: why; remedy");
    assert_string_equal(rco_message_fit(&a, "head: ", "why", "; remedy", 3), "head: why; remedy");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_message_is_cut_between_characters),
        cmocka_unit_test(a_message_is_valid_text),
        cmocka_unit_test(what_comes_from_outside_takes_no_room_from_the_remedy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
