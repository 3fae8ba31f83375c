#include "text.h"

#include "base/str.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void clean_is(const char *in, const char *want)
{
    rco_autobuf out = RCO_BUF_INIT;

    rco_text_clean(&out, in);
    assert_string_equal(rco_buf_str(&out), want);
}

static void remote_text_cannot_steer_a_terminal(void **state)
{
    (void)state;
    clean_is("plain", "plain");
    clean_is("r\xc3\xa9sum\xc3\xa9 \xe2\x9c\x94", "r\xc3\xa9sum\xc3\xa9 \xe2\x9c\x94");
    clean_is("\033[31mred\033[0m", "?[31mred?[0m");
    clean_is("a\nb\tc", "a b c");
    clean_is("bell\a del\x7f c1\xc2\x9b", "bell? del? c1?");
    clean_is("turn\xe2\x80\xaeround", "turn?round");
    clean_is("zero\xe2\x80\x8bwidth", "zero?width");
    clean_is("broken \xff\xc3 \xed\xa0\x80 \xc0\xaf", "broken ?? ??? ??");
}

static void a_log_keeps_its_lines_and_loses_its_escapes(void **state)
{
    rco_autobuf out = RCO_BUF_INIT;
    static const char text[] = "one\r\n\ttwo\033]0;title\a\n";

    (void)state;
    rco_text_clean_log(&out, text, sizeof(text) - 1);
    assert_string_equal(rco_buf_str(&out), "one\n\ttwo?]0;title?\n");
}

static void ink_appears_only_with_colours(void **state)
{
    rco_autobuf out = RCO_BUF_INIT;
    const struct rco_style plain = {0}, color = {.color = true};

    (void)state;
    rco_text_ink(&out, &plain, RCO_INK_BAD, "x");
    rco_text_ink(&out, &color, RCO_INK_BAD, "y\033");
    rco_text_ink(&out, &color, RCO_INK_PLAIN, "z");
    assert_string_equal(rco_buf_str(&out), "x\033[31my?\033[0mz");
}

static void width_counts_characters_and_no_colours(void **state)
{
    (void)state;
    assert_int_equal(rco_text_width("abc"), 3);
    assert_int_equal(rco_text_width("\xe2\x9c\x94 ok"), 4);
    assert_int_equal(rco_text_width("\033[1;31mab\033[0m"), 2);
}

static void cut_is(const char *in, size_t width, const char *want)
{
    rco_autobuf out = RCO_BUF_INIT;

    rco_text_cut(&out, in, width);
    assert_string_equal(rco_buf_str(&out), want);
}

static void long_text_is_cut_at_characters_and_keeps_its_colours_closed(void **state)
{
    (void)state;
    cut_is("abcdef", 0, "abcdef");
    cut_is("abcdef", 6, "abcdef");
    cut_is("abcdefg", 6, "abc...");
    cut_is("\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9", 4, "\xc3\xa9...");
    cut_is("\033[31mabcdefg\033[0m", 5, "\033[31mab...\033[0m");
    cut_is("abcd", 2, "ab");
}

static void age_is(int64_t seconds, const char *want)
{
    rco_autobuf out = RCO_BUF_INIT;

    rco_text_age(&out, INT64_C(2000000000000000),
                 INT64_C(2000000000000000) - seconds * RCO_US_PER_S);
    assert_string_equal(rco_buf_str(&out), want);
}

static void ages_read_like_kubectls(void **state)
{
    rco_autobuf out = RCO_BUF_INIT;

    (void)state;
    age_is(0, "0s");
    age_is(119, "119s");
    age_is(120, "2m");
    age_is(7199, "119m");
    age_is(7200, "2h");
    age_is(48 * 3600 - 1, "47h");
    age_is(48 * 3600, "2d");
    age_is(-5, "0s"); /* a clock that is behind */
    rco_text_age(&out, 5, 0);
    rco_text_span(&out, 0, 5);
    assert_string_equal(rco_buf_str(&out), "--");
}

static void span_is(int64_t seconds, const char *want)
{
    rco_autobuf out = RCO_BUF_INIT;

    rco_text_span(&out, RCO_US_PER_S, (seconds + 1) * RCO_US_PER_S);
    assert_string_equal(rco_buf_str(&out), want);
}

static void spans_sizes_and_times_are_short(void **state)
{
    rco_autobuf out = RCO_BUF_INIT;

    (void)state;
    span_is(59, "59s");
    span_is(72, "1m12s");
    span_is(3 * 3600 + 5 * 60 + 9, "3h5m");
    rco_text_size(&out, 812);
    rco_buf_addc(&out, ',');
    rco_text_size(&out, 12595);
    rco_buf_addc(&out, ',');
    rco_text_size(&out, 4 * 1024 * 1024);
    rco_buf_addc(&out, ',');
    rco_text_time(&out, INT64_C(1796021424) * RCO_US_PER_S);
    rco_buf_addc(&out, ',');
    rco_text_clock(&out, INT64_C(1796021424) * RCO_US_PER_S);
    assert_string_equal(rco_buf_str(&out), "812 B,12.3 KiB,4.0 MiB,2026-11-30 06:50:24Z,06:50:24");
}

static void placeholders_are_filled_in_and_other_braces_stay(void **state)
{
    rco_autoarena a = RCO_ARENA_INIT;
    const struct rco_text_var vars[] = {{"run", "r-1"}, {"flags", " -n x"}, {"gone", NULL}};

    (void)state;
    assert_string_equal(rco_text_expand(&a, "logs {run}{flags} {gone} {other}", vars, 3),
                        "logs r-1 -n x ? ?");
    assert_string_equal(rco_text_expand(&a, "-p '{\"spec\":{\"x\":1}}' {run", vars, 3),
                        "-p '{\"spec\":{\"x\":1}}' {run");
}

static void the_nearest_word_is_found_and_far_ones_are_not(void **state)
{
    static const char *const words[] = {"namespace", "context", NULL, "no-color", "all-namespaces"};

    (void)state;
    assert_int_equal(rco_text_distance("kitten", "sitting", 10), 3);
    assert_int_equal(rco_text_distance("kitten", "sitting", 2), 2);
    assert_string_equal(rco_text_nearest("namspace", words, 5), "namespace");
    assert_string_equal(rco_text_nearest("nocolor", words, 5), "no-color");
    assert_string_equal(rco_text_nearest("all", words, 5), "all-namespaces");
    assert_null(rco_text_nearest("zzzzzzzz", words, 5));
    assert_null(rco_text_nearest("", words, 5));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(remote_text_cannot_steer_a_terminal),
        cmocka_unit_test(a_log_keeps_its_lines_and_loses_its_escapes),
        cmocka_unit_test(ink_appears_only_with_colours),
        cmocka_unit_test(width_counts_characters_and_no_colours),
        cmocka_unit_test(long_text_is_cut_at_characters_and_keeps_its_colours_closed),
        cmocka_unit_test(ages_read_like_kubectls),
        cmocka_unit_test(spans_sizes_and_times_are_short),
        cmocka_unit_test(placeholders_are_filled_in_and_other_braces_stay),
        cmocka_unit_test(the_nearest_word_is_found_and_far_ones_are_not),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
