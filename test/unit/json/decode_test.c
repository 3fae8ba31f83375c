/* The decoder: what it accepts, what it refuses, and how it says so. */
#include "json/codec.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum color { COLOR_UNSET, COLOR_UNKNOWN, COLOR_RED, COLOR_GREEN };

struct leaf {
    const char *name;
    int64_t n;
    bool has_n;
};

struct thing {
    const char *text, *shorty, *raw, *quantity;
    enum color color;
    int64_t count;
    bool has_count;
    bool on, has_on;
    rco_wall at, exact;
    struct leaf leaf;
    bool has_leaf;
    struct leaf *leaves;
    size_t n_leaves;
    const char **words;
    size_t n_words;
    struct rco_kv *labels, *ours;
    size_t n_labels, n_ours;
};

static const char *const colors[] = {"Red", "Green", NULL};
static const char *const prefixes[] = {"our.io/", NULL};

static const struct rco_field leaf_fields[] = {
    {.name = "name", .type = RCO_FIELD_STRING, .offset = offsetof(struct leaf, name)},
    {.name = "n",
     .type = RCO_FIELD_INT,
     .offset = offsetof(struct leaf, n),
     .aux_offset = offsetof(struct leaf, has_n)},
};
static const struct rco_schema leaf_schema = {"leaf", sizeof(struct leaf), leaf_fields, 2};

#define FIELD(NAME, TYPE, MEMBER)                                                                  \
    .name = NAME, .type = RCO_FIELD_##TYPE, .offset = offsetof(struct thing, MEMBER)
#define AUX(MEMBER) .aux_offset = offsetof(struct thing, MEMBER)

static const struct rco_field thing_fields[] = {
    {FIELD("text", STRING, text)},
    {FIELD("short", STRING, shorty), .max = 4},
    {FIELD("raw", RAW, raw)},
    {FIELD("quantity", STRING, quantity), .flags = RCO_FIELD_INT_OR_STRING},
    {FIELD("color", ENUM, color), .words = colors},
    {FIELD("count", INT, count), AUX(has_count)},
    {FIELD("on", BOOL, on), AUX(has_on)},
    {FIELD("at", TIME, at)},
    {FIELD("exact", TIME_MICRO, exact)},
    {FIELD("leaf", STRUCT, leaf), AUX(has_leaf), .sub = &leaf_schema},
    {FIELD("leaves", LIST_STRUCT, leaves), AUX(n_leaves), .sub = &leaf_schema, .max = 6},
    {FIELD("words", LIST_STRING, words), AUX(n_words)},
    {FIELD("labels", MAP_STRING, labels), AUX(n_labels)},
    {FIELD("ours", MAP_STRING, ours), AUX(n_ours), .words = prefixes},
};
static const struct rco_schema thing_schema = {"thing", sizeof(struct thing), thing_fields,
                                               RCO_ARRAY_LEN(thing_fields)};

struct fixture {
    struct rco_arena a;
    struct thing thing;
    struct rco_error err;
};

static int set_up(void **state)
{
    *state = rco_calloc(1, sizeof(struct fixture));
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    rco_arena_release(&f->a);
    free(f);
    return 0;
}

/* The text is copied to a block of exactly its size, so that reading beyond it is noticed. */
static int decode(struct fixture *f, const char *json)
{
    size_t n = strlen(json);
    char *exact = malloc(n ? n : 1);
    memcpy(exact, json, n);
    int rc = rco_codec_decode(&thing_schema, exact, n, &f->a, &f->thing, &f->err);
    free(exact);
    return rc;
}

static struct thing *accept(void **state, const char *json)
{
    struct fixture *f = *state;
    if (decode(f, json) < 0)
        fail_msg("%s was refused: %s", json, f->err.msg);
    return &f->thing;
}

static void refuse(void **state, const char *json, const char *want)
{
    struct fixture *f = *state;
    if (decode(f, json) == 0)
        fail_msg("%s was accepted", json);
    assert_int_equal(f->err.code, RCO_EINVALID);
    if (!strstr(f->err.msg, want))
        fail_msg("%s: \"%s\" does not contain \"%s\"", json, f->err.msg, want);
}

