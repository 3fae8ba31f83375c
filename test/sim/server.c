/* Requests of the operator as the API server sees them. */
#include "transport.h"

#include "json/writer.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define SEGMENTS_MAX 9
#define PARAMETERS_MAX 12

/* A request path taken apart. */
struct target {
    enum rco_kind kind;
    const char *ns, *name, *subresource;
};

/* --- parsing --- */

static int hex(char c)
{
    return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
}

static const char *unescape(struct rco_arena *a, const char *text, size_t n)
{
    char *out = rco_arena_alloc(a, n + 1);
    size_t len = 0;

    for (size_t i = 0; i < n; i++) {
        if (text[i] == '%' && i + 2 < n) {
            out[len++] = (char)(hex(text[i + 1]) << 4 | hex(text[i + 2]));
            i += 2;
        } else {
            out[len++] = text[i];
        }
    }
    return out;
}

static size_t split(struct rco_arena *a, const char *path, const char *out[SEGMENTS_MAX])
{
    const char *end = path + strcspn(path, "?");
    size_t n = 0;

    for (const char *p = path; p < end && n < SEGMENTS_MAX;) {
        size_t len = strcspn(p + 1, "/?");

        out[n++] = unescape(a, p + 1, len);
        p += 1 + len;
    }
    return n;
}

static enum rco_kind find_kind(const char *group, const char *version, const char *plural)
{
    for (int k = 1; k < RCO_KIND_COUNT; k++) {
        const struct rco_kind_info *i = rco_kind_info((enum rco_kind)k);

        if (strcmp(i->group, group) == 0 && strcmp(i->version, version) == 0 &&
            strcmp(i->plural, plural) == 0)
            return (enum rco_kind)k;
    }
    return RCO_KIND_NONE;
}

/* /api/v1/... or /apis/<group>/<version>/..., with namespaces/<ns> where there is one. */
static bool parse_path(struct rco_arena *a, const char *path, struct target *t)
{
    const char *part[SEGMENTS_MAX] = {0};
    size_t n = split(a, path, part), at;
    const char *group = "", *version;

    *t = (struct target){.ns = ""};
    if (n < 3)
        return false;
    if (strcmp(part[0], "apis") == 0) {
        group = part[1];
        version = part[2];
        at = 3;
    } else {
        version = part[1];
        at = 2;
    }
    if (at + 2 < n && strcmp(part[at], "namespaces") == 0) {
        t->ns = part[at + 1];
        at += 2;
    }
    if (at >= n)
        return false;
    t->kind = find_kind(group, version, part[at]);
    t->name = at + 1 < n ? part[at + 1] : NULL;
    t->subresource = at + 2 < n ? part[at + 2] : NULL;
    return t->kind != RCO_KIND_NONE;
}

static void set_parameter(struct sim_query *q, const char *key, const char *value)
{
    const struct {
        const char *key, **text;
    } texts[] = {{"resourceVersion", &q->resource_version},
                 {"resourceVersionMatch", &q->match},
                 {"labelSelector", &q->labels},
                 {"fieldSelector", &q->fields},
                 {"continue", &q->token}};

    for (size_t i = 0; i < RCO_ARRAY_LEN(texts); i++)
        if (strcmp(texts[i].key, key) == 0)
            *texts[i].text = value;
    if (strcmp(key, "limit") == 0)
        q->limit = strtoll(value, NULL, 10);
    if (strcmp(key, "timeoutSeconds") == 0)
        q->timeout_s = strtoll(value, NULL, 10);
    if (strcmp(key, "watch") == 0)
        q->watch = strcmp(value, "true") == 0;
    if (strcmp(key, "sendInitialEvents") == 0)
        q->initial_events = strcmp(value, "true") == 0;
}

static void parse_query(struct rco_arena *a, const char *path, struct sim_query *q)
{
    const char *p = strchr(path, '?');

    *q = (struct sim_query){0};
    while (p && *p) {
        size_t n = strcspn(p + 1, "&"), k = strcspn(p + 1, "=&");

        if (k < n)
            set_parameter(q, unescape(a, p + 1, k), unescape(a, p + 2 + k, n - k - 1));
        p += 1 + n;
    }
}

/* --- answers --- */

