#include "pulumi/mask.h"

#include "base/sha256.h"
#include "base/str.h"
#include "pulumi/value.h"

#include <string.h>

/* Aho-Corasick over bytes. Children are sibling lists: values are few and mostly branch at the
 * root. */
struct node {
    uint32_t child, sibling; /* 0 = none */
    uint32_t fail;
    uint32_t depth;
    uint32_t match; /* length of the longest pattern that ends here, 0 = none */
    unsigned char byte;
};

struct rco_mask {
    struct node *nodes; /* 0 is the root */
    size_t n, size;
    size_t patterns;
    size_t total; /* bytes of values */
    bool built;
    uint32_t root[256];
};

struct rco_mask *rco_mask_new(void)
{
    struct rco_mask *m = rco_calloc(1, sizeof(*m));
    m->size = 64;
    m->nodes = rco_calloc(m->size, sizeof(*m->nodes));
    m->n = 1;
    return m;
}

void rco_mask_free(struct rco_mask *m)
{
    if (!m)
        return;
    explicit_bzero(m->nodes, m->n * sizeof(*m->nodes)); /* the tree spells the values */
    free(m->nodes);
    free(m);
}

size_t rco_mask_count(const struct rco_mask *m)
{
    return m->patterns;
}

static uint32_t child_of(const struct rco_mask *m, uint32_t node, unsigned char c)
{
    if (node == 0)
        return m->root[c];
    for (uint32_t k = m->nodes[node].child; k; k = m->nodes[k].sibling)
        if (m->nodes[k].byte == c)
            return k;
    return 0;
}

static void grow(struct rco_mask *m)
{
    if (m->n < m->size)
        return;
    struct node *bigger = rco_calloc(m->size * 2, sizeof(*bigger));
    memcpy(bigger, m->nodes, m->n * sizeof(*bigger));
    explicit_bzero(m->nodes, m->n * sizeof(*m->nodes));
    free(m->nodes);
    m->nodes = bigger;
    m->size *= 2;
}

static void add_pattern(struct rco_mask *m, const void *bytes, size_t n)
{
    const unsigned char *s = bytes;
    uint32_t at = 0;
    if (n < RCO_MASK_MIN)
        return;
    for (size_t i = 0; i < n; i++) {
        uint32_t next = child_of(m, at, s[i]);
        if (!next) {
            grow(m);
            next = (uint32_t)m->n++;
            m->nodes[next] = (struct node){
                .byte = s[i], .depth = (uint32_t)i + 1, .sibling = m->nodes[at].child};
            m->nodes[at].child = next;
            if (at == 0)
                m->root[s[i]] = next;
        }
        at = next;
    }
    if (!m->nodes[at].match)
        m->patterns++;
    m->nodes[at].match = (uint32_t)n;
}

static void add_buf(struct rco_mask *m, struct rco_buf *b)
{
    add_pattern(m, b->data, b->len);
    if (b->data)
        explicit_bzero(b->data, b->len);
    rco_buf_clear(b);
}

/* JSON string escapes as Go and as everybody else writes them. */
static void escape_json(const unsigned char *s, size_t n, bool html, struct rco_buf *out)
{
    for (size_t i = 0; i < n; i++) {
        const char *at = s[i] ? strchr("\"\\\b\f\n\r\t", s[i]) : NULL;
        if (at)
            rco_buf_addf(out, "\\%c", "\"\\bfnrt"[at - strchr("\"\\\b\f\n\r\t", '"')]);
        else if (s[i] < 0x20 || (html && (s[i] == '<' || s[i] == '>' || s[i] == '&')))
            rco_buf_addf(out, "\\u%04x", s[i]);
        else
            rco_buf_addc(out, (char)s[i]);
    }
}

static void add_json(struct rco_mask *m, const unsigned char *s, size_t n)
{
    rco_autobuf once = RCO_BUF_INIT, twice = RCO_BUF_INIT;
    for (int html = 0; html < 2; html++) {
        rco_buf_clear(&once);
        escape_json(s, n, html, &once);
        add_pattern(m, once.data, once.len);
        escape_json((const unsigned char *)rco_buf_str(&once), once.len, html, &twice);
        add_buf(m, &twice);
    }
    if (once.data)
        explicit_bzero(once.data, once.len);
}