static void every_type_of_field_is_read(void **state)
{
    const struct thing *t =
        accept(state, " {\"text\" : \"a\\u00e9\\ud83d\\ude80\\n\" ,\t\"raw\":{\"a\": [1, null]}, "
                      "\"quantity\":\"5m\","
                      "\"color\":\"Green\",\"count\":-9223372036854775808,\"on\":false,\r\n"
                      "\"at\":\"2026-11-30T06:40:24Z\",\"exact\":\"2026-11-30T06:40:24.000001Z\","
                      "\"leaf\":{\"n\":0},\"leaves\":[{\"name\":\"x\"},{}],\"words\":[\"\",\"b\"],"
                      "\"labels\":{\"b\":\"2\",\"a\":\"1\"}} ");
    assert_string_equal(t->text, "a\xc3\xa9\xf0\x9f\x9a\x80\n");
    assert_string_equal(t->raw, "{\"a\": [1, null]}");
    assert_string_equal(t->quantity, "5m");
    assert_int_equal(t->color, COLOR_GREEN);
    assert_true(t->has_count && t->count == INT64_MIN);
    assert_true(t->has_on && !t->on);
    assert_int_equal(t->exact - t->at, 1);
    assert_true(t->has_leaf && t->leaf.has_n && !t->leaf.name);
    assert_int_equal(t->n_leaves, 2);
    assert_string_equal(t->leaves[0].name, "x");
    assert_string_equal(t->words[1], "b");
    assert_string_equal(t->labels[0].key, "a");
    assert_string_equal(rco_kv_get(t->labels, t->n_labels, "b"), "2");
    assert_null(t->shorty);
}

static void unknown_fields_are_skipped_whatever_they_hold(void **state)
{
    const struct thing *t = accept(
        state, "{\"x\":{\"text\":\"no\",\"y\":[[[{\"z\":\"}]\"}]]]},\"Text\":\"no\",\"tex\":1,"
               "\"texts\":[],\"\":null,\"text\":\"yes\",\"w\":-0.5e+10}");
    assert_string_equal(t->text, "yes");
}

static void a_field_whose_name_is_escaped_is_found(void **state)
{
    assert_string_equal(accept(state, "{\"te\\u0078t\":\"yes\"}")->text, "yes");
}

static void null_counts_as_absent(void **state)
{
    const struct thing *t =
        accept(state, "{\"text\":null,\"count\":null,\"on\":null,\"at\":null,\"leaf\":null,"
                      "\"leaves\":null,\"labels\":{\"a\":null},\"raw\":null,\"color\":null}");
    assert_null(t->text);
    assert_false(t->has_count || t->has_on || t->has_leaf);
    assert_int_equal(t->at, 0);
    assert_null(t->leaves);
    assert_null(t->raw);
    assert_int_equal(t->color, COLOR_UNSET);
    assert_int_equal(t->n_labels, 0);
}

static void an_empty_list_is_not_an_absent_one(void **state)
{
    const struct thing *t = accept(state, "{\"words\":[],\"labels\":{},\"leaves\":[]}");
    assert_true(t->words && t->labels && t->leaves);
    assert_int_equal(t->n_words + t->n_labels + t->n_leaves, 0);
}

static void an_unknown_word_of_an_enum_is_told_from_an_absent_one(void **state)
{
    assert_int_equal(accept(state, "{\"color\":\"Blue\"}")->color, COLOR_UNKNOWN);
    assert_int_equal(accept(state, "{\"color\":\"Re\"}")->color, COLOR_UNKNOWN);
    assert_int_equal(accept(state, "{\"color\":\"Redd\"}")->color, COLOR_UNKNOWN);
    assert_int_equal(accept(state, "{\"color\":\"\"}")->color, COLOR_UNKNOWN);
    assert_int_equal(accept(state, "{}")->color, COLOR_UNSET);
    assert_string_equal(rco_words_name(colors, COLOR_RED), "Red");
    assert_string_equal(rco_words_name(colors, COLOR_UNSET), "");
    assert_int_equal(rco_words_parse(colors, "Green"), COLOR_GREEN);
    assert_int_equal(rco_words_parse(colors, NULL), COLOR_UNSET);
}

static void only_keys_of_our_domain_are_kept_where_the_table_says_so(void **state)
{
    const struct thing *t = accept(
        state, "{\"ours\":{\"our.io/a\":\"1\",\"our.io/\":\"no\",\"other\":{\"not\":\"text\"},"
               "\"our.iox\":\"no\"}}");
    assert_int_equal(t->n_ours, 1);
    assert_string_equal(t->ours[0].value, "1");
}

