#include "api/names.h"
#include "base/str.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

#include <cmocka.h>

#define UID "0a1b2c3d-4e5f-4678-9abc-def012345678"

static void names_are_what_the_design_says(void **state)
{
    char out[RCO_NAME_SIZE];
    rco_name_run("shop-web", UID, 7, "Baseline", 1, out);
    assert_string_equal(out, "shop-web-0a1b2-v7-b1");
    rco_name_run("x", UID, 9007199254740991, "Destroy", 12, out);
    assert_string_equal(out, "x-0a1b2-v9007199254740991-d12");
    rco_name_job(UID, "plan", out);
    assert_string_equal(out, "rco-0a1b2c3d4e5f-p");
    rco_name_job(UID, "apply", out);
    assert_string_equal(out, "rco-0a1b2c3d4e5f-a");
    rco_name_anchor(UID, out);
    assert_string_equal(out, "rco-0a1b2c3d4e5f");
    rco_name_chunk(UID, "apply", "state", 3, "00112233445566778899aabb", out);
    assert_string_equal(out, "rco-0a1b2c3d4e5f-as3-0011223344");
    rco_name_state_claim("dev", out);
    assert_string_equal(out, "rco-state-dev");
    rco_name_passphrase("dev", 2, out);
    assert_string_equal(out, "rco-dev-pass-2");
    rco_name_hmac_key("dev", 1, out);
    assert_string_equal(out, "rco-dev-hmac-1");
}

static void a_stack_claim_names_backend_project_and_stack(void **state)
{
    char a[RCO_NAME_SIZE], b[RCO_NAME_SIZE];
    rco_name_stack_claim("s3://bucket", "shop", "dev", a);
    /* printf 's3://bucket\nshop\ndev' | sha256sum */
    assert_string_equal(a, "rco-claim-10a50102a61ffea26973fed20e63387d92362921");
    rco_name_stack_claim("s3://bucket", "shop", "dev", b);
    assert_string_equal(a, b);
    rco_name_stack_claim("s3://bucket", "shop\ndev", "", b);
    assert_string_not_equal(a, b);
    rco_name_stack_claim("s3://bucket", "shopd", "ev", b);
    assert_string_not_equal(a, b);
    assert_true(rco_is_dns_subdomain(a));
    assert_int_equal(strlen(a), 50);
}

static void the_longest_causes_give_valid_names(void **state)
{
    char out[RCO_NAME_SIZE];
    const char *spec = "a23456789-123456789-123456789-123456789b";
    assert_int_equal(strlen(spec), 40);
    rco_name_run(spec, UID, 999999, "Reconciliation", 99, out);
    assert_true(strlen(out) <= 63 && rco_is_dns_label(out));
    rco_name_passphrase(spec, 5, out);
    assert_true(strlen(out) <= 63 && rco_is_dns_label(out));
}

static void a_uid_of_another_form_still_gives_hex_digits(void **state)
{
    char out[RCO_NAME_SIZE], other[RCO_NAME_SIZE];
    rco_name_anchor("not a uuid", out);
    assert_int_equal(strlen(out), 16);
    assert_true(rco_is_lower_hex(out + 4, 12));
    rco_name_anchor("not a uuie", other);
    assert_string_not_equal(out, other);
    rco_name_anchor("", out);
    assert_true(rco_is_lower_hex(out + 4, 12));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_what_the_design_says),
        cmocka_unit_test(a_stack_claim_names_backend_project_and_stack),
        cmocka_unit_test(the_longest_causes_give_valid_names),
        cmocka_unit_test(a_uid_of_another_form_still_gives_hex_digits),
    };
    return cmocka_run_group_tests_name("names", tests, NULL, NULL);
}
