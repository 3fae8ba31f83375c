#include "mailbox.h"

#include "api/zz_generated_types.h"
#include "base/buf.h"
#include "base/map.h"
#include "base/str.h"
#include "gateway_answer.h"

#include <string.h>

/* One request that waits for its answer. */
struct entry {
    struct rco_mailbox *mailbox;
    struct entry *next; /* in its box */
    uint64_t id;
    enum rco_letter_type type;
    enum rco_phase phase;
    struct rco_exchange *exchange;
    size_t bytes;
    struct rco_arena arena; /* everything below */
    const char *pod_name, *pod_uid;
    const void *request; /* decoded, or NULL */
    const char *error;
    struct rco_timer *timeout;
    struct box *box;
};

/* What one namespace has waiting. */
struct share {
    size_t n, bytes;
    char *ns;
};

/* Everything of one run. */
struct box {
    struct entry *entries; /* in the order of arrival */
    size_t n;
    struct share *share;
    char *key;
};

struct rco_mailbox {
    struct rco_loop *loop;
    void (*wake)(void *ctx, const char *ns, const char *run);
    void *ctx;
    struct rco_map boxes;  /* "ns/run" */
    struct rco_map shares; /* ns */
    uint64_t next_id;
    size_t n, bytes;
};

struct rco_mailbox *rco_mailbox_new(struct rco_loop *loop,
                                    void (*wake)(void *ctx, const char *ns, const char *run),
                                    void *ctx)
{
    struct rco_mailbox *m = rco_calloc(1, sizeof *m);

    m->loop = loop;
    m->wake = wake;
    m->ctx = ctx;
    return m;
}

static struct box *find_box(struct rco_mailbox *m, const char *ns, const char *run)
{
    rco_autofree char *key = rco_asprintf("%s/%s", ns, run);

    return rco_map_get(&m->boxes, key);
}

static struct share *get_share(struct rco_mailbox *m, const char *ns)
{
    struct share *s = rco_map_get(&m->shares, ns);

    if (!s) {
        s = rco_calloc(1, sizeof *s);
        s->ns = rco_strdup(ns);
        rco_map_set(&m->shares, ns, s);
    }
    return s;
}

static struct box *get_box(struct rco_mailbox *m, const char *ns, const char *run)
{
    struct box *b = find_box(m, ns, run);

    if (!b) {
        b = rco_calloc(1, sizeof *b);
        b->key = rco_asprintf("%s/%s", ns, run);
        b->share = get_share(m, ns);
        rco_map_set(&m->boxes, b->key, b);
    }
    return b;
}

static void drop_box_if_empty(struct rco_mailbox *m, struct box *b)
{
    struct share *s = b->share;

    if (b->entries)
        return;
    rco_map_remove(&m->boxes, b->key);
    free(b->key);
    free(b);
    if (s->n)
        return;
    rco_map_remove(&m->shares, s->ns);
    free(s->ns);
    free(s);
}

static void count(struct entry *entry)
{
    struct rco_mailbox *m = entry->mailbox;

    m->n++;
    m->bytes += entry->bytes;
    entry->box->n++;
    entry->box->share->n++;
    entry->box->share->bytes += entry->bytes;
}

static void uncount(struct entry *entry)
{
    struct rco_mailbox *m = entry->mailbox;

    m->n--;
    m->bytes -= entry->bytes;
    entry->box->n--;
    entry->box->share->n--;
    entry->box->share->bytes -= entry->bytes;
}

/* Takes ENTRY out of its box and frees it; its exchange is no longer our duty. */
static void drop_entry(struct entry *entry)
{
    struct rco_mailbox *m = entry->mailbox;
    struct entry **p = &entry->box->entries;

    while (*p != entry)
        p = &(*p)->next;
    *p = entry->next;
    uncount(entry);
    drop_box_if_empty(m, entry->box);
    rco_timer_free(entry->timeout);
    rco_arena_release(&entry->arena);
    free(entry);
}

