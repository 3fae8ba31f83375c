/* Requests of the operator as the API server sees them. */
#include "refusal.h"
#include "schema.h"
#include "transport.h"

#include "json/writer.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define BODY_MAX 3145728 /* bytes */
#define MERGE_PATCH "application/merge-patch+json"
#define OPERATOR_USER "system:serviceaccount:" SIM_OPERATOR_NS ":runtime-cloud-operator"
#define GATEWAY_SECRET "runtime-cloud-gateway-tls"
#define GATEWAY_AUDIENCE "runtime-cloud-gateway"

/* --- answers --- */

static void write_causes(struct rco_json_writer *w, const struct sim_cause *causes)
{
    rco_json_kv_array(w, "causes");
    for (const struct sim_cause *c = causes; c; c = c->next) {
        rco_json_begin_object(w);
        rco_json_kv_string(w, "reason", c->reason);
        rco_json_kv_string(w, "message", c->message);
        rco_json_kv_string_opt(w, "field", c->field);
        rco_json_end_object(w);
    }
    rco_json_end_array(w);
}

static void write_details(struct rco_json_writer *w, const struct sim_answer *a, const char *uid)
{
    rco_json_kv_object(w, "details");
    rco_json_kv_string_opt(w, "name", a->of_name);
    if (!rco_str_empty(a->of_group))
        rco_json_kv_string(w, "group", a->of_group);
    rco_json_kv_string_opt(w, "kind", a->of_kind);
    rco_json_kv_string_opt(w, "uid", uid);
    if (a->causes)
        write_causes(w, a->causes);
    if (a->retry_after_s)
        rco_json_kv_int(w, "retryAfterSeconds", a->retry_after_s);
    rco_json_end_object(w);
}

/* A Status; UID is that of the object that a delete has removed. */
static void write_status(const struct sim_answer *a, const char *uid, struct rco_buf *out)
{
    struct rco_json_writer w;

    rco_json_writer_init(&w, out);
    rco_json_begin_object(&w);
    rco_json_kv_string(&w, "kind", "Status");
    rco_json_kv_string(&w, "apiVersion", "v1");
    rco_json_kv_object(&w, "metadata");
    rco_json_kv_string_opt(&w, "continue", a->token);
    rco_json_end_object(&w);
    rco_json_kv_string(&w, "status", uid ? "Success" : "Failure");
    rco_json_kv_string_opt(&w, "message", a->message);
    if (!rco_str_empty(a->reason))
        rco_json_kv_string(&w, "reason", a->reason);
    if (a->of_kind || a->causes || a->retry_after_s)
        write_details(&w, a, uid);
    if (!uid)
        rco_json_kv_int(&w, "code", a->code);
    rco_json_end_object(&w);
}

void sim_status_write(const struct sim_answer *a, struct rco_buf *out)
{
    write_status(a, NULL, out);
}

void sim_call_refuse(struct sim_call *c, const struct sim_answer *a)
{
    struct sim *s = c->link->sim;
    rco_autobuf out = RCO_BUF_INIT;

    write_status(a, NULL, &out);
    sim_trace(s, "answer %d %s to %s %.*s: %s", a->code, rco_str_or_empty(a->reason), c->method,
              (int)strcspn(c->path, "?"), c->path, rco_str_or_empty(a->message));
    c->retry_after_s = a->retry_after_s;
    if (!c->answer_lost)
        sim_call_answer(c, a->code, rco_arena_strndup(&s->arena, out.data, out.len), out.len);
}

static void refuse(struct sim_call *c, int code, const char *reason, const char *message)
{
    sim_call_refuse(c, &(struct sim_answer){.code = code, .reason = reason, .message = message});
}

