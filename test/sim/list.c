/* Lists: from which version, which items, in which pages. */
#include "refusal.h"
#include "transport.h"

#include <inttypes.h>
#include <string.h>

#define CATCH_UP (3 * SIM_S) /* a watch cache that lags is waited for so long */
#define CATCH_UP_STEP (100 * SIM_MS)

/* A list that waits for its version. */
struct pending_list {
    struct sim_call *call;
    struct sim_target target;
    struct sim_query query;
    rco_mono until;
};

/* --- items --- */

/* JSON of V as an item: the kinds of Kubernetes itself do not repeat what they are. */
static const char *item_text(struct sim *s, const struct sim_version *v, size_t *ret_len)
{
    struct sim_version *w = (struct sim_version *)v;

    if (strcmp(rco_kind_info(v->kind)->group, "runtimecloud.io") == 0)
        return sim_text(s, v, ret_len);
    if (!w->item) {
        rco_autobuf out = RCO_BUF_INIT;
        const struct rco_value *tree = sim_tree_set(&s->arena, v->tree, "kind", NULL);

        rco_value_write(sim_tree_set(&s->arena, tree, "apiVersion", NULL), &out);
        w->item_len = out.len;
        w->item = rco_arena_strndup(&s->arena, rco_buf_str(&out), out.len);
    }
    *ret_len = w->item_len;
    return w->item;
}

static bool is_in(const struct sim_version *v, const struct sim_target *t,
                  const struct sim_query *q)
{
    return sim_matches(v, t->ns, q->labels, q->fields);
}

/* Items from AT on into OUT; returns the index of the first that was left for the next page. */
static size_t write_items(struct sim *s, const struct sim_version **list, size_t n, size_t at,
                          int64_t limit, const struct sim_target *t, const struct sim_query *q,
                          struct rco_buf *out)
{
    int64_t written = 0;

    for (; at < n; at++) {
        const char *text;
        size_t len;

        if (!is_in(list[at], t, q))
            continue;
        if (limit > 0 && written == limit)
            break;
        if (written++)
            rco_buf_addc(out, ',');
        text = item_text(s, list[at], &len);
        rco_buf_add(out, text, len);
    }
    return at;
}

static int64_t count_rest(const struct sim_version **list, size_t n, size_t at,
                          const struct sim_target *t, const struct sim_query *q)
{
    int64_t rest = 0;

    for (; at < n; at++)
        rest += is_in(list[at], t, q);
    return rest;
}

static void answer_list(struct sim_call *c, const struct sim_target *t, const struct sim_query *q,
                        int64_t rv, size_t at, int64_t limit)
{
    struct sim *s = c->link->sim;
    const struct rco_kind_info *info = rco_kind_info(t->kind);
    const struct sim_version **items;
    rco_autobuf out = RCO_BUF_INIT;
    size_t n = sim_list_at(s, t->kind, rv, &items);

    if (at == 0)
        sim_oracle_listed(s, c->link->replica, t->kind);
    rco_buf_addf(&out, "{\"kind\":\"%sList\",\"apiVersion\":\"%s%s%s\",\"items\":[", info->kind,
                 info->group, *info->group ? "/" : "", info->version);
    at = write_items(s, items, n, at, limit, t, q, &out);
    rco_buf_addf(&out, "],\"metadata\":{\"resourceVersion\":\"%" PRId64 "\"", rv);
    if (at < n) {
        rco_buf_addf(&out, ",\"continue\":\"%" PRId64 ":%zu\"", rv, at);
        if (rco_str_empty(q->labels) && rco_str_empty(q->fields))
            rco_buf_addf(&out, ",\"remainingItemCount\":%" PRId64, count_rest(items, n, at, t, q));
    }
    rco_buf_adds(&out, "}}");
    sim_call_answer(c, 200, rco_arena_strndup(&s->arena, out.data, out.len), out.len);
}

/* --- queries that make no sense --- */

static struct sim_answer bad_option(struct sim *s, const char *reason, const char *message)
{
    struct sim_causes causes = {0};
    struct sim_answer a =
        sim_refuse(s, 422, "Invalid",
                   "ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: %s", message);

    sim_cause_add(&s->arena, &causes, reason, "resourceVersionMatch", "%s", message);
    a.of_group = "meta.k8s.io";
    a.of_kind = "ListOptions";
    a.causes = causes.first;
    return a;
}

static bool is_number(const char *text)
{
    return *text && strspn(text, "0123456789") == strlen(text);
}

static bool is_token(const char *text)
{
    size_t n = strspn(text, "0123456789");

    return n > 0 && text[n] == ':' && is_number(text + n + 1);
}

struct sim_answer sim_check_query(struct sim *s, const struct sim_query *q)
{
    const char *rv = q->resource_version, *match = q->match;