static void answer_later(struct entry *entry, const char *why)
{
    struct rco_exchange *exchange = entry->exchange;

    drop_entry(entry);
    rco_gateway_answer(exchange, 503, why);
}

static void on_timeout(void *ctx)
{
    answer_later(ctx, "not decided yet; ask again");
}

void rco_mailbox_drain(struct rco_mailbox *m)
{
    size_t it = 0;
    void *value;

    while (rco_map_next(&m->boxes, &it, NULL, &value)) {
        struct box *b = value;

        /* The box dies with its last entry. */
        for (struct entry *e = b->entries, *next; e; e = next) {
            next = e->next;
            answer_later(e, "this replica is stopping; ask again");
        }
        it = 0;
        if (m->n == 0)
            return;
    }
}

void rco_mailbox_free(struct rco_mailbox *m)
{
    if (!m)
        return;
    rco_mailbox_drain(m);
    rco_map_release(&m->boxes);
    rco_map_release(&m->shares);
    free(m);
}

/* Starts the arena of ENTRY anew, with who sent LETTER and the text WHY, which is returned. */
static const char *keep(struct entry *entry, const struct rco_letter *letter, const char *why)
{
    rco_autofree char *text = rco_strdup(why);

    rco_arena_release(&entry->arena);
    entry->pod_name = rco_arena_strdup(&entry->arena, letter->pod_name);
    entry->pod_uid = rco_arena_strdup(&entry->arena, letter->pod_uid);
    return rco_arena_strdup(&entry->arena, text);
}

static void decode(struct entry *entry, const struct rco_letter *letter)
{
    bool start = letter->type == RCO_LETTER_START;
    const struct rco_schema *schema = start ? &rco_runner_start_schema : &rco_runner_receipt_schema;
    void *obj = rco_arena_alloc(&entry->arena, schema->size);
    struct rco_error err = RCO_ERROR_INIT;

    if (rco_codec_decode(schema, letter->body, letter->body_len, &entry->arena, obj, &err) < 0)
        entry->error = rco_arena_strdup(&entry->arena, err.msg);
    else if (entry->arena.used <= RCO_MAILBOX_LETTER_MAX)
        entry->request = obj;
    else
        entry->error = "it unfolds to more than there is room for";
    if (entry->request)
        return;
    /* What came before the fault is of no use. */
    entry->error = keep(entry, letter, entry->error);
}

/* The waiting letter that LETTER repeats, or NULL. */
static struct entry *find_repeated(struct box *b, const struct rco_letter *letter)
{
    for (struct entry *e = b->entries; e; e = e->next)
        if (e->type == letter->type && e->phase == letter->phase &&
            rco_streq(e->pod_uid, letter->pod_uid))
            return e;
    return NULL;
}

/* Why there is no room for LETTER, or NULL. */
static const char *full(struct rco_mailbox *m, const struct rco_letter *letter)
{
    const struct share *s = rco_map_get(&m->shares, letter->ns);
    const struct box *b = find_box(m, letter->ns, letter->run);

    if (m->n >= RCO_MAILBOX_MAX || m->bytes + letter->body_len > RCO_MAILBOX_BYTES_MAX)
        return "too many runners wait for an answer; ask again";
    if (s && (s->n >= RCO_MAILBOX_NAMESPACE_MAX ||
              s->bytes + letter->body_len > RCO_MAILBOX_NAMESPACE_BYTES_MAX))
        return "too many runners of this namespace wait for an answer; ask again";
    if (b && b->n >= RCO_MAILBOX_RUN_MAX)
        return "too many pods ask for this run; ask again";
    return NULL;
}