void sim_server_error(struct sim_call *c, int status)
{
    static const struct {
        int status;
        const char *reason;
    } reasons[] = {{401, "Unauthorized"},
                   {403, "Forbidden"},
                   {409, "Conflict"},
                   {410, "Expired"},
                   {502, ""},
                   {429, "TooManyRequests"},
                   {500, "InternalError"},
                   {503, "ServiceUnavailable"},
                   {504, "Timeout"}};
    const char *reason = "";

    for (size_t i = 0; i < RCO_ARRAY_LEN(reasons); i++)
        if (reasons[i].status == status)
            reason = reasons[i].reason;
    refuse(c, status, reason, "injected");
}

/* A delete that is done answers with a Status, everything else with the object. */
static void answer(struct sim_call *c, const struct sim_answer *a)
{
    struct sim *s = c->link->sim;
    rco_autobuf out = RCO_BUF_INIT;
    const char *text;
    size_t n;

    if (a->code >= 300) {
        sim_call_refuse(c, a);
        return;
    }
    if (c->answer_lost)
        return;
    c->warning = a->warning;
    if (a->removed) {
        const struct rco_kind_info *info = rco_kind_info(a->v->kind);

        write_status(&(struct sim_answer){.of_name = a->v->name,
                                          .of_group = info->group,
                                          .of_kind = info->plural},
                     a->v->uid, &out);
        n = out.len;
        text = rco_arena_strndup(&s->arena, out.data, out.len);
    } else {
        text = sim_text(s, a->v, &n);
    }
    sim_call_answer(c, a->code, text, n);
}

/* --- rights --- */

static const char *verb_of(const struct sim_call *c, const struct sim_target *t,
                           const struct sim_query *q)
{
    if (strcmp(c->method, "GET") == 0)
        return t->name ? "get" : q->watch ? "watch" : "list";
    return strcmp(c->method, "POST") == 0    ? "create"
           : strcmp(c->method, "PATCH") == 0 ? "patch"
           : strcmp(c->method, "PUT") == 0   ? "update"
                                             : "delete";
}

/* Secrets may be made anywhere and never read but for one; Leases are those of its own namespace.
 */
static bool may(const struct sim_target *t, const char *verb)
{
    bool own = strcmp(t->ns, SIM_OPERATOR_NS) == 0;

    if (t->kind == RCO_KIND_LEASE)
        return own;
    if (t->kind != RCO_KIND_SECRET || strcmp(verb, "create") == 0)
        return true;
    return own && rco_streq(t->name, GATEWAY_SECRET) && strcmp(verb, "delete") != 0;
}

static bool is_forbidden(struct sim_call *c, const struct sim_target *t, const struct sim_query *q)
{
    struct sim *s = c->link->sim;
    const char *verb = verb_of(c, t, q);
    const struct rco_kind_info *info = rco_kind_info(t->kind);
    struct sim_answer a;

    if (c->link->replica < 0 || may(t, verb))
        return false;
    a = sim_refuse_of(s, t->kind, t->name, 403, "Forbidden",
                      "%s%s%s%s is forbidden: User \"" OPERATOR_USER
                      "\" cannot %s resource \"%s\" in API group \"%s\" in the namespace \"%s\"",
                      sim_plural_of(&s->arena, t->kind), t->name ? " \"" : "",
                      rco_str_or_empty(t->name), t->name ? "\"" : "", verb, info->plural,
                      info->group, t->ns);
    sim_call_refuse(c, &a);
    return true;
}

/* --- verbs --- */

static void get(struct sim_call *c, const struct sim_target *t, const struct sim_query *q)
{
    struct sim *s = c->link->sim;
    const struct sim_version *v;
    struct sim_answer a;

    if (!t->name) {
        if (q->watch)
            sim_watch_open(c, t->kind, t->ns, q);
        else
            sim_list(c, t, q);
        return;
    }
    v = sim_get(s, t->kind, t->ns, t->name);
    /* What a decision rests on without a precondition has to be asked: that something is gone, that a
     * ConfigMap is as the cache shows it. */
    s->gets += v && !c->election && t->kind != RCO_KIND_CONFIGMAP;
    a = v ? (struct sim_answer){.code = 200, .v = v} : sim_not_found(s, t->kind, t->name);
    answer(c, &a);
}