static void a_quantity_may_be_a_number(void **state)
{
    assert_string_equal(accept(state, "{\"quantity\":1.5}")->quantity, "1.5");
    assert_string_equal(accept(state, "{\"quantity\":-2}")->quantity, "-2");
    refuse(state, "{\"text\":1}", ".text wants a string");
}

static void a_nul_character_never_cuts_a_text(void **state)
{
    assert_string_equal(accept(state, "{\"text\":\"a\\u0000b\"}")->text, "a\xef\xbf\xbd"
                                                                         "b");
}

static void integers_are_exact_or_refused(void **state)
{
    assert_true(accept(state, "{\"count\":9223372036854775807}")->count == INT64_MAX);
    assert_true(accept(state, "{\"count\":-0}")->count == 0);
    refuse(state, "{\"count\":9223372036854775808}", ".count is out of range");
    refuse(state, "{\"count\":-9223372036854775809}", ".count is out of range");
    refuse(state, "{\"count\":99999999999999999999999999999999999}", ".count is out of range");
    refuse(state, "{\"count\":1.0}", ".count wants an integer");
    refuse(state, "{\"count\":1e3}", ".count wants an integer");
    refuse(state, "{\"count\":\"1\"}", ".count wants an integer");
    refuse(state, "{\"count\":NaN}", ".count wants an integer");
    refuse(state, "{\"count\":Infinity}", ".count wants an integer");
    refuse(state, "{\"count\":01}", ".count");
    refuse(state, "{\"count\":-}", ".count");
    refuse(state, "{\"count\":+1}", ".count");
    refuse(state, "{\"count\":0x10}", "thing");
}

static void times_are_rfc_3339_or_refused(void **state)
{
    refuse(state, "{\"at\":\"yesterday\"}", ".at wants an RFC 3339 time");
    refuse(state, "{\"at\":\"\"}", ".at wants an RFC 3339 time");
    refuse(state, "{\"at\":1700000000}", ".at wants a string");
    refuse(state, "{\"at\":\"2026-11-30T06:40:24Z2026-11-30T06:40:24Z2026-11-30T06:40:24Z\"}",
           ".at");
}

static void a_value_of_another_type_is_refused_with_its_path(void **state)
{
    refuse(state, "{\"leaf\":[]}", ".leaf wants an object");
    refuse(state, "{\"leaves\":{}}", ".leaves wants a list");
    refuse(state, "{\"leaves\":[{},{\"n\":true}]}", ".leaves[1].n wants an integer");
    refuse(state, "{\"words\":[\"a\",null]}", ".words[1] wants a string");
    refuse(state, "{\"labels\":{\"a\":1}}", ".labels wants a string");
    refuse(state, "{\"on\":\"true\"}", ".on wants true or false");
    refuse(state, "{\"color\":1}", ".color wants a string");
    refuse(state, "[]", "the text wants an object");
    refuse(state, "null", "the text wants an object");
}

static void a_known_field_that_stands_twice_is_refused(void **state)
{
    refuse(state, "{\"text\":\"a\",\"text\":\"b\"}", ".text stands there twice");
    refuse(state, "{\"text\":null,\"text\":\"b\"}", ".text stands there twice");
    refuse(state, "{\"text\":\"a\",\"\\u0074ext\":\"b\"}", ".text stands there twice");
    refuse(state, "{\"labels\":{\"b\":\"1\",\"a\":\"2\",\"b\":\"3\"}}",
           ".labels has the same key twice");
}

static void caps_hold(void **state)
{
    accept(state, "{\"short\":\"1234\"}");
    refuse(state, "{\"short\":\"12345\"}", ".short is too long");
    accept(state, "{\"leaves\":[{},{},{},{},{},{}]}");
    refuse(state, "{\"leaves\":[{},{},{},{},{},{},{}]}", ".leaves[6] has too many items");
}

static void nested(struct rco_buf *b, const char *before, size_t depth, const char *open,
                   const char *close, const char *after)
{
    rco_buf_clear(b);
    rco_buf_adds(b, before);
    for (size_t i = 0; i < depth; i++)
        rco_buf_adds(b, open);
    rco_buf_adds(b, "1");
    for (size_t i = 0; i < depth; i++)
        rco_buf_adds(b, close);
    rco_buf_adds(b, after);
}

