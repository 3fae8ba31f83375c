/* Objects from the API server, decoded, with messages that name what was asked for. */
#ifndef RCO_CLI_API_H
#define RCO_CLI_API_H

#include "api/kinds.h"
#include "cli.h"
#include "json/stream.h"

#define RCO_API_PAGE 500
#define RCO_API_LIST_MAX 200000 /* objects of one list */
#define RCO_API_WATCH_SILENCE_S 150

/* One object: decoded, and its JSON text for -o json. */
struct rco_api_item {
    void *object; /* of the kind's schema; begins with a struct rco_meta */
    const char *json;
    size_t json_len;
};

struct rco_api_list {
    struct rco_api_item *items; /* malloc'd array; texts and objects live in the arena */
    size_t n, capacity;
    const char *resource_version;
};

#define rco_autoapilist rco_cleanup(rco_api_list_release) struct rco_api_list
/* Frees the array; the objects belong to the arena. */
void rco_api_list_release(struct rco_api_list *l);

/* One object of KIND in A. A missing one is RCO_ENOTFOUND with a message that names the nearest
 * name in the namespace, or that the CRDs are not installed. */
RCO_MUST_CHECK int rco_api_get(struct rco_cli *cli, enum rco_kind kind, const char *ns,
                               const char *name, struct rco_arena *a, struct rco_api_item *out,
                               struct rco_error *err);

struct rco_api_query {
    enum rco_kind kind;
    const char *ns;             /* NULL = all namespaces */
    const char *label_selector; /* NULL = none */
    const char *field_selector; /* NULL = none */
};

/* All objects, page by page; starts over when a page has expired. */
RCO_MUST_CHECK int rco_api_list(struct rco_cli *cli, const struct rco_api_query *query,
                                struct rco_arena *a, struct rco_api_list *out,
                                struct rco_error *err);

/* Called for each event. OBJECT is the JSON text. RCO_CLI_STOP ends the watch without an error. */
typedef int (*rco_api_on_event)(void *ctx, enum rco_watch_type type, const char *object, size_t n,
                                struct rco_error *err);

/* Watches from RESOURCE_VERSION until the callback stops it (0), the server ends it (0, resume with
 * a new list) or TIMEOUT_MS (0 = none) passes (RCO_ETIMEOUT). *RET_STOPPED tells the first two
 * apart. */
RCO_MUST_CHECK int rco_api_watch(struct rco_cli *cli, const struct rco_api_query *query,
                                 const char *resource_version, int64_t timeout_ms,
                                 rco_api_on_event on_event, void *ctx, bool *ret_stopped,
                                 struct rco_error *err);

/* GET of any path, or POST when BODY is not NULL; the answer is decoded with SCHEMA into OBJ. */
RCO_MUST_CHECK int rco_api_call(struct rco_cli *cli, const char *path, const struct rco_buf *body,
                                const char *what, const struct rco_schema *schema,
                                struct rco_arena *a, void *obj, struct rco_error *err);

/* Appends a List object with the items' own texts to OUT. */
void rco_api_list_json(const struct rco_api_list *l, struct rco_buf *out);

#endif
