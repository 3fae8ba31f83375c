/* Properties that hold for every kind and any content. */
#include "api/kinds.h"
#include "random_object.h"

#include <json-c/json.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define SEEDS 60

typedef void (*property_fn)(const struct rco_schema *schema, struct random_source *r);

static void for_all_kinds(property_fn property)
{
    for (int kind = RCO_KIND_NONE + 1; kind < RCO_KIND_COUNT; kind++) {
        const struct rco_kind_info *info = rco_kind_info(kind);
        if (!info->schema)
            continue;
        for (unsigned seed = 1; seed <= SEEDS; seed++) {
            rco_autoarena a = RCO_ARENA_INIT;
            struct random_source r = {.state = seed * 0x9e3779b97f4a7c15u + (unsigned)kind,
                                      .percent = seed % 3 == 0 ? 100 : 30 + seed % 60,
                                      .a = &a};
            property(info->schema, &r);
        }
    }
}

static void *decode_back(const struct rco_schema *schema, const struct rco_buf *json,
                         struct rco_arena *a)
{
    struct rco_error err = RCO_ERROR_INIT;
    void *obj = rco_arena_alloc(a, schema->size);
    if (rco_codec_decode(schema, json->data, json->len, a, obj, &err) < 0)
        fail_msg("%s\n%s", err.msg, json->data);
    return obj;
}

static void decode_inverts_encode(const struct rco_schema *schema, struct random_source *r)
{
    rco_autobuf json = RCO_BUF_INIT;
    rco_autobuf again = RCO_BUF_INIT;
    void *obj = rco_arena_alloc(r->a, schema->size);
    random_object(r, schema, obj);
    rco_codec_encode(schema, obj, &json);
    void *back = decode_back(schema, &json, r->a);
    rco_codec_encode(schema, back, &again);
    assert_string_equal(again.data, json.data);
    assert_true(rco_codec_equal(schema, obj, back));
}

static void what_is_encoded_decodes_to_the_same_object(void **state)
{
    for_all_kinds(decode_inverts_encode);
}

