/* Any text as YAML: what is taken is JSON that the strict scanner takes too. */
#include "json/yaml.h"

#include <stdlib.h>
#include <string.h>

struct anything {
    const char *raw;
};

static const struct rco_field fields[] = {{.name = "raw",
                                           .name_len = 3,
                                           .type = RCO_FIELD_RAW,
                                           .offset = offsetof(struct anything, raw)}};
static const struct rco_schema schema = {"anything", sizeof(struct anything), fields, 1};

static int on_document(void *ctx, size_t index, size_t line, const char *json, size_t n,
                       struct rco_error *err)
{
    rco_autobuf body = RCO_BUF_INIT;
    rco_autoarena a = RCO_ARENA_INIT;
    struct anything obj;
    rco_buf_addf(&body, "{\"raw\":");
    rco_buf_add(&body, json, n);
    rco_buf_addc(&body, '}');
    /* One level more than YAML may have, and the cap of a string. */
    if (rco_codec_decode(&schema, body.data, body.len, &a, &obj, err) < 0 &&
        !strstr(err->msg, "nested too deeply") && !strstr(err->msg, "is too long"))
        abort();
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct rco_error err = RCO_ERROR_INIT;
    if (rco_yaml_each((const char *)data, n, on_document, NULL, &err) < 0 && !err.msg[0])
        abort();
    return 0;
}
