#include "pulumi/mask.h"

#include "base/sha256.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* What comes out for TEXT, fed in pieces of STEP bytes. */
static char *masked(struct rco_mask *m, const char *text, size_t n, size_t step)
{
    struct rco_buf out = RCO_BUF_INIT;
    struct rco_mask_stream *s = rco_mask_stream_new(m);
    for (size_t i = 0; i < n; i += step)
        rco_mask_stream_feed(s, text + i, n - i < step ? n - i : step, &out);
    rco_mask_stream_finish(s, &out);
    rco_mask_stream_free(s);
    return rco_buf_take(&out);
}

static struct rco_mask *mask_of(const char *value)
{
    struct rco_error err = RCO_ERROR_INIT;
    struct rco_mask *m = rco_mask_new();
    assert_int_equal(rco_mask_add(m, value, strlen(value), &err), 0);
    return m;
}

static void check(const char *value, const char *text, const char *want)
{
    struct rco_mask *m = mask_of(value);
    for (size_t step = 1; step <= 64; step = step < 8 ? step + 1 : step * 2) {
        char *got = masked(m, text, strlen(text), step);
        if (strcmp(got, want) != 0)
            fail_msg("%s (by %zu) became %s", text, step, got);
        free(got);
    }
    rco_mask_free(m);
}

static void a_value_is_replaced_wherever_it_lies(void **state)
{
    check("s3cret!", "a s3cret! b s3cret!", "a [masked] b [masked]");
    check("s3cret!", "s3cret", "s3cret");
    check("s3cret!", "s3crs3cret!", "s3cr[masked]");
    check("s3cret!", "s3cret!s3cret!", "[masked]");
    check("abab", "ababab!", "[masked]!");
    check("two\nlines of it", "x two\nlines of it y", "x [masked] y");
}

static void its_other_forms_are_replaced_too(void **state)
{
    check("p\"w<d>&\n1", "{\"a\":\"p\\\"w<d>&\\n1\"}", "{\"a\":\"[masked]\"}");
    check("p\"w<d>&\n1", "{\"a\":\"p\\\"w\\u003cd\\u003e\\u0026\\n1\"}", "{\"a\":\"[masked]\"}");
    check("a b/c+d=", "x?k=a%20b%2Fc%2Bd%3D&", "x?k=[masked]&");
    check("a b/c+d=", "x?k=a+b%2fc%2bd%3d&", "x?k=[masked]&");
    check("canary-value", "63616e6172792d76616c7565", "[masked]");
    check("canary-value", "Y2FuYXJ5LXZhbHVl", "[masked]");
    check("value of a secret\n", "echo value of a secret", "echo [masked]");
}

static void base64_is_found_at_every_alignment(void **state)
{
    struct rco_mask *m = mask_of("a-canary-value-0123");
    static const char *const before[] = {"", "x", "xy", "xyz", "user:", "me@host:"};
    for (size_t i = 0; i < RCO_ARRAY_LEN(before); i++) {
        char text[128];
        strcpy(text, before[i]);
        strcat(text, "a-canary-value-0123");
        char *coded = rco_base64_encode(text, strlen(text));
        char *got = masked(m, coded, strlen(coded), 5);
        assert_non_null(strstr(got, "[masked]"));
        assert_true(strlen(got) <= strlen("[masked]") + strlen(before[i]) * 4 / 3 + 6);
        free(got);
        free(coded);
    }
    rco_mask_free(m);
}

static void lines_and_texts_within_a_value_are_secret_by_themselves(void **state)
{
    check("-----BEGIN KEY-----\nMIIEabcdefgh\nshort\n", "  MIIEabcdefgh", "  [masked]");
    check("-----BEGIN KEY-----\nMIIEabcdefgh\nshort\n", "short", "short");
    check("{\"user\":\"u\",\"password\":\"hunter2hunter2\"}", "pw=hunter2hunter2", "pw=[masked]");
    check("postgres://me:pa55word@host/db", "password pa55word", "password [masked]");
}

static void json_stays_json(void **state)
{
    /* A number is replaced by a number, a text by a text. */
    check("17640", "{\"timestamp\":1764099,\"m\":\"17640\"}\n17640\n",
          "{\"timestamp\":999,\"m\":\"[masked]\"}\n[masked]\n");
    check("17640", "{\"a\\\"\":\"x\",\"n\":17640}", "{\"a\\\"\":\"x\",\"n\":9}");
}

