#include "api/backend.h"

#include "base/buf.h"
#include "base/str.h"

#include <ctype.h>
#include <string.h>

#define HOSTS_MAX 16

/* A URL in parts; all in one arena, decoded. */
struct parts {
    const char *scheme, *host, *path;
    const char *query; /* as written, without '?' */
};

static char *lower(char *s)
{
    for (char *p = s; *p; p++)
        *p = (char)tolower((unsigned char)*p);
    return s;
}

static int hex(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : isxdigit((unsigned char)c) ? (c | 0x20) - 'a' + 10 : -1;
}

/* Percent escapes are undone; PLUS is what '+' stands for. Escapes that are none stay. */
static char *decode(struct rco_arena *a, const char *s, size_t n, char plus)
{
    char *out = rco_arena_alloc(a, n + 1), *o = out;
    for (size_t i = 0; i < n; i++) {
        int hi = s[i] == '%' && i + 2 < n ? hex(s[i + 1]) : -1;
        int lo = hi >= 0 ? hex(s[i + 2]) : -1;
        if (lo > 0 || (lo == 0 && hi > 0)) {
            *o++ = (char)(hi * 16 + lo);
            i += 2;
        } else {
            *o++ = s[i] == '+' ? plus : s[i];
        }
    }
    *o = '\0';
    return out;
}

/* What would be read as another part of a URL is escaped again. */
static void add_encoded(struct rco_buf *out, const char *s)
{
    for (; *s; s++)
        if (strchr("%?#&=+", *s) || (unsigned char)*s <= ' ' || *s == 0x7f)
            rco_buf_addf(out, "%%%02X", (unsigned)(unsigned char)*s);
        else
            rco_buf_addc(out, *s);
}

/* The first value of NAME in QUERY, or "". */
static const char *param(const char *query, const char *name, struct rco_arena *a)
{
    for (const char *p = query; *p;) {
        size_t n = strcspn(p, "&"), key = strcspn(p, "=&");
        if (rco_streq(decode(a, p, key, ' '), name))
            return key < n ? decode(a, p + key + 1, n - key - 1, ' ') : "";
        p += n + (p[n] == '&');
    }
    return "";
}

/* ---- hosts ---- */

static const char *default_port(const char *scheme)
{
    return rco_streq(scheme, "https")      ? "443"
           : rco_streq(scheme, "postgres") ? "5432"
                                           : "";
}

/* One "host:port", in place: no default port, no dot at the end. */
static void tidy_host(char *host, const char *port)
{
    char *bracket = strrchr(host, ']');
    char *colon = strrchr(bracket ? bracket : host, ':');
    size_t n;
    if (colon && (rco_streq(colon + 1, port) || !colon[1]))
        *colon = '\0';
    colon = strrchr(bracket ? bracket : host, ':');
    n = colon ? (size_t)(colon - host) : strlen(host);
    if (n > 1 && host[n - 1] == '.')
        memmove(host + n - 1, host + n, strlen(host + n) + 1);
}

/* Several hosts are alternatives for one place: their order says nothing. */
static void add_hosts(const char *hosts, const char *port, struct rco_arena *a, struct rco_buf *out)
{
    char *list[HOSTS_MAX];
    size_t n = 0;
    for (const char *p = hosts; *p && n < HOSTS_MAX;) {
        size_t len = strcspn(p, ",");
        char *host = lower(rco_arena_strndup(a, p, len));
        size_t at = n++;
        tidy_host(host, port);
        for (; at && strcmp(list[at - 1], host) > 0; at--)
            list[at] = list[at - 1];
        list[at] = host;
        p += len + (p[len] == ',');
    }
    for (size_t i = 0; i < n; i++) {
        if (i)
            rco_buf_addc(out, ',');
        add_encoded(out, list[i]);
    }
}

/* ---- what of the query names a place ---- */

struct query {
    struct rco_buf *out;
    bool any;
};

static void add_param(struct query *q, const char *name, const char *value)
{
    if (rco_str_empty(value))
        return;
    rco_buf_addc(q->out, q->any ? '&' : '?');
    q->any = true;
    rco_buf_addf(q->out, "%s=", name);
    add_encoded(q->out, value);
}

/* An SQL identifier as the server sees it: folded to lower case unless quoted. */
static char *identifier(struct rco_arena *a, const char *s, size_t n)
{
    while (n && *s == ' ')
        s++, n--;
    while (n && s[n - 1] == ' ')
        n--;
    if (n >= 2 && *s == '"' && s[n - 1] == '"')
        return rco_arena_strndup(a, s + 1, n - 2);
    return lower(rco_arena_strndup(a, s, n));
}

/* The schema in which the table is made: the first that search_path names. The one called like the
 * user seldom exists, and who the user is stands in a Secret. */
