/* One place has one text, and two places have two. */
#include "api/backend.h"

#include "api/names.h"
#include "base/str.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void every_way_to_write_a_place_has_one_form(void **state)
{
    static const struct {
        const char *want;
        const char *urls[12];
    } rows[] = {
        {"postgres://db.example.com/pulumi",
         {"postgres://db.example.com/pulumi", "postgres://DB.Example.com:5432/pulumi/",
          "postgres://db.example.com./pulumi?sslmode=verify-full&sslrootcert=/x",
          "POSTGRES://user@db.example.com/pulumi?sslmode=disable&connect_timeout=10",
          "postgres://db.example.com:/pul%75mi?table=pulumi_state",
          "postgres://db.example.com/pulumi?search_path=public&table=PULUMI_STATE",
          "postgres://db.example.com/pulumi?search_path=%22%24user%22%2C%20public",
          "postgres://db.example.com/pulumi?table=public.pulumi_state&application_name=a",
          "postgres://db.example.com/pulumi?", "postgres://db.example.com/pulumi#x",
          "postgres://db.example.com/pulumi?t%61ble=pulumi_state&user=someone"}},
        {"postgres://db.example.com:5433/pulumi?search_path=team&table=state",
         {"postgres://db.example.com:5433/pulumi?table=state&search_path=team",
          "postgres://db.example.com:5433/pulumi?search_path=Team,public&table=State&sslmode=require",
          "postgres://db.example.com:5433/pulumi?table=team.state",
          "postgres://db.example.com:5433/pulumi?table=%22team%22.%22state%22"}},
        {"postgres://a.example.com,b.example.com:6000/p",
         {"postgres://a.example.com:5432,b.example.com:6000/p",
          "postgres://B.example.com:6000,A.example.com/p?target_session_attrs=read-write"}},
        {"postgres://[fe80::1]/p", {"postgres://[FE80::1]:5432/p", "postgres://[fe80::1]/p"}},
        {"s3://bucket", {"s3://bucket", "S3://Bucket/", "s3://bucket?region=eu-central-1"}},
        {"s3://bucket/Path/to",
         {"s3://bucket/Path/to", "s3://bucket//Path/to/", "s3://bucket/P%61th/to?region=eu&x=1",
          "s3://bucket/to?prefix=Path/", "s3://bucket?prefix=Path%2Fto%2F&profile=ci"}},
        {"s3://bucket?endpoint=minio.example.com:9000",
         {"s3://bucket?endpoint=minio.example.com:9000",
          "s3://bucket?region=x&endpoint=https://MINIO.example.com:9000/&s3ForcePathStyle=true",
          "s3://bucket/?endpoint=http%3A%2F%2Fminio.example.com%3A9000&use_path_style=true"}},
        {"s3://bucket?endpoint=minio.example.com",
         {"s3://bucket?endpoint=https://minio.example.com:443", "s3://bucket?endpoint=http://minio.example.com:80"}},
        {"gs://bucket/x", {"gs://bucket/x", "gs://bucket/x/?access_id=-"}},
        {"azblob://container?storage_account=acme",
         {"azblob://container?storage_account=Acme&protocol=https",
          "azblob://container/?storage_account=acme"}},
        {"https://api.example.com",
         {"https://api.example.com", "https://API.example.com:443/", "https://api.example.com/?a=b"}},
        {"https://api.example.com:8443/o", {"https://api.example.com:8443/o"}},
        {"file:///state", {"file:///state//", "file:///state"}},
        {"file:///", {"file:///"}},
        {"passphrase", {"passphrase"}},
    };

    (void)state;
    for (size_t i = 0; i < RCO_ARRAY_LEN(rows); i++)
        for (size_t k = 0; k < RCO_ARRAY_LEN(rows[i].urls) && rows[i].urls[k]; k++) {
            rco_autoarena a = RCO_ARENA_INIT;
            const char *got = rco_backend_canonical(rows[i].urls[k], &a);

            if (!rco_streq(got, rows[i].want))
                fail_msg("%s: %s, wanted %s", rows[i].urls[k], got, rows[i].want);
            /* The form of a form is itself. */
            assert_string_equal(rco_backend_canonical(got, &a), got);
        }
}

static void other_places_have_other_forms(void **state)
{
    static const char *const places[] = {
        "postgres://db/p",
        "postgres://db/P",
        "postgres://db2/p",
        "postgres://db:5433/p",
        "postgres://db/p?table=other",
        "postgres://db/p?table=%22Other%22",
        "postgres://db/p?search_path=team",
        "postgres://db/p?prefix=x/",
        "postgres://db/",
        "postgres://db,db2/p",
        "s3://p",
        "s3://p/P",
        "s3://p/p",
        "s3://p?prefix=p",
        "s3://p?endpoint=e",
        "s3://p/a%3Fb",
        "gs://p",
        "azblob://p",
        "azblob://p?storage_account=a",
        "azblob://p?domain=example.com&storage_account=a",
        "https://p",
    };
    rco_autoarena a = RCO_ARENA_INIT;

    (void)state;
    for (size_t i = 0; i < RCO_ARRAY_LEN(places); i++)
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(rco_backend_canonical(places[i], &a),
                                    rco_backend_canonical(places[k], &a));
}

static void one_stack_has_one_claim(void **state)
{
    char one[RCO_NAME_SIZE], other[RCO_NAME_SIZE];
    rco_autoarena a = RCO_ARENA_INIT;

    (void)state;
    rco_name_stack_claim(rco_backend_canonical("postgres://db/p?sslmode=disable", &a), "web",
                         "prod", one);
    rco_name_stack_claim(
        rco_backend_canonical("postgres://DB:5432/p/?connect_timeout=5&sslmode=require", &a), "web",
        "prod", other);
    assert_string_equal(one, other);
}

/* Nothing that somebody writes into the field makes it read beyond the text. */
static void broken_texts_are_taken_as_they_come(void **state)
{
    static const char *const texts[] = {"",        "://",        "x://",      "postgres://",
                                        "s3://%",  "s3://b?%",   "s3://b?&&", "s3://b?=&prefix",
                                        "s3://@",  "s3://b/%zz", "s3://b/%0", "postgres://,,:5432,/",
                                        "s3://[x", "postgres://h/p?table=.&search_path=,,"};
    rco_autoarena a = RCO_ARENA_INIT;

    (void)state;
    for (size_t i = 0; i < RCO_ARRAY_LEN(texts); i++)
        assert_non_null(rco_backend_canonical(texts[i], &a));
    assert_string_equal(rco_backend_canonical("s3://b/%zz", &a), "s3://b/%25zz");
    assert_string_equal(rco_backend_canonical("s3://b/a%00b", &a), "s3://b/a%2500b");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_way_to_write_a_place_has_one_form),
        cmocka_unit_test(other_places_have_other_forms),
        cmocka_unit_test(one_stack_has_one_claim),
        cmocka_unit_test(broken_texts_are_taken_as_they_come),
    };

    return cmocka_run_group_tests_name("backend", tests, NULL, NULL);
}