static void answer_status(struct sim_call *c, int code, const char *reason, const char *message)
{
    struct sim *s = c->link->sim;
    rco_autobuf out = RCO_BUF_INIT;
    struct rco_json_writer w;

    rco_json_writer_init(&w, &out);
    rco_json_begin_object(&w);
    rco_json_kv_string(&w, "kind", "Status");
    rco_json_kv_string(&w, "apiVersion", "v1");
    rco_json_kv_string(&w, "status", code < 300 ? "Success" : "Failure");
    rco_json_kv_string(&w, "message", rco_str_or_empty(message));
    rco_json_kv_string(&w, "reason", rco_str_or_empty(reason));
    rco_json_kv_int(&w, "code", code);
    rco_json_end_object(&w);
    sim_trace(s, "answer %d %s to %s %.*s: %s", code, rco_str_or_empty(reason), c->method,
              (int)strcspn(c->path, "?"), c->path, rco_str_or_empty(message));
    if (!c->answer_lost)
        sim_call_answer(c, code, rco_arena_strndup(&s->arena, out.data, out.len), out.len);
}

void sim_server_error(struct sim_call *c, int status)
{
    static const struct {
        int status;
        const char *reason;
    } reasons[] = {{401, "Unauthorized"},    {403, "Forbidden"},     {409, "Conflict"},
                   {429, "TooManyRequests"}, {500, "InternalError"}, {503, "ServiceUnavailable"},
                   {504, "Timeout"}};
    const char *reason = "";

    for (size_t i = 0; i < RCO_ARRAY_LEN(reasons); i++)
        if (reasons[i].status == status)
            reason = reasons[i].reason;
    answer_status(c, status, reason, "injected");
}

static void answer(struct sim_call *c, const struct sim_answer *a)
{
    struct sim *s = c->link->sim;
    const char *text;
    size_t n;

    if (c->answer_lost)
        return;
    if (a->code >= 300) {
        answer_status(c, a->code, a->reason, a->message);
        return;
    }
    text = sim_text(s, a->v, &n);
    sim_call_answer(c, a->code, text, n);
}

/* --- verbs --- */

/* Items from AT on into OUT; returns the index of the first that was left for the next page. */
static size_t write_items(struct sim *s, const struct sim_version **list, size_t n, size_t at,
                          int64_t limit, const char *ns, const struct sim_query *q,
                          struct rco_buf *out)
{
    int64_t written = 0;

    for (; at < n; at++) {
        const char *text;
        size_t len;

        if (!sim_matches(list[at], ns, q->labels, q->fields))
            continue;
        if (limit > 0 && written == limit)
            break;
        if (written++)
            rco_buf_addc(out, ',');
        text = sim_text(s, list[at], &len);
        rco_buf_add(out, text, len);
    }
    return at;
}

static void list(struct sim_call *c, const struct target *t, const struct sim_query *q)
{
    struct sim *s = c->link->sim;
    const struct rco_kind_info *info = rco_kind_info(t->kind);
    const struct sim_version **items;
    rco_autobuf out = RCO_BUF_INIT;
    int64_t rv = s->revision, limit = q->limit;
    size_t n, at = 0;
    char *rest = NULL;

    if (limit > 0 && s->plan->page > 0 && limit > s->plan->page)
        limit = s->plan->page;
    if (q->token) {
        rv = strtoll(q->token, &rest, 10);
        at = *rest == ':' ? (size_t)strtoull(rest + 1, NULL, 10) : 0;
        if (rv < s->kinds[t->kind].compacted) {
            answer_status(c, 410, "Expired", "the provided continue parameter is too old");
            return;
        }
    } else if (q->resource_version) {
        /* From the watch cache, which may lag, but not behind what was asked for. */
        rv = sim_front_revision(s);
        if (rv < strtoll(q->resource_version, NULL, 10)) {
            answer_status(c, 504, "Timeout", "Too large resource version");
            return;
        }
    }
    n = sim_list_at(s, t->kind, rv, &items);
    rco_buf_addf(&out, "{\"kind\":\"%sList\",\"apiVersion\":\"%s%s%s\",\"items\":[", info->kind,
                 info->group, *info->group ? "/" : "", info->version);
    at = write_items(s, items, n, at, limit, t->ns, q, &out);
    rco_buf_addf(&out, "],\"metadata\":{\"resourceVersion\":\"%" PRId64 "\"", rv);
    if (at < n)
        rco_buf_addf(&out, ",\"continue\":\"%" PRId64 ":%zu\"", rv, at);
    rco_buf_adds(&out, "}}");
    sim_call_answer(c, 200, rco_arena_strndup(&s->arena, out.data, out.len), out.len);
}

