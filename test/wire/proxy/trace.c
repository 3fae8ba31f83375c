#include "trace.h"

#include "json/writer.h"

static void write_target(struct rco_json_writer *w, const struct fp_entry *e)
{
    const struct fp_target *t = e->target;

    rco_json_kv_string(w, "verb", fp_verb_name(t->verb));
    rco_json_kv_string_opt(w, "res", t->res);
    rco_json_kv_string_opt(w, "sub", t->sub);
    rco_json_kv_string_opt(w, "ns", t->ns);
    rco_json_kv_string_opt(w, "name", e->name ? e->name : t->name);
}

void fp_trace(struct fp_proxy *p, const struct fp_entry *e)
{
    rco_autobuf line = RCO_BUF_INIT;
    struct rco_json_writer w;

    rco_json_writer_init(&w, &line);
    rco_json_begin_object(&w);
    rco_json_kv_int(&w, "ms", fp_now_ms() - p->began_ms);
    rco_json_kv_string(&w, "what", e->what);
    if (e->target)
        write_target(&w, e);
    rco_json_kv_string_opt(&w, "type", e->type);
    if (e->status)
        rco_json_kv_int(&w, "status", e->status);
    rco_json_kv_string_opt(&w, "rvBefore", e->rv_before);
    rco_json_kv_string_opt(&w, "rvAfter", e->rv_after);
    rco_json_kv_string_opt(&w, "uid", e->uid);
    if (e->k)
        rco_json_kv_int(&w, "k", (int64_t)e->k);
    rco_json_kv_string_opt(&w, "fault", e->fault);
    rco_json_kv_string_opt(&w, "text", e->text);
    rco_json_end_object(&w);
    fprintf(p->trace, "%s\n", rco_buf_str(&line));
    fflush(p->trace);
}
