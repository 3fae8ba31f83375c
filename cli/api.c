#include "api.h"

#include "base/str.h"
#include "kube/path.h"
#include "json/codec.h"
#include "json/writer.h"

#include <inttypes.h>
#include <string.h>

void rco_api_list_release(struct rco_api_list *l)
{
    free(l->items);
    *l = (struct rco_api_list){0};
}

static bool is_ours(enum rco_kind kind)
{
    return rco_streq(rco_kind_info(kind)->group, "runtimecloud.io");
}

/* A 404 for a whole collection means that the API itself is not there. */
static int explain_missing_api(enum rco_kind kind, struct rco_error *err)
{
    if (err->code != RCO_ENOTFOUND || !is_ours(kind))
        return -1;
    return rco_error_set(
        err, RCO_EINVALID,
        "the cluster does not serve %s of %s/%s: the operator's CRDs are not installed; "
        "'kubectl runtimecloud check' says what is missing",
        rco_kind_info(kind)->plural, rco_kind_info(kind)->group, rco_kind_info(kind)->version);
}

static int decode_item(enum rco_kind kind, const char *json, size_t n, struct rco_arena *a,
                       struct rco_api_item *out, struct rco_error *err)
{
    const struct rco_schema *schema = rco_kind_info(kind)->schema;

    out->object = rco_arena_alloc(a, schema->size);
    out->json = rco_arena_strndup(a, json, n);
    out->json_len = n;
    if (rco_codec_decode(schema, json, n, a, out->object, err) < 0)
        return rco_error_wrap(err, "read a %s", rco_kind_info(kind)->kind);
    return 0;
}

/* Turns "not found" into advice: the nearest name, or where to look. */
static int explain_not_found(struct rco_cli *cli, enum rco_kind kind, const char *ns,
                             const char *name, struct rco_error *err)
{
    struct rco_api_query query = {.kind = kind, .ns = ns};
    struct rco_error list_err = RCO_ERROR_INIT;
    rco_autoapilist list = {0};
    rco_autofree const char **names = NULL;
    const char *near;

    if (rco_api_list(cli, &query, &cli->arena, &list, &list_err) < 0) {
        if (list_err.code == RCO_EINVALID)
            *err = list_err;
        return -1;
    }
    names = rco_calloc(list.n + 1, sizeof(*names));
    for (size_t i = 0; i < list.n; i++)
        names[i] = ((struct rco_meta *)list.items[i].object)->name;
    near = rco_text_nearest(name, names, list.n);
    if (near)
        return rco_error_set(err, RCO_ENOTFOUND,
                             "there is no %s \"%s\" in namespace %s; did you mean \"%s\"?",
                             rco_kind_info(kind)->kind, name, ns, near);
    return rco_error_set(
        err, RCO_ENOTFOUND,
        "there is no %s \"%s\" in namespace %s (%zu others there; -n chooses another namespace)",
        rco_kind_info(kind)->kind, name, ns, list.n);
}

int rco_api_get(struct rco_cli *cli, enum rco_kind kind, const char *ns, const char *name,
                struct rco_arena *a, struct rco_api_item *out, struct rco_error *err)
{
    rco_autopath path = RCO_PATH_INIT;
    rco_autobuf body = RCO_BUF_INIT;
    rco_autofree char *what = rco_asprintf("get %s %s", rco_kind_info(kind)->kind, name);
    struct rco_cli_request request = {.method = "GET", .what = what};

    if (rco_cli_connect(cli, err) < 0 || rco_path_kind(&path, kind, ns, name, NULL, err) < 0)
        return -1;
    request.path = rco_path_str(&path);
    if (rco_cli_http_do(cli->http, &request, &body, err) < 0)
        return err->code == RCO_ENOTFOUND && is_ours(kind)
                   ? explain_not_found(cli, kind, ns, name, err)
                   : -1;
    return decode_item(kind, rco_buf_str(&body), body.len, a, out, err);
}

struct collector {
    struct rco_api_list *list;
    struct rco_arena *arena;
    enum rco_kind kind;
    struct rco_list_parser *parser;
};

static int on_item(void *ctx, const char *json, size_t n, struct rco_error *err)
{
    struct collector *c = ctx;
    struct rco_api_list *l = c->list;

    if (l->n == RCO_API_LIST_MAX)
        return rco_error_set(err, RCO_ETOOBIG, "more than %d objects; choose a namespace with -n",
                             RCO_API_LIST_MAX);
    if (l->n == l->capacity) {
        l->capacity = l->capacity ? l->capacity * 2 : 64;
        l->items = rco_realloc(l->items, l->capacity * sizeof(*l->items));
    }
    if (decode_item(c->kind, json, n, c->arena, &l->items[l->n], err) < 0)
        return -1;
    l->n++;
    return 0;
}

static int feed_page(void *ctx, const char *bytes, size_t n, struct rco_error *err)
{
    return rco_list_parser_feed(((struct collector *)ctx)->parser, bytes, n, err);
}

static int query_path(struct rco_path *path, const struct rco_api_query *q, struct rco_error *err)
{
    if (rco_path_kind(path, q->kind, q->ns, NULL, NULL, err) < 0)
        return -1;
    rco_path_query(path, "labelSelector", q->label_selector);
    rco_path_query(path, "fieldSelector", q->field_selector);
    return 0;
}