/* The operator may make Secrets in tenants' namespaces and never read them. */
static bool is_forbidden(const struct sim_call *c, const struct target *t)
{
    return t->kind == RCO_KIND_SECRET && strcmp(c->method, "POST") != 0 &&
           strcmp(t->ns, SIM_OPERATOR_NS) != 0;
}

static void get(struct sim_call *c, const struct target *t, const struct sim_query *q)
{
    struct sim *s = c->link->sim;
    const struct sim_version *v;

    if (!t->name) {
        if (q->watch)
            sim_watch_open(c, t->kind, t->ns, q);
        else
            list(c, t, q);
        return;
    }
    v = sim_get(s, t->kind, t->ns, t->name);
    s->gets += !c->election;
    if (v)
        answer(c, &(struct sim_answer){.code = 200, .v = v});
    else
        answer_status(c, 404, "NotFound", "not found");
}

static void review_token(struct sim_call *c, const struct rco_value *body)
{
    struct sim *s = c->link->sim;
    const struct sim_version *pod = sim_pod_of_token(s, sim_tree_str(body, "spec|token"));
    const struct rco_value *v;
    rco_autobuf out = RCO_BUF_INIT;

    v = pod ? sim_tree_f(&s->arena,
                         "{\"apiVersion\":\"authentication.k8s.io/v1\",\"kind\":\"TokenReview\","
                         "\"status\":{\"authenticated\":true,\"audiences\":[\"runtime-cloud-gateway"
                         "\"],\"user\":{\"username\":\"system:serviceaccount:%s:%s\",\"extra\":{"
                         "\"authentication.kubernetes.io/pod-name\":[\"%s\"],"
                         "\"authentication.kubernetes.io/pod-uid\":[\"%s\"]}}}}",
                         pod->ns, sim_tree_str(pod->tree, "spec|serviceAccountName"), pod->name,
                         pod->uid)
            : sim_tree_f(&s->arena, "{\"apiVersion\":\"authentication.k8s.io/v1\",\"kind\":"
                                    "\"TokenReview\",\"status\":{\"authenticated\":false}}");
    rco_value_write(v, &out);
    sim_call_answer(c, 201, rco_arena_strndup(&s->arena, out.data, out.len), out.len);
}

/* A 422 is no accident of a fault: the operator asked for what no object may become. */
static void check_refusal(struct sim_call *c, const struct sim_answer *a)
{
    if (a->code == 422 || a->code == 400)
        sim_violation(c->link->sim, "valid-writes", "%s %.*s was refused: %s", c->method,
                      (int)strcspn(c->path, "?"), c->path, a->message);
}

static void change(struct sim_call *c, const struct target *t)
{
    struct sim *s = c->link->sim;
    const struct rco_value *body = sim_tree_parse(&s->arena, c->body, c->body_len);
    int actor = SIM_OPERATOR + c->link->replica;
    struct sim_answer a;

    if (!body) {
        answer_status(c, 400, "BadRequest", "the body is not JSON");
        sim_violation(s, "valid-writes", "%s %s: the body is not JSON", c->method, c->path);
        return;
    }
    if (t->kind == RCO_KIND_TOKENREVIEW) {
        review_token(c, body);
        return;
    }
    if (strcmp(c->method, "POST") == 0)
        a = sim_create(s, actor, t->kind, t->ns, body);
    else if (strcmp(c->method, "PATCH") == 0)
        a = sim_patch(s, actor, t->kind, t->ns, t->name, t->subresource != NULL, body);
    else
        a = sim_remove(
            s, actor, t->kind, t->ns, t->name,
            &(struct sim_delete){.uid = sim_tree_str(body, "preconditions|uid"),
                                 .rv = sim_tree_str(body, "preconditions|resourceVersion")});
    check_refusal(c, &a);
    s->contended += a.code == 409 && t->kind == RCO_KIND_POD;
    answer(c, &a);
}

void sim_server_handle(struct sim_call *c)
{
    struct sim *s = c->link->sim;
    struct target t;
    struct sim_query q;

    if (!parse_path(&s->arena, c->path, &t)) {
        answer_status(c, 404, "NotFound", "no such path");
        return;
    }
    if (is_forbidden(c, &t)) {
        answer_status(c, 403, "Forbidden", "secrets is forbidden");
        return;
    }
    parse_query(&s->arena, c->path, &q);
    if (strcmp(c->method, "GET") == 0)
        get(c, &t, &q);
    else
        change(c, &t);
}
