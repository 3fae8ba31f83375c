#include "http/tls.h"

#include "support.h"

static void a_made_certificate_is_trusted_by_its_ca_for_its_names_in_its_time(void **state)
{
    const char *const names[] = {"gateway.rco.svc", "*.example.org", "10.1.2.3", "fd00::1", NULL};
    struct rco_tls_serving_options o = {.common_name = "gateway",
                                        .names = names,
                                        .not_before = CERT_FROM,
                                        .not_after = CERT_FROM + 3600 * RCO_US_PER_S};
    rco_autofree char *ca = NULL;
    rco_autofree char *ca_key = NULL;
    rco_autofree char *cert = NULL;
    rco_autofree char *key = NULL;
    struct identity other = {0};
    struct rco_error err = RCO_ERROR_INIT;
    rco_wall before, after;

    assert_int_equal(rco_tls_make_ca("ca", CERT_FROM, CERT_UNTIL, &ca, &ca_key, &err), 0);
    o.ca_cert_pem = ca;
    o.ca_key_pem = ca_key;
    assert_int_equal(rco_tls_make_serving(&o, &cert, &key, &err), 0);
    assert_int_equal(rco_tls_check_pair(cert, key, &err), 0);
    assert_int_equal(rco_tls_validity(cert, &before, &after, &err), 0);
    assert_int_equal(before, CERT_FROM);
    assert_int_equal(after, CERT_FROM + 3600 * RCO_US_PER_S);
    assert_true(rco_tls_covers(cert, "gateway.rco.svc"));
    assert_true(rco_tls_covers(cert, "a.example.org"));
    assert_true(rco_tls_covers(cert, "10.1.2.3"));
    assert_true(rco_tls_covers(cert, "fd00::1"));
    assert_false(rco_tls_covers(cert, "gateway"));
    assert_false(rco_tls_covers(cert, "10.1.2.4"));
    assert_true(rco_tls_trusted(cert, ca, CERT_FROM + RCO_US_PER_S));
    assert_false(rco_tls_trusted(cert, ca, CERT_FROM + 7200 * RCO_US_PER_S));
    identity_make(&other, "gateway.rco.svc");
    assert_false(rco_tls_trusted(cert, other.ca, CERT_FROM + RCO_US_PER_S));
    identity_release(&other);
}

static void trap_2_10_a_mismatched_pair_is_refused(void **state)
{
    struct identity a = {0}, b = {0};
    struct rco_error err = RCO_ERROR_INIT;

    identity_make(&a, "localhost");
    identity_make(&b, "localhost");
    assert_int_equal(rco_tls_check_pair(a.cert, b.key, &err), -1);
    assert_int_equal(err.code, RCO_EINVALID);
    assert_int_equal(rco_tls_check_pair(a.cert, "", &err), -1);
    assert_int_equal(rco_tls_check_pair("nonsense", a.key, &err), -1);
    assert_int_equal(rco_tls_check_pair(NULL, NULL, &err), -1);
    identity_release(&a);
    identity_release(&b);
}

static void a_bundle_is_counted_and_a_broken_one_refused(void **state)
{
    struct identity a = {0}, b = {0};
    struct rco_error err = RCO_ERROR_INIT;
    rco_autobuf bundle = RCO_BUF_INIT;
    size_t n = 0;

    identity_make(&a, "localhost");
    identity_make(&b, "localhost");
    rco_buf_addf(&bundle, "# old and new\n%s\n# next\n%s\n", a.ca, b.ca);
    assert_int_equal(rco_tls_count(rco_buf_str(&bundle), &n, &err), 0);
    assert_int_equal(n, 2);
    assert_true(rco_tls_trusted(a.cert, rco_buf_str(&bundle), CERT_FROM + RCO_US_PER_S));
    assert_true(rco_tls_trusted(b.cert, rco_buf_str(&bundle), CERT_FROM + RCO_US_PER_S));
    bundle.data[bundle.len - 60] = '!';
    assert_int_equal(rco_tls_count(rco_buf_str(&bundle), &n, &err), -1);
    assert_int_equal(rco_tls_count("", &n, &err), -1);
    identity_release(&a);
    identity_release(&b);
}

static void unusable_options_are_named(void **state)
{
    static const char *const bad_names[] = {"not a name", NULL};
    static const char *const no_names[] = {NULL};
    struct identity id = {0};
    struct rco_error err = RCO_ERROR_INIT;
    struct rco_tls_serving_options o = {
        .common_name = "x", .names = bad_names, .not_before = CERT_FROM, .not_after = CERT_UNTIL};
    char *cert, *key;

    identity_make(&id, "localhost");
    o.ca_cert_pem = id.ca;
    o.ca_key_pem = id.ca_key;
    assert_int_equal(rco_tls_make_serving(&o, &cert, &key, &err), -1);
    assert_non_null(strstr(err.msg, "not a name"));
    o.names = no_names;
    assert_int_equal(rco_tls_make_serving(&o, &cert, &key, &err), -1);
    assert_int_equal(rco_tls_make_ca("", CERT_FROM, CERT_UNTIL, &cert, &key, &err), -1);
    assert_int_equal(rco_tls_make_ca("x", CERT_UNTIL, CERT_FROM, &cert, &key, &err), -1);
    identity_release(&id);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_made_certificate_is_trusted_by_its_ca_for_its_names_in_its_time),
        cmocka_unit_test(trap_2_10_a_mismatched_pair_is_refused),
        cmocka_unit_test(a_bundle_is_counted_and_a_broken_one_refused),
        cmocka_unit_test(unusable_options_are_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
