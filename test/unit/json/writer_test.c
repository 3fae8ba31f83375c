/* The writer, and changes to single members of a text. */
#include "json/edit.h"
#include "json/writer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void commas_stand_where_they_belong(void **state)
{
    rco_autobuf b = RCO_BUF_INIT;
    struct rco_json_writer w;
    rco_json_writer_init(&w, &b);
    rco_json_begin_object(&w);
    rco_json_kv_string(&w, "a", "x");
    rco_json_kv_string_opt(&w, "no", NULL);
    rco_json_kv_string_opt(&w, "no", "");
    rco_json_kv_int(&w, "b", INT64_MIN);
    rco_json_kv_array(&w, "c");
    rco_json_begin_object(&w);
    rco_json_end_object(&w);
    rco_json_begin_array(&w);
    rco_json_end_array(&w);
    rco_json_null(&w);
    rco_json_string(&w, NULL);
    rco_json_raw(&w, "{\"r\":1}", 7);
    rco_json_end_array(&w);
    rco_json_kv_object(&w, "d");
    rco_json_kv_bool(&w, "t", true);
    rco_json_kv_bool(&w, "f", false);
    rco_json_end_object(&w);
    rco_json_end_object(&w);
    assert_string_equal(b.data,
                        "{\"a\":\"x\",\"b\":-9223372036854775808,\"c\":[{},[],null,null,{\"r\":1}],"
                        "\"d\":{\"t\":true,\"f\":false}}");
}

static const char *quoted(struct rco_buf *b, const char *s, size_t n)
{
    struct rco_json_writer w;
    rco_buf_clear(b);
    rco_json_writer_init(&w, b);
    rco_json_string_n(&w, s, n);
    return b->data;
}

static void what_json_cannot_hold_is_escaped(void **state)
{
    rco_autobuf b = RCO_BUF_INIT;
    assert_string_equal(quoted(&b, "a\"b\\c/\b\f\n\r\t\x01\x1f\x7f\0z", 16),
                        "\"a\\\"b\\\\c/\\b\\f\\n\\r\\t\\u0001\\u001f\x7f\\u0000z\"");
    assert_string_equal(quoted(&b, "</script>&'", 11), "\"</script>&'\"");
    assert_string_equal(quoted(&b, "", 0), "\"\"");
}

static void invalid_utf8_becomes_the_replacement_character(void **state)
{
    rco_autobuf b = RCO_BUF_INIT;
    assert_string_equal(quoted(&b, "a\xc3\xa9\xff\xc3", 5),
                        "\"a\xc3\xa9\xef\xbf\xbd\xef\xbf\xbd\"");
    assert_string_equal(quoted(&b, "\xed\xa0\x80", 3), "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
    assert_string_equal(quoted(&b, "\xf0\x9f\x9a\x80", 4), "\"\xf0\x9f\x9a\x80\"");
}

static void keys_are_escaped_like_values(void **state)
{
    rco_autobuf b = RCO_BUF_INIT;
    struct rco_json_writer w;
    rco_json_writer_init(&w, &b);
    rco_json_begin_object(&w);
    rco_json_kv_int(&w, "a\"},\"b", 1);
    rco_json_end_object(&w);
    assert_string_equal(b.data, "{\"a\\\"},\\\"b\":1}");
}

static void check_edit(const char *json, const char *want)
{
    rco_autobuf b = RCO_BUF_INIT;
    struct rco_error err = RCO_ERROR_INIT;
    rco_buf_adds(&b, ">");
    int rc = rco_json_set_nested(json, strlen(json), "metadata", "resourceVersion", "7", &b, &err);
    if (!want) {
        assert_int_equal(rc, -1);
        assert_string_equal(b.data, ">");
        return;
    }
    assert_int_equal(rc, 0);
    assert_string_equal(b.data + 1, want);
}

static void a_nested_member_is_set_and_the_rest_stays_as_it_was(void **state)
{
    check_edit("{}", "{\"metadata\":{\"resourceVersion\":\"7\"}}");
    check_edit("{\"a\" : [1, 2],\"b\":{\"metadata\":1}}",
               "{\"a\" : [1, 2],\"b\":{\"metadata\":1},\"metadata\":{\"resourceVersion\":\"7\"}}");
    check_edit("{\"metadata\":{\"x\":{},\"resourceVersion\":\"3\",\"y\":null},\"z\":1}",
               "{\"z\":1,\"metadata\":{\"x\":{},\"y\":null,\"resourceVersion\":\"7\"}}");
    check_edit("{\"metadata\":null}", "{\"metadata\":{\"resourceVersion\":\"7\"}}");
    check_edit("{\"metadata\":[]}", NULL);
    check_edit("[]", NULL);
    check_edit("{\"a\":1", NULL);
    check_edit("{\"a\":1}}", NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commas_stand_where_they_belong),
        cmocka_unit_test(what_json_cannot_hold_is_escaped),
        cmocka_unit_test(invalid_utf8_becomes_the_replacement_character),
        cmocka_unit_test(keys_are_escaped_like_values),
        cmocka_unit_test(a_nested_member_is_set_and_the_rest_stays_as_it_was),
    };
    return cmocka_run_group_tests_name("writer", tests, NULL, NULL);
}
