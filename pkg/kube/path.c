#include "kube/path.h"

#include "base/str.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void rco_path_release(struct rco_path *p)
{
    rco_buf_release(&p->buf);
    p->next = '?';
}

static bool is_unreserved(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_' || c == '~';
}

static void add_escaped(struct rco_buf *b, const char *s)
{
    static const char hex[] = "0123456789ABCDEF";

    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;

        if (is_unreserved(c)) {
            rco_buf_addc(b, (char)c);
        } else {
            rco_buf_addc(b, '%');
            rco_buf_addc(b, hex[c >> 4]);
            rco_buf_addc(b, hex[c & 15]);
        }
    }
}

/* Dots are unreserved, so a segment of nothing but dots would climb the tree after normalisation.
 */
static int add_segment(struct rco_buf *b, const char *what, const char *s, struct rco_error *err)
{
    if (strcmp(s, ".") == 0 || strcmp(s, "..") == 0)
        return rco_error_set(err, RCO_EINVALID, "%s \"%s\" cannot be part of a request path", what,
                             s);
    rco_buf_addc(b, '/');
    add_escaped(b, s);
    return 0;
}

static void start_over(struct rco_path *p)
{
    rco_buf_clear(&p->buf);
    p->next = '?';
}

int rco_path_kind(struct rco_path *p, enum rco_kind kind, const char *ns, const char *name,
                  const char *subresource, struct rco_error *err)
{
    const struct rco_kind_info *info = rco_kind_info(kind);

    start_over(p);
    if (name && !*name)
        return rco_error_set(err, RCO_EINVALID, "request for a %s with an empty name", info->kind);
    if (name && info->namespaced && rco_str_empty(ns))
        return rco_error_set(err, RCO_EINVALID, "request for %s %s without a namespace", info->kind,
                             name);
    if (rco_str_empty(info->group)) {
        rco_buf_adds(&p->buf, "/api/");
    } else {
        rco_buf_adds(&p->buf, "/apis/");
        rco_buf_adds(&p->buf, info->group);
        rco_buf_addc(&p->buf, '/');
    }
    rco_buf_adds(&p->buf, info->version);
    if (info->namespaced && !rco_str_empty(ns)) {
        rco_buf_adds(&p->buf, "/namespaces");
        if (add_segment(&p->buf, "namespace", ns, err) < 0)
            return -1;
    }
    rco_buf_addc(&p->buf, '/');
    rco_buf_adds(&p->buf, info->plural);
    if (name && add_segment(&p->buf, "name", name, err) < 0)
        return -1;
    if (!rco_str_empty(subresource) && add_segment(&p->buf, "subresource", subresource, err) < 0)
        return -1;
    return 0;
}

void rco_path_literal(struct rco_path *p, const char *path)
{
    start_over(p);
    rco_buf_adds(&p->buf, path);
    if (strchr(path, '?'))
        p->next = '&';
}

void rco_path_query(struct rco_path *p, const char *key, const char *value)
{
    if (rco_str_empty(value))
        return;
    rco_buf_addc(&p->buf, p->next);
    p->next = '&';
    add_escaped(&p->buf, key);
    rco_buf_addc(&p->buf, '=');
    add_escaped(&p->buf, value);
}

void rco_path_query_int(struct rco_path *p, const char *key, int64_t value)
{
    char text[24];

    snprintf(text, sizeof(text), "%" PRId64, value);
    rco_path_query(p, key, text);
}

const char *rco_path_str(const struct rco_path *p)
{
    return rco_buf_str(&p->buf);
}
