/* Any bytes as an object of any kind. json-c is the oracle: what we take, it takes; what survives a
 * decode goes unharmed through encode, copy, pack and patch. The first byte chooses the kind. */
#include "api/kinds.h"
#include "api/zz_generated_types.h"
#include "json/codec.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#define REQUIRE(C)                                                                                 \
    do {                                                                                           \
        if (!(C))                                                                                  \
            abort();                                                                               \
    } while (0)

static const struct rco_schema *choose(unsigned char c)
{
    unsigned k = c % (RCO_KIND_COUNT + 2);
    if (k == RCO_KIND_NONE)
        return &rco_runner_receipt_schema;
    if (k >= RCO_KIND_COUNT)
        return k == RCO_KIND_COUNT ? &rco_runner_start_schema : &rco_api_status_schema;
    return rco_kind_info(k)->schema;
}

/* Whether json-c takes the text. It accepts some texts that are not JSON, never the other way
 * round. */
static bool oracle(const char *json, size_t n)
{
    struct json_tokener *t = json_tokener_new_ex(200);
    json_tokener_set_flags(t, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
    struct json_object *o = json_tokener_parse_ex(t, json, (int)n);
    enum json_tokener_error e = json_tokener_get_error(t);
    json_object_put(o);
    json_tokener_free(t);
    return e == json_tokener_success;
}

static void check_text(const struct rco_schema *schema, const void *obj, struct rco_arena *a)
{
    rco_autobuf json = RCO_BUF_INIT;
    rco_autobuf patch = RCO_BUF_INIT;
    struct rco_error err;
    void *back = rco_arena_alloc(a, schema->size), *copy = rco_arena_alloc(a, schema->size);
    rco_codec_encode(schema, obj, &json);
    REQUIRE(rco_codec_decode(schema, json.data, json.len, a, back, &err) == 0);
    rco_autobuf again = RCO_BUF_INIT;
    rco_codec_encode(schema, back, &again);
    REQUIRE(json.len == again.len && memcmp(json.data, again.data, json.len) == 0);
    rco_codec_copy(schema, copy, obj, a);
    REQUIRE(rco_codec_equal(schema, obj, copy));
    REQUIRE(!rco_codec_merge_patch(schema, obj, copy, &patch));
}

static void check_packed(const struct rco_schema *schema, const void *obj, struct rco_arena *a)
{
    rco_autobuf packed = RCO_BUF_INIT;
    rco_autobuf again = RCO_BUF_INIT;
    struct rco_intern *t = rco_intern_new();
    void *back = rco_arena_alloc(a, schema->size);
    rco_codec_pack(schema, obj, t, &packed);
    rco_codec_unpack(schema, packed.data, packed.len, t, a, back);
    rco_codec_pack(schema, back, t, &again);
    REQUIRE(packed.len == again.len && memcmp(packed.data, again.data, packed.len) == 0);
    rco_codec_unpack_release(schema, packed.data, packed.len, t);
    rco_codec_unpack_release(schema, again.data, again.len, t);
    REQUIRE(rco_intern_count(t) == 0);
    rco_intern_free(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (!n)
        return 0;
    const struct rco_schema *schema = choose(data[0]);
    const char *json = (const char *)data + 1;
    struct rco_error err = RCO_ERROR_INIT;
    rco_autoarena a = RCO_ARENA_INIT;
    void *obj = rco_arena_alloc(&a, schema->size);
    if (rco_codec_decode(schema, json, n - 1, &a, obj, &err) < 0) {
        REQUIRE(err.code == RCO_EINVALID && err.msg[0]);
        return 0;
    }
    REQUIRE(oracle(json, n - 1));
    check_text(schema, obj, &a);
    check_packed(schema, obj, &a);
    return 0;
}
