#include "base/sha256.h"
#include "base/str.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void digests_are_those_of_fips_180(void **state)
{
    char hex[RCO_SHA256_HEX];
    rco_sha256_hex("abc", 3, hex);
    assert_string_equal(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    rco_sha256_hex("", 0, hex);
    assert_string_equal(hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

static void pieces_give_the_digest_of_the_whole_and_the_state_is_used_again(void **state)
{
    struct rco_sha256 *s = rco_sha256_new();
    unsigned char out[RCO_SHA256_LEN], want[RCO_SHA256_LEN];
    rco_sha256_of("abc", 3, want);
    for (int i = 0; i < 2; i++) {
        rco_sha256_update(s, "a", 1);
        rco_sha256_update(s, "", 0);
        rco_sha256_update(s, "bc", 2);
        rco_sha256_final(s, out);
        assert_memory_equal(out, want, sizeof(want));
    }
    rco_sha256_free(s);
    rco_sha256_free(NULL);
}

static void keyed_digests_are_those_of_rfc_4231(void **state)
{
    unsigned char out[RCO_SHA256_LEN];
    char hex[RCO_SHA256_HEX];
    rco_hmac_sha256("Jefe", 4, "what do ya want for nothing?", 28, out);
    rco_hex_encode(out, sizeof(out), hex);
    assert_string_equal(hex, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

static void base64_is_that_of_rfc_4648(void **state)
{
    static const char *const rows[][2] = {
        {"", ""}, {"f", "Zg=="}, {"fo", "Zm8="}, {"foo", "Zm9v"}, {"foobar", "Zm9vYmFy"}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char *text = rco_base64_encode(rows[i][0], strlen(rows[i][0]));
        assert_string_equal(text, rows[i][1]);
        size_t n = 99;
        unsigned char *back = rco_base64_decode(text, strlen(text), &n);
        assert_non_null(back);
        assert_int_equal(n, strlen(rows[i][0]));
        assert_string_equal((char *)back, rows[i][0]);
        free(back);
        free(text);
    }
}

static void what_is_not_base64_is_refused(void **state)
{
    static const char *const bad[] = {
        "Z", "Zg", "Zg=", "Zg==Zg==", "Z===", "====", "Zm9\n", "Zm9-", "Z=9v", " Zm9"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        size_t n;
        unsigned char *out = rco_base64_decode(bad[i], strlen(bad[i]), &n);
        if (out)
            fail_msg("%s was accepted", bad[i]);
    }
}

/* The text need not end with a NUL: its length is given. */
static void base64_is_read_only_as_far_as_it_goes(void **state)
{
    char *exact = malloc(4);
    memcpy(exact, "Zm9v", 4);
    size_t n;
    unsigned char *out = rco_base64_decode(exact, 4, &n);
    assert_non_null(out);
    assert_int_equal(n, 3);
    free(out);
    free(exact);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(digests_are_those_of_fips_180),
        cmocka_unit_test(pieces_give_the_digest_of_the_whole_and_the_state_is_used_again),
        cmocka_unit_test(keyed_digests_are_those_of_rfc_4231),
        cmocka_unit_test(base64_is_that_of_rfc_4648),
        cmocka_unit_test(what_is_not_base64_is_refused),
        cmocka_unit_test(base64_is_read_only_as_far_as_it_goes),
    };
    return cmocka_run_group_tests_name("sha256", tests, NULL, NULL);
}
