/* The floor of a sync: lists the same objects as the operator in the same pages over the same kind
 * of connection, decodes each and forgets it.
 *
 *   floor SERVER CA CERT KEY [KIND...]
 *
 * Prints "BYTES OBJECTS CPU_US". */
#include "api/kinds.h"
#include "base/arena.h"
#include "base/str.h"
#include "json/codec.h"
#include "json/stream.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define PAGE 500 /* as the operator asks for */

struct floor_run {
    CURL *curl;
    const char *server;
    const struct rco_schema *schema;
    struct rco_list_parser *parser;
    struct rco_arena arena;
    size_t bytes, objects;
};

static void die(const char *why)
{
    fprintf(stderr, "floor: %s\n", why);
    exit(1);
}

static int on_item(void *ctx, const char *json, size_t n, struct rco_error *err)
{
    struct floor_run *f = ctx;
    void *obj;

    rco_arena_clear(&f->arena);
    obj = rco_arena_alloc(&f->arena, f->schema->size);
    f->objects++;
    return rco_codec_decode(f->schema, json, n, &f->arena, obj, err);
}

static size_t on_data(char *data, size_t size, size_t n, void *ctx)
{
    struct floor_run *f = ctx;
    struct rco_error err = RCO_ERROR_INIT;

    f->bytes += size * n;
    if (rco_list_parser_feed(f->parser, data, size * n, &err) < 0)
        die(err.msg);
    return size * n;
}

/* One page; returns the token of the next, NULL at the end. */
static char *page(struct floor_run *f, enum rco_kind kind, const char *token)
{
    const struct rco_list_handler handler = {.item = on_item, .ctx = f};
    const struct rco_kind_info *info = rco_kind_info(kind);
    struct rco_error err = RCO_ERROR_INIT;
    const char *rv, *next;
    char *copy;
    rco_autofree char *url = rco_asprintf(
        "%s/%s%s/%s/%s?limit=%d%s%s", f->server, *info->group ? "apis/" : "api", info->group,
        info->version, info->plural, PAGE, token ? "&continue=" : "", token ? token : "");

    f->parser = rco_list_parser_new(&handler);
    curl_easy_setopt(f->curl, CURLOPT_URL, url);
    if (curl_easy_perform(f->curl) != CURLE_OK)
        die("a page was not answered");
    if (rco_list_parser_finish(f->parser, &rv, &next, &err) < 0)
        die(err.msg);
    copy = *next ? rco_strdup(next) : NULL;
    rco_list_parser_free(f->parser);
    return copy;
}

static void list(struct floor_run *f, const char *name)
{
    for (int kind = 0; kind < RCO_KIND_COUNT; kind++) {
        char *token = NULL;

        if (!rco_streq(rco_kind_info((enum rco_kind)kind)->kind, name))
            continue;
        f->schema = rco_kind_info((enum rco_kind)kind)->schema;
        do {
            char *next = page(f, (enum rco_kind)kind, token);

            free(token);
            token = next;
        } while (token);
        return;
    }
    die(name);
}

static int64_t cpu_us(void)
{
    struct rusage u;

    getrusage(RUSAGE_SELF, &u);
    return (u.ru_utime.tv_sec + u.ru_stime.tv_sec) * INT64_C(1000000) + u.ru_utime.tv_usec +
           u.ru_stime.tv_usec;
}

int main(int argc, char **argv)
{
    struct floor_run f = {0};

    if (argc < 6)
        die("usage: floor SERVER CA CERT KEY KIND...");
    curl_global_init(CURL_GLOBAL_DEFAULT);
    f.server = argv[1];
    f.curl = curl_easy_init();
    curl_easy_setopt(f.curl, CURLOPT_CAINFO, argv[2]);
    curl_easy_setopt(f.curl, CURLOPT_SSLCERT, argv[3]);
    curl_easy_setopt(f.curl, CURLOPT_SSLKEY, argv[4]);
    curl_easy_setopt(f.curl, CURLOPT_USERAGENT, "floor");
    curl_easy_setopt(f.curl, CURLOPT_FAILONERROR, 1L);
    curl_easy_setopt(f.curl, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
    curl_easy_setopt(f.curl, CURLOPT_WRITEFUNCTION, on_data);
    curl_easy_setopt(f.curl, CURLOPT_WRITEDATA, &f);
    for (int i = 5; i < argc; i++)
        list(&f, argv[i]);
    printf("%zu %zu %lld\n", f.bytes, f.objects, (long long)cpu_us());
    curl_easy_cleanup(f.curl);
    rco_arena_release(&f.arena);
    return 0;
}