static void encoded_text_is_json(const struct rco_schema *schema, struct random_source *r)
{
    rco_autobuf json = RCO_BUF_INIT;
    void *obj = rco_arena_alloc(r->a, schema->size);
    random_object(r, schema, obj);
    rco_codec_encode(schema, obj, &json);
    struct json_tokener *t = json_tokener_new();
    json_tokener_set_flags(t, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
    struct json_object *tree = json_tokener_parse_ex(t, json.data, (int)json.len + 1);
    if (!tree)
        fail_msg("json-c: %s\n%s", json_tokener_error_desc(json_tokener_get_error(t)), json.data);
    json_object_put(tree);
    json_tokener_free(t);
}

static void what_is_encoded_is_json_for_another_parser(void **state)
{
    for_all_kinds(encoded_text_is_json);
}

static void copy_is_equal_and_apart(const struct rco_schema *schema, struct random_source *r)
{
    rco_autobuf before = RCO_BUF_INIT;
    rco_autobuf after = RCO_BUF_INIT;
    rco_autoarena own = RCO_ARENA_INIT;
    void *copy = rco_arena_alloc(&own, schema->size);
    {
        rco_autoarena short_lived = RCO_ARENA_INIT;
        struct random_source s = *r;
        s.a = &short_lived;
        void *obj = rco_arena_alloc(&short_lived, schema->size);
        random_object(&s, schema, obj);
        rco_codec_encode(schema, obj, &before);
        rco_codec_copy(schema, copy, obj, &own);
        assert_true(rco_codec_equal(schema, obj, copy));
    }
    rco_codec_encode(schema, copy, &after);
    assert_string_equal(after.data, before.data);
}

static void a_copy_outlives_what_it_was_copied_from(void **state)
{
    for_all_kinds(copy_is_equal_and_apart);
}

/* Drops what the packed form leaves out, so that the rest can be compared. */
static void clear_skipped(const struct rco_schema *schema, char *obj)
{
    for (size_t i = 0; i < schema->n_fields; i++) {
        const struct rco_field *f = &schema->fields[i];
        if (!(f->flags & RCO_FIELD_SKIP_PACK))
            continue;
        assert_int_equal(f->type, RCO_FIELD_MAP_STRING);
        *(void **)(void *)(obj + f->offset) = NULL;
        *(size_t *)(void *)(obj + f->aux_offset) = 0;
    }
}

static void unpack_inverts_pack(const struct rco_schema *schema, struct random_source *r)
{
    rco_autobuf packed = RCO_BUF_INIT;
    struct rco_intern *t = rco_intern_new();
    char *obj = rco_arena_alloc(r->a, schema->size);
    void *back = rco_arena_alloc(r->a, schema->size);
    random_object(r, schema, obj);
    rco_codec_pack(schema, obj, t, &packed);
    rco_codec_unpack(schema, packed.data, packed.len, t, r->a, back);
    clear_skipped(schema, obj);
    assert_true(rco_codec_equal(schema, obj, back));
    rco_codec_unpack_release(schema, packed.data, packed.len, t);
    assert_int_equal(rco_intern_count(t), 0);
    rco_intern_free(t);
}

static void what_is_packed_unpacks_to_the_same_object_and_releases_every_string(void **state)
{
    for_all_kinds(unpack_inverts_pack);
}

/* RFC 7386, as its section 2 writes it down. */
static struct json_object *apply_patch(struct json_object *target, struct json_object *patch)
{
    if (!json_object_is_type(patch, json_type_object))
        return json_object_get(patch);
    struct json_object *out = json_object_is_type(target, json_type_object)
                                  ? json_object_get(target)
                                  : json_object_new_object();
    json_object_object_foreach(patch, key, value)
    {
        if (!value) {
            json_object_object_del(out, key);
            continue;
        }
        json_object_object_add(out, key, apply_patch(json_object_object_get(out, key), value));
    }
    return out;
}

static void check_patch(const struct rco_schema *schema, const void *a, const void *b)
{
    rco_autobuf from = RCO_BUF_INIT;
    rco_autobuf to = RCO_BUF_INIT;
    rco_autobuf patch = RCO_BUF_INIT;
    rco_codec_encode(schema, a, &from);
    rco_codec_encode(schema, b, &to);
    bool differs = rco_codec_merge_patch(schema, a, b, &patch);
    assert_int_equal(differs, !rco_codec_equal(schema, a, b));
    if (!differs) {
        assert_int_equal(patch.len, 0);
        return;
    }
    struct json_object *old_tree = json_tokener_parse(from.data);
    struct json_object *new_tree = json_tokener_parse(to.data);
    struct json_object *patch_tree = json_tokener_parse(patch.data);
    assert_non_null(patch_tree);
    struct json_object *got = apply_patch(old_tree, patch_tree);
    if (!json_object_equal(got, new_tree))
        fail_msg("\nold   %s\nnew   %s\npatch %s\ngot   %s", from.data, to.data, patch.data,
                 json_object_to_json_string(got));
    json_object_put(got);
    json_object_put(old_tree);
    json_object_put(new_tree);
    json_object_put(patch_tree);
}

static void patch_leads_from_old_to_new(const struct rco_schema *schema, struct random_source *r)
{
    char *a = rco_arena_alloc(r->a, schema->size);
    char *b = rco_arena_alloc(r->a, schema->size);
    random_object(r, schema, a);
    check_patch(schema, a, a);
    random_object(r, schema, b);
    check_patch(schema, a, b);
    check_patch(schema, b, a);
    /* Objects that differ in few places. */
    rco_codec_copy(schema, b, a, r->a);
    struct random_source few = *r;
    few.percent = 10;
    random_object(&few, schema, b);
    check_patch(schema, a, b);
    check_patch(schema, b, a);
}

static void a_merge_patch_leads_from_the_old_object_to_the_new_one(void **state)
{
    for_all_kinds(patch_leads_from_old_to_new);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_encoded_decodes_to_the_same_object),
        cmocka_unit_test(what_is_encoded_is_json_for_another_parser),
        cmocka_unit_test(a_copy_outlives_what_it_was_copied_from),
        cmocka_unit_test(what_is_packed_unpacks_to_the_same_object_and_releases_every_string),
        cmocka_unit_test(a_merge_patch_leads_from_the_old_object_to_the_new_one),
    };
    return cmocka_run_group_tests_name("roundtrip", tests, NULL, NULL);
}