static void add_url(struct rco_mask *m, const unsigned char *s, size_t n)
{
    static const char *const digits[] = {"0123456789ABCDEF", "0123456789abcdef"};
    rco_autobuf b = RCO_BUF_INIT;
    for (int form = 0; form < 8; form++) { /* hex case, space as +, path characters kept */
        const char *hex = digits[form & 1];
        const char *keep = form & 4 ? "-._~/:@!$&'()*,;=" : "-._~";
        for (size_t i = 0; i < n; i++) {
            bool plain = (s[i] >= '0' && s[i] <= '9') || (s[i] >= 'a' && s[i] <= 'z') ||
                         (s[i] >= 'A' && s[i] <= 'Z') || (s[i] && strchr(keep, s[i]));
            if (plain || (s[i] == ' ' && (form & 2))) {
                rco_buf_addc(&b, plain ? (char)s[i] : '+');
                continue;
            }
            rco_buf_addc(&b, '%');
            rco_buf_addc(&b, hex[s[i] >> 4]);
            rco_buf_addc(&b, hex[s[i] & 15]);
        }
        add_buf(m, &b);
    }
}

static void add_hex(struct rco_mask *m, const unsigned char *s, size_t n)
{
    if (n < RCO_MASK_MIN_PART)
        return;
    char *hex = rco_malloc(2 * n + 1);
    rco_hex_encode(s, n, hex);
    add_pattern(m, hex, 2 * n);
    for (size_t i = 0; i < 2 * n; i++)
        if (hex[i] >= 'a')
            hex[i] = (char)(hex[i] - 'a' + 'A');
    add_pattern(m, hex, 2 * n);
    explicit_bzero(hex, 2 * n);
    free(hex);
}

static void add_base64_text(struct rco_mask *m, char *text, size_t n)
{
    add_pattern(m, text, n);
    for (size_t i = 0; i < n; i++) /* the URL-safe alphabet */
        text[i] = text[i] == '+' ? '-' : text[i] == '/' ? '_' : text[i];
    add_pattern(m, text, n);
}

/* The characters that depend on the value alone, for each of the three alignments it may have
 * within a longer encoded text; and the whole with its padding. */
static void add_base64(struct rco_mask *m, const unsigned char *s, size_t n)
{
    unsigned char *shifted = rco_calloc(n + 2, 1);
    memcpy(shifted + 2, s, n);
    for (size_t lead = 0; lead < 3; lead++) {
        char *text = rco_base64_encode(shifted + 2 - lead, n + lead);
        size_t from = (lead * 8 + 5) / 6, to = (n + lead) * 8 / 6, len = strlen(text);
        if (lead == 0)
            add_base64_text(m, text, len);
        if (to > from && to - from >= RCO_MASK_MIN_PART)
            add_base64_text(m, text + from, to - from);
        explicit_bzero(text, len);
        free(text);
    }
    explicit_bzero(shifted, n + 2);
    free(shifted);
}

static void add_forms(struct rco_mask *m, const unsigned char *s, size_t n)
{
    add_pattern(m, s, n);
    add_json(m, s, n);
    add_url(m, s, n);
    add_hex(m, s, n);
    add_base64(m, s, n);
}

static void add_lines(struct rco_mask *m, const unsigned char *s, size_t n)
{
    for (size_t pos = 0; pos < n;) {
        const unsigned char *nl = memchr(s + pos, '\n', n - pos);
        size_t len = nl ? (size_t)(nl - s) - pos : n - pos, from = pos;
        pos += len + 1;
        while (len > 0 && (s[from] == ' ' || s[from] == '\t')) {
            from++;
            len--;
        }
        while (len > 0 && memchr("\r \t", s[from + len - 1], 3))
            len--;
        if (len >= RCO_MASK_MIN_PART && len < n) {
            add_pattern(m, s + from, len);
            add_json(m, s + from, len);
        }
    }
}