    if (q->watch && q->initial_events && !rco_streq(match, "NotOlderThan"))
        return bad_option(s, "FieldValueForbidden",
                          "Forbidden: sendInitialEvents requires setting resourceVersionMatch to "
                          "NotOlderThan");
    if (match && !rv && !q->initial_events)
        return bad_option(s, "FieldValueForbidden",
                          "Forbidden: resourceVersionMatch is forbidden unless resourceVersion is "
                          "provided");
    if (match && strcmp(match, "Exact") != 0 && strcmp(match, "NotOlderThan") != 0)
        return bad_option(
            s, "FieldValueNotSupported",
            rco_arena_printf(&s->arena,
                             "Unsupported value: \"%s\": supported values: \"Exact\", "
                             "\"NotOlderThan\", \"\"",
                             match));
    if (rco_streq(match, "Exact") && rco_streq(rv, "0"))
        return bad_option(s, "FieldValueForbidden",
                          "Forbidden: resourceVersionMatch \"exact\" is forbidden for "
                          "resourceVersion \"0\"");
    if (rv && !is_number(rv))
        return sim_refuse(s, q->watch ? 500 : 400, q->watch ? "" : "BadRequest",
                          "%sresourceVersion: Invalid value: \"%s\": strconv.ParseUint: parsing "
                          "\"%s\": invalid syntax",
                          q->watch ? "" : "invalid resource version: ", rv, rv);
    if (q->token && rv)
        return sim_refuse(s, 400, "BadRequest",
                          "specifying resource version is not allowed when using continue");
    if (q->token && !is_token(q->token))
        return sim_refuse(s, 400, "BadRequest", "invalid continue token");
    if (q->fields && !rco_str_has_prefix(q->fields, "metadata.name="))
        return sim_refuse(s, 400, "BadRequest",
                          "\"%.*s\" is not a known field selector: only \"metadata.name\", "
                          "\"metadata.namespace\"",
                          (int)strcspn(q->fields, "=!"), q->fields);
    return (struct sim_answer){0};
}

/* --- versions --- */

struct sim_answer sim_too_large(struct sim *s, const char *rv)
{
    struct sim_causes causes = {0};
    struct sim_answer a =
        sim_refuse(s, 504, "Timeout", "Timeout: Too large resource version: %s, current: %" PRId64,
                   rv, sim_front_revision(s));

    sim_cause_add(&s->arena, &causes, "ResourceVersionTooLarge", NULL,
                  "Too large resource version");
    a.causes = causes.first;
    a.retry_after_s = 1;
    return a;
}

/* From the watch cache, which may lag, but not behind what was asked for. */
static void on_cached(void *ctx)
{
    struct pending_list *p = ctx;
    struct sim *s = p->call->link->sim;
    const struct sim_query *q = &p->query;
    int64_t rv = sim_front_revision(s);
    bool any = strcmp(q->resource_version, "0") == 0;

    if (p->call->over)
        return;
    if (rv >= strtoll(q->resource_version, NULL, 10)) {
        answer_list(p->call, &p->target, q, rv, 0, any ? 0 : q->limit);
        return;
    }
    if (s->now >= p->until) {
        struct sim_answer a = sim_too_large(s, q->resource_version);

        sim_call_refuse(p->call, &a);
        return;
    }
    sim_after(s, CATCH_UP_STEP, on_cached, p);
}

static void list_cached(struct sim_call *c, const struct sim_target *t, const struct sim_query *q)
{
    struct sim *s = c->link->sim;
    struct pending_list *p = RCO_NEW(&s->arena, struct pending_list);

    *p = (struct pending_list){.call = c, .target = *t, .query = *q, .until = s->now + CATCH_UP};
    on_cached(p);
}

static void list_page(struct sim_call *c, const struct sim_target *t, const struct sim_query *q)
{
    struct sim *s = c->link->sim;
    char *rest;
    int64_t rv = strtoll(q->token, &rest, 10);
    size_t at = (size_t)strtoull(rest + 1, NULL, 10);
    struct sim_answer a;

    if (rv >= s->kinds[t->kind].compacted) {
        answer_list(c, t, q, rv, at, q->limit);
        return;
    }
    a = sim_refuse(
        s, 410, "Expired",
        "The provided continue parameter is too old to display a consistent list result. "
        "You can start a new list without the continue parameter, or use the continue "
        "token in this response to retrieve the remainder of the results. Continuing "
        "with the provided token results in an inconsistent list - objects that were "
        "created, modified, or deleted between the time the first chunk was returned and "
        "now may show up in the list.");
    a.token = rco_arena_printf(&s->arena, "%" PRId64 ":%zu", s->revision, at);
    sim_call_refuse(c, &a);
}

static void list_exact(struct sim_call *c, const struct sim_target *t, const struct sim_query *q)
{
    struct sim *s = c->link->sim;
    int64_t rv = strtoll(q->resource_version, NULL, 10);
    struct sim_answer a = {0};

    if (rv < s->kinds[t->kind].compacted)
        a = sim_refuse(s, 410, "Expired", "The resourceVersion for the provided list is too old.");
    else if (rv > s->revision)
        a = sim_too_large(s, q->resource_version);
    if (a.code)
        sim_call_refuse(c, &a);
    else
        answer_list(c, t, q, rv, 0, q->limit);
}

void sim_list(struct sim_call *c, const struct sim_target *t, const struct sim_query *asked)
{
    struct sim *s = c->link->sim;
    struct sim_query q = *asked;
    struct sim_answer a = sim_check_query(s, &q);

    if (a.code) {
        sim_call_refuse(c, &a);
        return;
    }
    if (q.limit > 0 && s->plan->page > 0 && q.limit > s->plan->page)
        q.limit = s->plan->page;
    if (q.token)
        list_page(c, t, &q);
    else if (rco_streq(q.match, "Exact"))
        list_exact(c, t, &q);
    else if (q.resource_version)
        list_cached(c, t, &q);
    else
        answer_list(c, t, &q, s->revision, 0, q.limit);
}