static void short_values_are_left_and_large_ones_refused(void **state)
{
    struct rco_error err = RCO_ERROR_INIT;
    struct rco_mask *m = rco_mask_new();
    static char large[RCO_MASK_MAX_VALUE + 1];
    memset(large, 'q', sizeof(large));
    assert_int_equal(rco_mask_add(m, "abc", 3, &err), 0);
    assert_int_equal(rco_mask_add(m, "abc\r\n", 5, &err), 0);
    assert_int_equal(rco_mask_add(m, "", 0, &err), 0);
    assert_int_equal(rco_mask_count(m), 0);
    assert_int_equal(rco_mask_add(m, large, sizeof(large), &err), -1);
    assert_int_equal(err.code, RCO_ETOOBIG);
    assert_int_equal(rco_mask_add(m, large, 60000, &err), 0);
    for (int i = 0; i < 3; i++) {
        large[0] = (char)('a' + i);
        assert_int_equal(rco_mask_add(m, large, 60000, &err), 0);
    }
    assert_int_equal(rco_mask_add(m, large, 60000, &err), -1);
    assert_int_equal(err.code, RCO_ETOOBIG);
    char *got = masked(m, "abc abc", 7, 3);
    assert_string_equal(got, "abc abc");
    free(got);
    rco_mask_free(m);
}

static void words_of_the_event_format_cannot_be_secret(void **state)
{
    static const char *const words[] = {"update", "true", "sequence", "succeeded", "urn:pulumi:"};
    struct rco_error err = RCO_ERROR_INIT;
    struct rco_mask *m = rco_mask_new();
    for (size_t i = 0; i < RCO_ARRAY_LEN(words); i++)
        assert_int_equal(rco_mask_add(m, words[i], strlen(words[i]), &err), -1);
    assert_int_equal(err.code, RCO_EINVALID);
    assert_int_equal(rco_mask_add(m, "updates", 7, &err), 0);
    rco_mask_free(m);
}

/* The plain search, for comparison: every byte that lies in an occurrence of a value. */
static void random_streams_agree_with_a_plain_search(void **state)
{
    unsigned seed = 7;
    for (int round = 0; round < 300; round++) {
        char values[3][8], text[200], want[400];
        struct rco_error err = RCO_ERROR_INIT;
        struct rco_mask *m = rco_mask_new();
        bool hide[200] = {false};
        size_t n = sizeof(text), w = 0;
        for (int v = 0; v < 3; v++) {
            size_t len = 4 + (size_t)v;
            for (size_t i = 0; i < len; i++)
                values[v][i] = (char)('x' + rand_r(&seed) % 2);
            values[v][len] = '\0';
            assert_int_equal(rco_mask_add(m, values[v], len, &err), 0);
        }
        for (size_t i = 0; i < n; i++)
            text[i] = (char)('x' + rand_r(&seed) % 3);
        for (int v = 0; v < 3; v++)
            for (size_t i = 0; i + strlen(values[v]) <= n; i++)
                if (memcmp(text + i, values[v], strlen(values[v])) == 0)
                    memset(hide + i, true, strlen(values[v]));
        for (size_t i = 0; i < n; i++) {
            if (!hide[i])
                want[w++] = text[i];
            else if (i == 0 || !hide[i - 1])
                w = (size_t)(stpcpy(want + w, "[masked]") - want);
        }
        want[w] = '\0';
        char *got = masked(m, text, n, 1 + (size_t)round % 40);
        assert_string_equal(got, want);
        free(got);
        rco_mask_free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_value_is_replaced_wherever_it_lies),
        cmocka_unit_test(its_other_forms_are_replaced_too),
        cmocka_unit_test(base64_is_found_at_every_alignment),
        cmocka_unit_test(lines_and_texts_within_a_value_are_secret_by_themselves),
        cmocka_unit_test(json_stays_json),
        cmocka_unit_test(short_values_are_left_and_large_ones_refused),
        cmocka_unit_test(words_of_the_event_format_cannot_be_secret),
        cmocka_unit_test(random_streams_agree_with_a_plain_search),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