static void deep_nesting_is_refused_and_costs_no_stack(void **state)
{
    rco_autobuf b = RCO_BUF_INIT;
    nested(&b, "{\"x\":", RCO_JSON_MAX_DEPTH - 1, "[", "]", "}");
    accept(state, b.data);
    nested(&b, "{\"x\":", RCO_JSON_MAX_DEPTH, "[", "]", "}");
    refuse(state, b.data, "is nested too deeply");
    nested(&b, "{\"x\":", 1000000, "[", "]", "}");
    refuse(state, b.data, "is nested too deeply");
    nested(&b, "{\"raw\":", 1000000, "{\"a\":", "}", "}");
    refuse(state, b.data, ".raw is nested too deeply");
}

static void text_that_is_not_json_is_refused(void **state)
{
    static const char *const bad[] = {"",
                                      " ",
                                      "{",
                                      "{\"",
                                      "{\"text",
                                      "{\"text\"",
                                      "{\"text\":",
                                      "{\"text\":\"",
                                      "{\"text\":\"a\"",
                                      "{\"text\":\"a\",",
                                      "{\"text\":\"a\",}",
                                      "{,}",
                                      "{\"text\" \"a\"}",
                                      "{text:\"a\"}",
                                      "{'text':\"a\"}",
                                      "{\"text\":\"a\"}x",
                                      "{\"text\":\"a\"}{}",
                                      "{\"text\":\"a\"} ]",
                                      "{\"x\":[1,]}",
                                      "{\"x\":[,1]}",
                                      "{\"x\":[1 2]}",
                                      "{\"x\":{1:2}}",
                                      "{\"x\":tru}",
                                      "{\"x\":True}",
                                      "{\"x\":nul}",
                                      "{\"x\":.5}",
                                      "{\"x\":1.}",
                                      "{\"x\":1e}",
                                      "{\"x\":1e+}",
                                      "{\"x\":-}",
                                      "{\"x\":00}",
                                      "{\"x\":]}",
                                      "{\"x\":[}",
                                      "{\"x\":{]}",
                                      "{\"x\":/*c*/1}",
                                      "{\"text\":\"a\tb\"}",
                                      "{\"text\":\"\\x41\"}",
                                      "{\"text\":\"\\u12\"}",
                                      "{\"text\":\"\\u12g4\"}",
                                      "{\"text\":\"\\\"}",
                                      "{\"x\":\"\x01\"}",
                                      "\xef\xbb\xbf{}",
                                      "{\"x\":NaN}",
                                      "{\"x\":-Infinity}"};
    for (size_t i = 0; i < RCO_ARRAY_LEN(bad); i++)
        refuse(state, bad[i], "thing: ");
}

static void text_that_is_not_utf8_is_refused_even_where_it_is_skipped(void **state)
{
    static const char *const bad[] = {"\x80",
                                      "\xc3",
                                      "\xc0\xaf",
                                      "\xc1\xbf",
                                      "\xe0\x80\xaf",
                                      "\xe2\x82",
                                      "\xed\xa0\x80",
                                      "\xed\xbf\xbf",
                                      "\xf0\x80\x80\xaf",
                                      "\xf4\x90\x80\x80",
                                      "\xf5\x80\x80\x80",
                                      "\xff",
                                      "\xf8\x88\x80\x80\x80"};
    char text[64];
    for (size_t i = 0; i < RCO_ARRAY_LEN(bad); i++) {
        snprintf(text, sizeof(text), "{\"text\":\"ab%s\"}", bad[i]);
        refuse(state, text, "is not valid UTF-8");
        snprintf(text, sizeof(text), "{\"x\":[\"%s cd\"]}", bad[i]);
        refuse(state, text, "is not valid UTF-8");
        snprintf(text, sizeof(text), "{\"%s\":1}", bad[i]);
        refuse(state, text, "is not valid UTF-8");
    }
}

static void lone_surrogates_are_refused(void **state)
{
    static const char *const bad[] = {"\\ud800",  "\\udc00",    "\\ud800\\ud800",
                                      "\\ud800x", "\\udbff\\n", "\\ud83d\\u0041",
                                      "\\uDFFF",  "\\ud83d\\u"};
    char text[64];
    for (size_t i = 0; i < RCO_ARRAY_LEN(bad); i++) {
        snprintf(text, sizeof(text), "{\"text\":\"%s\"}", bad[i]);
        refuse(state, text, ".text has a");
    }
}