void rco_mailbox_put(struct rco_mailbox *m, const struct rco_letter *letter)
{
    struct box *b = find_box(m, letter->ns, letter->run);
    struct entry *entry, **tail, *repeated = b ? find_repeated(b, letter) : NULL;
    const char *why;

    if (repeated)
        answer_later(repeated, "asked again meanwhile");
    why = full(m, letter);
    if (why) {
        rco_gateway_answer(letter->exchange, 503, why);
        return;
    }
    entry = rco_calloc(1, sizeof *entry);
    b = get_box(m, letter->ns, letter->run);
    entry->mailbox = m;
    entry->box = b;
    entry->id = ++m->next_id;
    entry->type = letter->type;
    entry->phase = letter->phase;
    entry->exchange = letter->exchange;
    entry->pod_name = rco_arena_strdup(&entry->arena, letter->pod_name);
    entry->pod_uid = rco_arena_strdup(&entry->arena, letter->pod_uid);
    decode(entry, letter);
    entry->bytes = entry->arena.used;
    entry->timeout = rco_timer_new(m->loop, on_timeout, entry);
    rco_timer_arm(entry->timeout, RCO_MAILBOX_WAIT_NS);
    for (tail = &b->entries; *tail; tail = &(*tail)->next)
        ;
    *tail = entry;
    count(entry);
    m->wake(m->ctx, letter->ns, letter->run);
}

static struct entry *find_entry(struct rco_mailbox *m, uint64_t id,
                                const struct rco_exchange *exchange)
{
    size_t it = 0;
    void *value;

    while (rco_map_next(&m->boxes, &it, NULL, &value))
        for (struct entry *e = ((struct box *)value)->entries; e; e = e->next)
            if ((id && e->id == id) || (exchange && e->exchange == exchange))
                return e;
    return NULL;
}

void rco_mailbox_gone(struct rco_mailbox *m, const struct rco_exchange *exchange)
{
    struct entry *entry = find_entry(m, 0, exchange);

    if (entry)
        drop_entry(entry);
}

static void observe_entry(const struct entry *e, struct rco_mailbox_facts *facts,
                          struct rco_mailbox_start *starts, struct rco_mailbox_receipt *receipts)
{
    if (e->type == RCO_LETTER_START)
        starts[facts->n_starts++] = (struct rco_mailbox_start){
            .exchange = e->id,
            .phase = e->phase,
            .pod_name = e->pod_name,
            .pod_uid = e->pod_uid,
            .request = e->request,
            .error = e->error,
        };
    else
        receipts[facts->n_receipts++] = (struct rco_mailbox_receipt){
            .exchange = e->id,
            .phase = e->phase,
            .pod_name = e->pod_name,
            .pod_uid = e->pod_uid,
            .receipt = e->request,
            .error = e->error,
        };
}

void rco_mailbox_observe(struct rco_mailbox *m, const char *ns, const char *run,
                         struct rco_arena *a, struct rco_mailbox_facts *ret)
{
    struct box *b = find_box(m, ns, run);
    struct rco_mailbox_start *starts;
    struct rco_mailbox_receipt *receipts;
    size_t n = 0;

    *ret = (struct rco_mailbox_facts){0};
    if (!b)
        return;
    for (const struct entry *e = b->entries; e; e = e->next)
        n++;
    starts = rco_arena_array(a, n, sizeof *starts);
    receipts = rco_arena_array(a, n, sizeof *receipts);
    ret->starts = starts;
    ret->receipts = receipts;
    for (const struct entry *e = b->entries; e; e = e->next)
        observe_entry(e, ret, starts, receipts);
}

void rco_mailbox_reply(struct rco_mailbox *m, uint64_t id, int http_status, const char *body,
                       size_t n)
{
    struct entry *entry = find_entry(m, id, NULL);
    struct rco_exchange *exchange;

    if (!entry)
        return;
    exchange = entry->exchange;
    drop_entry(entry);
    rco_exchange_reply(exchange, http_status, NULL, body, n, http_status == 503 ? 1 : 0);
}

size_t rco_mailbox_waiting(const struct rco_mailbox *m)
{
    return m->n;
}

size_t rco_mailbox_bytes(const struct rco_mailbox *m)
{
    return m->bytes;
}
