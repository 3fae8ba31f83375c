#include "history.h"

#include "object.h"

#include "base/str.h"
#include "json/writer.h"

#include <stdio.h>
#include <string.h>

struct version {
    char rv[64];
    char *text; /* owned */
};

struct shown {
    char kind[64], version[64], rv[64];
    struct rco_map objects; /* of struct version, by key */
};

static void version_free(struct version *v)
{
    if (v)
        free(v->text);
    free(v);
}

static void forget(struct shown *s)
{
    size_t it = 0;
    const char *key;
    void *v;

    while (rco_map_next(&s->objects, &it, &key, &v))
        version_free(v);
    rco_map_release(&s->objects);
    s->objects = (struct rco_map){0};
}

void fp_history_release(struct fp_history *h)
{
    size_t it = 0;
    const char *key;
    void *s;

    while (rco_map_next(&h->all, &it, &key, &s)) {
        forget(s);
        free(s);
    }
    rco_map_release(&h->all);
}

static struct shown *of(struct fp_history *h, const char *res)
{
    struct shown *s = rco_map_get(&h->all, res);

    if (!s) {
        s = rco_calloc(1, sizeof *s);
        rco_map_set(&h->all, res, s);
    }
    return s;
}

static void put(struct shown *s, const char *key, const char *rv, const char *text, size_t n)
{
    struct version *v = rco_calloc(1, sizeof *v);

    snprintf(v->rv, sizeof v->rv, "%s", rv);
    v->text = rco_strndup(text, n);
    version_free(rco_map_set(&s->objects, key, v));
}

static void on_item(void *ctx, const char *text, size_t n)
{
    struct fp_object o;
    char key[520];

    if (!fp_object_read(text, n, &o))
        return;
    snprintf(key, sizeof key, "%s/%s", o.ns, o.name);
    put(ctx, key, o.rv, text, n);
}

void fp_history_list(struct fp_history *h, const char *res, const char *json, size_t n)
{
    struct shown *s = of(h, res);

    forget(s);
    fp_list_read(json, n, s->kind, s->version, s->rv, on_item, s);
}

void fp_history_frame(struct fp_history *h, const char *res, const char *type, const char *key,
                      const char *rv, const char *object, size_t n)
{
    struct shown *s = of(h, res);

    if (rco_streq(type, "ERROR"))
        return;
    snprintf(s->rv, sizeof s->rv, "%s", rv);
    if (rco_streq(type, "DELETED"))
        version_free(rco_map_remove(&s->objects, key));
    else if (!rco_streq(type, "BOOKMARK"))
        put(s, key, rv, object, n);
}

bool fp_history_answer(const struct fp_history *h, const char *res, struct rco_buf *out)
{
    const struct shown *s = rco_map_get(&h->all, res);
    struct rco_json_writer w;
    size_t it = 0;
    const char *key;
    void *v;

    if (!s || !*s->kind)
        return false;
    rco_json_writer_init(&w, out);
    rco_json_begin_object(&w);
    rco_json_kv_string(&w, "kind", s->kind);
    rco_json_kv_string(&w, "apiVersion", s->version);
    rco_json_kv_object(&w, "metadata");
    rco_json_kv_string(&w, "resourceVersion", s->rv);
    rco_json_end_object(&w);
    rco_json_kv_array(&w, "items");
    while (rco_map_next(&s->objects, &it, &key, &v))
        rco_json_raw(&w, ((const struct version *)v)->text, strlen(((struct version *)v)->text));
    rco_json_end_array(&w);
    rco_json_end_object(&w);
    return true;
}

const char *fp_history_rv(const struct fp_history *h, const char *res, const char *key)
{
    const struct shown *s = rco_map_get(&h->all, res);
    const struct version *v = s ? rco_map_get(&s->objects, key) : NULL;

    return v ? v->rv : "";
}