/* One page; *CONTINUE_TOKEN becomes the next one's token, "" at the end. */
static int list_page(struct rco_cli *cli, const struct rco_api_query *q, struct collector *c,
                     const char **continue_token, struct rco_error *err)
{
    rco_autopath path = RCO_PATH_INIT;
    rco_autofree char *what = rco_asprintf("list %s", rco_kind_info(q->kind)->plural);
    const struct rco_list_handler handler = {.item = on_item, .ctx = c};
    struct rco_cli_stream stream = {.request = {.method = "GET", .what = what},
                                    .sink = feed_page,
                                    .ctx = c,
                                    .timeout_ms = RCO_CLI_REQUEST_TIMEOUT_MS};
    const char *rv, *next;
    int rc;

    if (query_path(&path, q, err) < 0)
        return -1;
    rco_path_query_int(&path, "limit", RCO_API_PAGE);
    rco_path_query(&path, "continue", *continue_token);
    stream.request.path = rco_path_str(&path);
    c->parser = rco_list_parser_new(&handler);
    rc = rco_cli_http_stream(cli->http, &stream, err);
    if (rc == 0)
        rc = rco_list_parser_finish(c->parser, &rv, &next, err);
    if (rc == 0) {
        c->list->resource_version = rco_arena_strdup(c->arena, rv);
        *continue_token = rco_arena_strdup(c->arena, next);
    }
    rco_list_parser_free(c->parser);
    return rc;
}

int rco_api_list(struct rco_cli *cli, const struct rco_api_query *query, struct rco_arena *a,
                 struct rco_api_list *out, struct rco_error *err)
{
    struct collector c = {.list = out, .arena = a, .kind = query->kind};
    const char *token = "";
    int restarts = 0;

    if (rco_cli_connect(cli, err) < 0)
        return -1;
    while (true) {
        if (list_page(cli, query, &c, &token, err) == 0) {
            if (!*token)
                return 0;
            continue;
        }
        if (err->code != RCO_EGONE || restarts++ == 3)
            return explain_missing_api(query->kind, err);
        out->n = 0;
        token = "";
    }
}

struct watching {
    struct rco_watch_parser *parser;
    rco_api_on_event on_event;
    void *ctx;
    bool stopped;
};

static int watch_event(void *ctx, enum rco_watch_type type, const char *object, size_t n,
                       struct rco_error *err)
{
    struct watching *w = ctx;
    int rc = w->on_event(w->ctx, type, object, n, err);

    w->stopped = rc == RCO_CLI_STOP;
    return rc ? -1 : 0;
}

static int feed_watch(void *ctx, const char *bytes, size_t n, struct rco_error *err)
{
    struct watching *w = ctx;

    if (rco_watch_parser_feed(w->parser, bytes, n, err) == 0)
        return 0;
    if (!w->stopped)
        return -1;
    *err = RCO_ERROR_INIT; /* the callback has what it wanted */
    return RCO_CLI_STOP;
}

int rco_api_watch(struct rco_cli *cli, const struct rco_api_query *query,
                  const char *resource_version, int64_t timeout_ms, rco_api_on_event on_event,
                  void *ctx, bool *ret_stopped, struct rco_error *err)
{
    struct watching w = {.on_event = on_event, .ctx = ctx};
    const struct rco_watch_handler handler = {.event = watch_event, .ctx = &w};
    rco_autopath path = RCO_PATH_INIT;
    rco_autofree char *what = rco_asprintf("watch %s", rco_kind_info(query->kind)->plural);
    struct rco_cli_stream stream = {.request = {.method = "GET", .what = what},
                                    .sink = feed_watch,
                                    .ctx = &w,
                                    .timeout_ms = timeout_ms,
                                    .silence_s = timeout_ms ? 0 : RCO_API_WATCH_SILENCE_S};
    int rc;

    if (query_path(&path, query, err) < 0)
        return -1;
    rco_path_query(&path, "watch", "true");
    rco_path_query(&path, "allowWatchBookmarks", "true");
    rco_path_query(&path, "resourceVersion", resource_version);
    stream.request.path = rco_path_str(&path);
    w.parser = rco_watch_parser_new(&handler);
    rc = rco_cli_http_stream(cli->http, &stream, err);
    rco_watch_parser_free(w.parser);
    *ret_stopped = w.stopped;
    return rc;
}

int rco_api_call(struct rco_cli *cli, const char *path, const struct rco_buf *body,
                 const char *what, const struct rco_schema *schema, struct rco_arena *a, void *obj,
                 struct rco_error *err)
{
    rco_autobuf answer = RCO_BUF_INIT;
    struct rco_cli_request request = {
        .method = body ? "POST" : "GET",
        .path = path,
        .body = body ? rco_buf_str(body) : NULL,
        .body_len = body ? body->len : 0,
        .what = what,
    };

    if (rco_cli_connect(cli, err) < 0 || rco_cli_http_do(cli->http, &request, &answer, err) < 0)
        return -1;
    if (rco_codec_decode(schema, rco_buf_str(&answer), answer.len, a, obj, err) < 0)
        return rco_error_wrap(err, "%s", what);
    return 0;
}

void rco_api_list_json(const struct rco_api_list *l, struct rco_buf *out)
{
    struct rco_json_writer w;

    rco_json_writer_init(&w, out);
    rco_json_begin_object(&w);
    rco_json_kv_string(&w, "apiVersion", "v1");
    rco_json_kv_string(&w, "kind", "List");
    rco_json_kv_array(&w, "items");
    for (size_t i = 0; i < l->n; i++)
        rco_json_raw(&w, l->items[i].json, l->items[i].json_len);
    rco_json_end_array(&w);
    rco_json_end_object(&w);
}