static void a_special_byte_is_found_at_every_position_of_a_word(void **state)
{
    char text[64], want[64];
    for (size_t n = 0; n < 20; n++) {
        memset(want, 'a' + (int)n, n);
        snprintf(text, sizeof(text), "{\"text\":\"%.*s\\\"%.*s\"}", (int)n, want, (int)n, want);
        const struct thing *t = accept(state, text);
        assert_int_equal(strlen(t->text), 2 * n + 1);
        assert_int_equal(t->text[n], '"');
        snprintf(text, sizeof(text), "{\"text\":\"%.*s\x1f\"}", (int)n, want);
        refuse(state, text, "has a control character");
        snprintf(text, sizeof(text), "{\"text\":\"%.*s\xc3\xa9\"}", (int)n, want);
        assert_int_equal(strlen(accept(state, text)->text), n + 2);
    }
}

static void every_prefix_of_a_good_text_is_refused(void **state)
{
    const char *good =
        "{\"text\":\"\\ud83d\\ude80\",\"leaves\":[{\"n\":12}],\"labels\":{\"a\":\"b\"},"
        "\"x\":[true,false,null,-1.5e3]}";
    struct fixture *f = *state;
    accept(state, good);
    for (size_t n = 0; n < strlen(good); n++) {
        char *part = strndup(good, n);
        assert_int_equal(decode(f, part), -1);
        free(part);
    }
}

static void the_strict_decoder_names_the_unknown_field(void **state)
{
    struct fixture *f = *state;
    const char *json = "{\"leaf\":{\"nmae\":\"x\"}}";
    assert_int_equal(
        rco_codec_decode_strict(&thing_schema, json, strlen(json), &f->a, &f->thing, &f->err), -1);
    assert_non_null(strstr(f->err.msg, ".leaf.nmae is not a known field"));
    json = "{\"leaf\":{\"name\":\"x\"}}";
    assert_int_equal(
        rco_codec_decode_strict(&thing_schema, json, strlen(json), &f->a, &f->thing, &f->err), 0);
}

static void times_are_compared_as_they_are_written(void **state)
{
    struct thing a = {.at = 1700000000000000}, b = {.at = 1700000000999999};
    assert_true(rco_codec_equal(&thing_schema, &a, &b));
    b.at += 1;
    assert_false(rco_codec_equal(&thing_schema, &a, &b));
    b = (struct thing){.at = a.at, .exact = 1};
    assert_false(rco_codec_equal(&thing_schema, &a, &b));
}

static void an_unknown_word_survives_packing_and_is_never_written(void **state)
{
    rco_autobuf packed = RCO_BUF_INIT;
    rco_autobuf json = RCO_BUF_INIT;
    struct fixture *f = *state;
    struct rco_intern *t = rco_intern_new();
    struct thing a = {.color = COLOR_UNKNOWN}, back;
    rco_codec_pack(&thing_schema, &a, t, &packed);
    rco_codec_unpack(&thing_schema, packed.data, packed.len, t, &f->a, &back);
    assert_int_equal(back.color, COLOR_UNKNOWN);
    rco_codec_encode(&thing_schema, &a, &json);
    assert_string_equal(json.data, "{}");
    rco_intern_free(t);
}

#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(every_type_of_field_is_read),
        TEST(unknown_fields_are_skipped_whatever_they_hold),
        TEST(a_field_whose_name_is_escaped_is_found),
        TEST(null_counts_as_absent),
        TEST(an_empty_list_is_not_an_absent_one),
        TEST(an_unknown_word_of_an_enum_is_told_from_an_absent_one),
        TEST(only_keys_of_our_domain_are_kept_where_the_table_says_so),
        TEST(a_quantity_may_be_a_number),
        TEST(a_nul_character_never_cuts_a_text),
        TEST(integers_are_exact_or_refused),
        TEST(times_are_rfc_3339_or_refused),
        TEST(a_value_of_another_type_is_refused_with_its_path),
        TEST(a_known_field_that_stands_twice_is_refused),
        TEST(caps_hold),
        TEST(deep_nesting_is_refused_and_costs_no_stack),
        TEST(text_that_is_not_json_is_refused),
        TEST(text_that_is_not_utf8_is_refused_even_where_it_is_skipped),
        TEST(lone_surrogates_are_refused),
        TEST(a_special_byte_is_found_at_every_position_of_a_word),
        TEST(every_prefix_of_a_good_text_is_refused),
        TEST(the_strict_decoder_names_the_unknown_field),
        TEST(times_are_compared_as_they_are_written),
        TEST(an_unknown_word_survives_packing_and_is_never_written),
    };
    return cmocka_run_group_tests_name("decode", tests, NULL, NULL);
}