static void add_texts(struct rco_mask *m, const struct rco_value *v)
{
    if (v->type == RCO_VALUE_STRING && v->len >= RCO_MASK_MIN_PART) {
        add_forms(m, (const unsigned char *)v->text, v->len);
        add_lines(m, (const unsigned char *)v->text, v->len);
    }
    if (v->type == RCO_VALUE_OBJECT || v->type == RCO_VALUE_ARRAY)
        for (const struct rco_value *c = v->first; c; c = c->next)
            add_texts(m, c);
}

/* A value that is itself a JSON document (a cloud key file, a password with its host). */
static void add_json_document(struct rco_mask *m, const unsigned char *s, size_t n)
{
    rco_autoarena a = RCO_ARENA_INIT;
    struct rco_error err = RCO_ERROR_INIT;
    struct rco_value *v;
    if (s[0] == '{' && rco_value_parse((const char *)s, n, &a, &v, &err) == 0)
        add_texts(m, v);
}

/* The password of a URL with user and password. */
static void add_url_password(struct rco_mask *m, const unsigned char *s, size_t n)
{
    const unsigned char *scheme = memmem(s, n, "://", 3);
    if (!scheme)
        return;
    const unsigned char *user = scheme + 3, *end = s + n;
    const unsigned char *slash = memchr(user, '/', (size_t)(end - user));
    const unsigned char *at = memrchr(user, '@', (size_t)((slash ? slash : end) - user));
    const unsigned char *colon = at ? memchr(user, ':', (size_t)(at - user)) : NULL;
    if (colon)
        add_pattern(m, colon + 1, (size_t)(at - colon - 1));
}

/* Words that the event format itself is made of: whoever masks "update" loses the plan. */
static bool is_format_word(const unsigned char *s, size_t n)
{
    static const char words[] =
        " sequence timestamp cancelEvent stdoutEvent diagnosticEvent preludeEvent summaryEvent "
        "resourcePreEvent resOutputsEvent resOpFailedEvent policyEvent metadata planning status "
        "steps "
        "type op urn old new keys diffs detailedDiff diffKind inputDiff provider logical custom "
        "parent "
        "inputs outputs initErrors same create update delete replace create-replacement "
        "delete-replaced read read-replacement refresh discard discard-replaced "
        "remove-pending-replace "
        "import import-replacement severity message prefix color config isPreview resourceChanges "
        "maybeCorrupt durationSeconds result succeeded failed true false null info error warning "
        "pulumi:pulumi:Stack pulumi:providers: urn:pulumi: enforcementLevel mandatory advisory ";
    return memmem(words, sizeof(words) - 1, s, n) != NULL;
}

int rco_mask_add(struct rco_mask *m, const void *value, size_t n, struct rco_error *err)
{
    const unsigned char *s = value;
    if (n > RCO_MASK_MAX_VALUE)
        return rco_error_set(err, RCO_ETOOBIG, "larger than the %d KiB that can be masked",
                             RCO_MASK_MAX_VALUE / 1024);
    if (m->total + n > RCO_MASK_MAX_TOTAL)
        return rco_error_set(err, RCO_ETOOBIG, "all secret values together exceed %d KiB",
                             RCO_MASK_MAX_TOTAL / 1024);
    while (n > 0 && (s[n - 1] == '\n' ||
                     s[n - 1] == '\r')) /* programs print values without the last line end */
        n--;
    if (n < RCO_MASK_MIN)
        return 0;
    if (is_format_word(s, n))
        return rco_error_set(err, RCO_EINVALID,
                             "a word of the engine's own output, which cannot be "
                             "kept secret");
    m->total += n;
    add_forms(m, s, n);
    if (memchr(s, '\n', n))
        add_lines(m, s, n);
    add_json_document(m, s, n);
    add_url_password(m, s, n);
    return 0;
}

/* Breadth first, so that a node's fail target is complete before the node. */
static void build(struct rco_mask *m)
{
    uint32_t *queue = rco_calloc(m->n, sizeof(*queue));
    size_t head = 0, tail = 0;
    for (uint32_t k = m->nodes[0].child; k; k = m->nodes[k].sibling)
        queue[tail++] = k;
    while (head < tail) {
        uint32_t at = queue[head++];
        for (uint32_t k = m->nodes[at].child; k; k = m->nodes[k].sibling) {
            uint32_t f = m->nodes[at].fail, to;
            while (!(to = child_of(m, f, m->nodes[k].byte)) && f)
                f = m->nodes[f].fail;
            m->nodes[k].fail = to;
            if (!m->nodes[k].match)
                m->nodes[k].match = m->nodes[to].match;
            queue[tail++] = k;
        }
    }
    free(queue);
    m->built = true;
}