static const char *schema_of(const char *search_path, struct rco_arena *a)
{
    for (const char *p = search_path; *p;) {
        size_t n = strcspn(p, ",");
        const char *name = identifier(a, p, n);
        if (*name && !rco_streq(name, "$user"))
            return name;
        p += n + (p[n] == ',');
    }
    return "public";
}

static void add_postgres(const struct parts *u, struct rco_arena *a, struct query *q)
{
    const char *table = param(u->query, "table", a);
    const char *dot = strchr(table, '.');
    const char *schema = dot ? identifier(a, table, (size_t)(dot - table))
                             : schema_of(param(u->query, "search_path", a), a);
    const char *name = identifier(a, dot ? dot + 1 : table, strlen(dot ? dot + 1 : table));
    add_param(q, "prefix", param(u->query, "prefix", a));
    add_param(q, "search_path", rco_streq(schema, "public") ? NULL : schema);
    add_param(q, "table", rco_streq(name, "pulumi_state") ? NULL : name);
}

static const char *endpoint(const char *text, struct rco_arena *a)
{
    rco_autobuf out = RCO_BUF_INIT;
    const char *mark = strstr(text, "://");
    const char *host = mark ? mark + 3 : text;
    bool plain = mark && tolower((unsigned char)*text) == 'h' && mark - text == 4;
    size_t n = strcspn(host, "/?#");
    add_hosts(rco_arena_strndup(a, host, n), plain ? "80" : "443", a, &out);
    return rco_arena_strdup(a, rco_buf_str(&out));
}

static void add_query(const struct parts *u, struct rco_arena *a, struct query *q)
{
    if (rco_streq(u->scheme, "postgres")) {
        add_postgres(u, a, q);
    } else if (rco_streq(u->scheme, "s3")) {
        add_param(q, "endpoint", endpoint(param(u->query, "endpoint", a), a));
    } else if (rco_streq(u->scheme, "azblob")) {
        add_param(q, "domain", lower((char *)param(u->query, "domain", a)));
        add_param(q, "storage_account", lower((char *)param(u->query, "storage_account", a)));
    }
}

/* ---- the path ---- */

static bool is_bucket(const char *scheme)
{
    return rco_streq(scheme, "s3") || rco_streq(scheme, "gs") || rco_streq(scheme, "azblob");
}

/* Of buckets the parameter prefix stands before the path, which ends in a slash of its own. */
static void add_path(const struct parts *u, struct rco_arena *a, struct rco_buf *out,
                     struct query *q)
{
    const char *path = u->path, *prefix = "";
    if (is_bucket(u->scheme)) {
        path += strspn(path, "/");
        prefix = param(u->query, "prefix", a);
    }
    size_t n = strlen(path), cut = strlen(prefix);
    while (n && path[n - 1] == '/' && !(n == 1 && rco_str_empty(u->host))) /* file:/// */
        n--;
    path = rco_arena_strndup(a, path, n);
    if (!n && cut && prefix[cut - 1] != '/') { /* the beginning of a name, not a folder */
        add_param(q, "prefix", prefix);
        return;
    }
    if (is_bucket(u->scheme) && (n || cut)) {
        rco_buf_addc(out, '/');
        add_encoded(out, n ? prefix : rco_arena_strndup(a, prefix, cut - 1));
    }
    add_encoded(out, path);
}

static struct parts take_apart(const char *url, const char *mark, struct rco_arena *a)
{
    const char *rest = mark + 3;
    size_t n = strcspn(rest, "/?#");
    size_t path = strcspn(rest + n, "?#");
    const char *query = rest + n + path;
    char *host = decode(a, rest, n, '+');
    char *at = strrchr(host, '@'); /* a user name is no part of the place */
    return (struct parts){
        .scheme = lower(rco_arena_strndup(a, url, (size_t)(mark - url))),
        .host = at ? at + 1 : host,
        .path = decode(a, rest + n, path, '+'),
        .query = *query == '?' ? rco_arena_strndup(a, query + 1, strcspn(query + 1, "#")) : "",
    };
}

const char *rco_backend_canonical(const char *url, struct rco_arena *a)
{
    rco_autobuf place = RCO_BUF_INIT, query = RCO_BUF_INIT;
    struct query q = {.out = &query};
    const char *mark = strstr(url, "://");
    if (!mark)
        return rco_arena_strdup(a, url);
    const struct parts u = take_apart(url, mark, a);
    rco_buf_addf(&place, "%s://", u.scheme);
    add_hosts(u.host, default_port(u.scheme), a, &place);
    add_path(&u, a, &place, &q);
    add_query(&u, a, &q);
    return rco_arena_printf(a, "%s%s", rco_buf_str(&place), rco_buf_str(&query));
}
