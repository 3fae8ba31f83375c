#include "api/kinds.h"

#include "api/kinds_table.h"
#include "json/writer.h"

#include <assert.h>
#include <stdio.h>

#define API_VERSION_MAX 128

static const struct rco_kind_info none = {.group = "", .version = "", .kind = "", .plural = ""};

const struct rco_kind_info *rco_kind_info(enum rco_kind kind)
{
    assert((unsigned)kind < RCO_KIND_COUNT);
    return rco_kind_table[kind].kind ? &rco_kind_table[kind] : &none;
}

void rco_kind_api_version(enum rco_kind kind, char *out)
{
    const struct rco_kind_info *info = rco_kind_info(kind);
    int n = snprintf(out, API_VERSION_MAX, "%s%s%s", info->group, *info->group ? "/" : "",
                     info->version);
    assert(n >= 0 && n < API_VERSION_MAX);
    (void)n;
}

void rco_kind_write_header(struct rco_json_writer *w, enum rco_kind kind)
{
    char api_version[API_VERSION_MAX];
    rco_kind_api_version(kind, api_version);
    rco_json_kv_string(w, "apiVersion", api_version);
    rco_json_kv_string(w, "kind", rco_kind_info(kind)->kind);
}

void rco_kind_encode(enum rco_kind kind, const void *obj, struct rco_buf *out)
{
    struct rco_json_writer w;
    rco_autobuf body = RCO_BUF_INIT;
    rco_codec_encode(rco_kind_info(kind)->schema, obj, &body);
    rco_json_writer_init(&w, out);
    rco_json_begin_object(&w);
    rco_kind_write_header(&w, kind);
    if (body.len > 2) /* what stands between the braces of the encoded object */
        rco_json_raw(&w, body.data + 1, body.len - 2);
    rco_json_end_object(&w);
}

const void *rco_kind_status(enum rco_kind kind, const void *obj)
{
    const struct rco_kind_info *info = rco_kind_info(kind);
    return info->status_schema ? (const char *)obj + info->status_offset : NULL;
}