static const struct rco_value *token_status(struct sim *s, const struct rco_value *body)
{
    const struct sim_version *pod = sim_pod_of_token(s, sim_tree_str(body, "spec|token"));

    if (!pod)
        return sim_tree_f(&s->arena, "{\"user\":{},\"error\":\"invalid bearer token\"}");
    if (!sim_tree_has(body, "spec|audiences", GATEWAY_AUDIENCE))
        return sim_tree_f(&s->arena,
                          "{\"user\":{},\"error\":\"[invalid bearer token, token audiences "
                          "[\\\"" GATEWAY_AUDIENCE "\\\"] is invalid for the target audiences]\"}");
    return sim_tree_f(&s->arena,
                      "{\"authenticated\":true,\"audiences\":[\"" GATEWAY_AUDIENCE
                      "\"],\"user\":{\"username\":\"system:serviceaccount:%s:%s\",\"extra\":{"
                      "\"authentication.kubernetes.io/pod-name\":[\"%s\"],"
                      "\"authentication.kubernetes.io/pod-uid\":[\"%s\"]}}}",
                      pod->ns, sim_tree_str(pod->tree, "spec|serviceAccountName"), pod->name,
                      pod->uid);
}

static void review_token(struct sim_call *c, const struct rco_value *body)
{
    struct sim *s = c->link->sim;
    const struct rco_value *v;
    rco_autobuf out = RCO_BUF_INIT;

    if (rco_str_empty(sim_tree_str(body, "spec|token"))) {
        refuse(c, 400, "BadRequest", "token is required for TokenReview in authentication");
        return;
    }
    v = sim_tree_f(&s->arena,
                   "{\"kind\":\"TokenReview\",\"apiVersion\":\"authentication.k8s.io/v1\","
                   "\"metadata\":{}}");
    v = sim_tree_set(&s->arena, v, "status", token_status(s, body));
    rco_value_write(v, &out);
    sim_call_answer(c, 201, rco_arena_strndup(&s->arena, out.data, out.len), out.len);
}

/* A 422 is no accident of a fault: the operator asked for what no object may become. */
static void check_refusal(struct sim_call *c, const struct sim_answer *a)
{
    if ((a->code == 422 || a->code == 400) && c->link->replica >= 0)
        sim_violation(c->link->sim, "valid-writes", "%s %.*s was refused: %s", c->method,
                      (int)strcspn(c->path, "?"), c->path, a->message);
}

/* What a write is about: of an Event, the object that it tells of. */
static const char *written_name(const struct sim_target *t, const struct rco_value *body)
{
    const char *name = t->name ? t->name : sim_tree_str(body, "metadata|name");

    if (t->kind == RCO_KIND_EVENT)
        name = sim_tree_str(body, "regarding|name");
    return rco_str_or_empty(name);
}

/* Options of a delete; BODY may be NULL. */
static struct sim_delete options_of(const struct rco_value *body)
{
    return (struct sim_delete){.uid = sim_tree_str(body, "preconditions|uid"),
                               .rv = sim_tree_str(body, "preconditions|resourceVersion"),
                               .foreground =
                                   rco_streq(sim_tree_str(body, "propagationPolicy"), "Foreground"),
                               .now = sim_tree_int(body, "gracePeriodSeconds", -1) == 0};
}

/* Of a written body: the first field that is not known. */
static const char *warning_of(struct sim *s, enum rco_kind kind, const struct rco_value *body)
{
    const struct sim_schema *schema = sim_schema_of(kind);
    const char *field = schema ? sim_schema_unknown(schema, &s->arena, body) : NULL;

    return field ? rco_arena_printf(&s->arena, "299 - \"unknown field \\\"%s\\\"\"", field) : NULL;
}