struct rco_mask_stream {
    struct rco_mask *mask;
    uint32_t state;
    struct rco_buf held; /* bytes that may still become part of a value */
    struct rco_buf hide; /* one byte for each of them: 1 = part of a value */
    bool hiding;         /* the last byte that left was part of a value */
    bool in_line, json, in_string, escaped;
};

struct rco_mask_stream *rco_mask_stream_new(struct rco_mask *m)
{
    struct rco_mask_stream *s = rco_calloc(1, sizeof(*s));
    if (!m->built)
        build(m);
    s->mask = m;
    return s;
}

void rco_mask_stream_free(struct rco_mask_stream *s)
{
    if (!s)
        return;
    if (s->held.data)
        explicit_bzero(s->held.data, s->held.size);
    rco_buf_release(&s->held);
    rco_buf_release(&s->hide);
    free(s);
}

/* Follows strings within a line of JSON, to know how a value may be replaced. */
static void follow(struct rco_mask_stream *s, char c)
{
    if (!s->in_line) {
        s->in_line = true;
        s->json = c == '{';
        s->in_string = s->escaped = false;
    }
    if (c == '\n')
        s->in_line = false;
    else if (s->escaped)
        s->escaped = false;
    else if (s->in_string && c == '\\')
        s->escaped = true;
    else if (c == '"')
        s->in_string = !s->in_string;
}

/* Lets the first N held bytes go. */
static void let_go(struct rco_mask_stream *s, size_t n, struct rco_buf *out)
{
    size_t from = 0;
    for (size_t i = 0; i < n; i++) {
        char c = s->held.data[i];
        if (s->hide.data[i]) {
            rco_buf_add(out, s->held.data + from, i - from);
            from = i + 1;
            if (!s->hiding)
                rco_buf_adds(out, s->in_line && s->json && !s->in_string ? "9" : "[masked]");
        }
        s->hiding = s->hide.data[i];
        follow(s, c);
    }
    rco_buf_add(out, s->held.data + from, n - from);
    rco_buf_consume(&s->held, n);
    rco_buf_consume(&s->hide, n);
}

/* Held bytes leave in pieces, since moving the rest costs its length. */
#define LET_GO_STEP 4096

void rco_mask_stream_feed(struct rco_mask_stream *s, const void *bytes, size_t n,
                          struct rco_buf *out)
{
    const struct rco_mask *m = s->mask;
    const unsigned char *p = bytes;
    for (size_t i = 0; i < n; i++) {
        uint32_t next;
        while (!(next = child_of(m, s->state, p[i])) && s->state)
            s->state = m->nodes[s->state].fail;
        s->state = next;
        rco_buf_addc(&s->held, (char)p[i]);
        rco_buf_addc(&s->hide, 0);
        uint32_t len = m->nodes[s->state].match;
        if (len)
            memset(s->hide.data + s->hide.len - len, 1, len);
        size_t open = m->nodes[s->state].depth;
        if (s->held.len - open >= LET_GO_STEP)
            let_go(s, s->held.len - open, out);
    }
    if (s->held.len > m->nodes[s->state].depth)
        let_go(s, s->held.len - m->nodes[s->state].depth, out);
}

void rco_mask_stream_finish(struct rco_mask_stream *s, struct rco_buf *out)
{
    if (s->held.len > 0)
        let_go(s, s->held.len, out);
    s->state = 0;
    s->hiding = false;
    s->in_line = false;
}

void rco_mask_text(struct rco_mask *m, const void *text, size_t n, struct rco_buf *out)
{
    struct rco_mask_stream *s = rco_mask_stream_new(m);
    rco_mask_stream_feed(s, text, n, out);
    rco_mask_stream_finish(s, out);
    rco_mask_stream_free(s);
}