static struct sim_answer carry_out(struct sim_call *c, const struct sim_target *t,
                                   const struct rco_value *body)
{
    struct sim *s = c->link->sim;
    int actor = SIM_OPERATOR + c->link->replica;
    struct sim_delete options;
    struct sim_answer a;

    if (strcmp(c->method, "DELETE") == 0) {
        options = options_of(body);
        return sim_remove(s, actor, t->kind, t->ns, t->name, &options);
    }
    if (strcmp(c->method, "POST") == 0)
        a = sim_create(s, actor, t->kind, t->ns, body);
    else
        a = sim_write(s, actor, t->kind, t->ns, t->name,
                      t->subresource                  ? SIM_WRITE_STATUS
                      : strcmp(c->method, "PUT") == 0 ? SIM_WRITE_UPDATE
                                                      : SIM_WRITE_PATCH,
                      body);
    a.warning = warning_of(s, t->kind, body);
    return a;
}

/* What is wrong with the body itself; code 0: nothing. */
static struct sim_answer check_body(struct sim_call *c, const struct sim_target *t,
                                    const struct rco_value *body)
{
    struct sim *s = c->link->sim;
    const char *kind = rco_kind_info(t->kind)->kind;
    bool patch = strcmp(c->method, "PATCH") == 0;

    if (c->body_len > BODY_MAX)
        return sim_refuse(s, 413, "RequestEntityTooLarge", "Request entity too large: limit is %d",
                          BODY_MAX);
    if (patch && !rco_str_has_prefix(c->content_type, MERGE_PATCH))
        return sim_refuse(s, 415, "UnsupportedMediaType", "415: Unsupported Media Type");
    if (!body && c->body_len == 0 && strcmp(c->method, "DELETE") == 0)
        return (struct sim_answer){0};
    if (!body)
        return patch ? sim_refuse(s, 400, "BadRequest", "error decoding patch: it is not JSON")
                     : sim_refuse(s, 400, "BadRequest",
                                  "the object provided is unrecognized (must be of type %s): "
                                  "couldn't get version/kind; json parse error",
                                  kind);
    if (sim_schema_of(t->kind) && !patch && strcmp(c->method, "DELETE") != 0 &&
        !sim_tree_str(body, "kind"))
        return sim_refuse(s, 400, "BadRequest",
                          "the object provided is unrecognized (must be of type %s): Object 'Kind' "
                          "is missing",
                          kind);
    return (struct sim_answer){0};
}

static void change(struct sim_call *c, const struct sim_target *t)
{
    struct sim *s = c->link->sim;
    const struct rco_value *body = sim_tree_parse(&s->arena, c->body, c->body_len);
    struct sim_answer a = check_body(c, t, body);

    if (!a.code && t->kind == RCO_KIND_TOKENREVIEW) {
        review_token(c, body);
        return;
    }
    if (!a.code)
        a = carry_out(c, t, body);
    check_refusal(c, &a);
    if (!c->election && c->link->replica >= 0)
        sim_oracle_wrote(s, c->link->replica, t->kind, t->ns, written_name(t, body), a.code);
    s->contended += a.code == 409 && t->kind == RCO_KIND_POD;
    answer(c, &a);
}

/* --- dispatch --- */

static bool has_subresource(const struct sim_target *t)
{
    return !t->subresource || (strcmp(t->subresource, "status") == 0 && sim_has_status(t->kind));
}

void sim_server_handle(struct sim_call *c)
{
    static const char not_found[] = "404 page not found\n";
    struct sim *s = c->link->sim;
    struct sim_target t;
    struct sim_query q;

    if (!sim_parse_path(&s->arena, c->path, &t) || !has_subresource(&t)) {
        if (t.group_is_known)
            sim_call_refuse(c, &(struct sim_answer){
                                   .code = 404,
                                   .reason = "NotFound",
                                   .message = "the server could not find the requested resource"});
        else
            sim_call_answer(c, 404, not_found, sizeof not_found - 1);
        return;
    }
    sim_parse_query(&s->arena, c->path, &q);
    if (is_forbidden(c, &t, &q))
        return;
    if (strcmp(c->method, "GET") == 0)
        get(c, &t, &q);
    else
        change(c, &t);
}
