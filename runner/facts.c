#include "facts.h"

#include "base/file.h"
#include "base/str.h"
#include "pulumi/value.h"
#include "json/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

static int write_file(struct rco_runner *r, const char *name, const struct rco_buf *text,
                      struct rco_error *err)
{
    return rco_file_write_atomic(rco_runner_path(r, name), text->data, text->len, 0644, err);
}

/* The directory belongs to another container: what stands there is a small regular file, or it is
 * not read (a pipe would block, a link leads into our own mounts). */
static int read_text(const char *path, struct rco_buf *out, struct rco_error *err)
{
    struct stat st;
    char bytes[16384];
    ssize_t n;
    rco_autoclose int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) < 0)
        return rco_error_errno(err, errno, "open");
    if (!S_ISREG(st.st_mode))
        return rco_error_set(err, RCO_EINVALID, "not a regular file");
    while ((n = read(fd, bytes, sizeof(bytes))) > 0)
        if (rco_buf_add_capped(out, bytes, (size_t)n, RCO_FACTS_MAX, err) < 0)
            return -1;
    return n < 0 ? rco_error_errno(err, errno, "read") : 0;
}

static int read_file(struct rco_runner *r, const char *name, const struct rco_value **ret,
                     struct rco_error *err)
{
    rco_autobuf text = RCO_BUF_INIT;
    struct rco_value *v;
    if (read_text(rco_runner_path(r, name), &text, err) < 0 ||
        rco_value_parse(rco_buf_str(&text), text.len, &r->arena, &v, err) < 0)
        return rco_error_wrap(err, "%s", name);
    *ret = v;
    return 0;
}

int rco_fetch_facts_write(struct rco_runner *r, const struct rco_fetch_facts *f,
                          struct rco_error *err)
{
    rco_autobuf text = RCO_BUF_INIT;
    struct rco_json_writer w;
    rco_json_writer_init(&w, &text);
    rco_json_begin_object(&w);
    rco_json_kv_string(&w, "commit", f->commit);
    rco_json_kv_string(&w, "project", f->project);
    rco_json_kv_string(&w, "runtime", f->runtime);
    rco_json_kv_string(&w, "settingsDir", f->settings_dir);
    rco_json_kv_int(&w, "commitTime", f->commit_time);
    rco_json_end_object(&w);
    return write_file(r, "fetch/facts", &text, err);
}

int rco_fetch_facts_read(struct rco_runner *r, struct rco_fetch_facts *ret, struct rco_error *err)
{
    const struct rco_value *v;
    if (read_file(r, "fetch/facts", &v, err) < 0)
        return -1;
    *ret = (struct rco_fetch_facts){.commit = rco_value_text(v, "commit"),
                                    .project = rco_value_text(v, "project"),
                                    .runtime = rco_value_text(v, "runtime"),
                                    .settings_dir = rco_value_text(v, "settingsDir"),
                                    .commit_time = rco_value_int(v, "commitTime", 0)};
    if (!ret->commit || !ret->project || !ret->runtime)
        return rco_error_set(err, RCO_EINVALID, "fetch/facts: something is missing");
    return 0;
}

int rco_install_facts_write(struct rco_runner *r, const struct rco_install_facts *f,
                            struct rco_error *err)
{
    rco_autobuf text = RCO_BUF_INIT;
    struct rco_json_writer w;
    rco_json_writer_init(&w, &text);
    rco_json_begin_object(&w);
    rco_json_kv_string(&w, "workspaceDigest", f->workspace_digest);
    rco_json_kv_int(&w, "files", f->files);
    rco_json_end_object(&w);
    return write_file(r, "install/facts", &text, err);
}

int rco_install_facts_read(struct rco_runner *r, struct rco_install_facts *ret,
                           struct rco_error *err)
{
    const struct rco_value *v;
    if (read_file(r, "install/facts", &v, err) < 0)
        return -1;
    *ret = (struct rco_install_facts){.workspace_digest = rco_value_text(v, "workspaceDigest"),
                                      .files = rco_value_int(v, "files", 0)};
    if (!ret->workspace_digest)
        return rco_error_set(err, RCO_EINVALID, "install/facts: no workspaceDigest");
    return 0;
}

static void write_lists(struct rco_json_writer *w, const struct rco_engine_done *d)
{
    rco_json_kv_array(w, "plugins");
    for (size_t i = 0; i < d->n_plugins; i++) {
        rco_json_begin_object(w);
        rco_json_kv_string(w, "name", d->plugins[i].name);
        rco_json_kv_string(w, "kind", d->plugins[i].kind);
        rco_json_kv_string(w, "version", d->plugins[i].version);
        rco_json_end_object(w);
    }
    rco_json_end_array(w);
    rco_json_kv_object(w, "outputs");
    for (size_t i = 0; i < d->n_outputs; i++)
        rco_json_kv_string(w, d->outputs[i].key, d->outputs[i].value);
    rco_json_end_object(w);
}

int rco_engine_done_write(struct rco_runner *r, const struct rco_engine_done *d,
                          struct rco_error *err)
{
    rco_autobuf text = RCO_BUF_INIT;
    struct rco_json_writer w;
    rco_json_writer_init(&w, &text);
    rco_json_begin_object(&w);
    rco_json_kv_bool(&w, "started", d->started);
    rco_json_kv_bool(&w, "ok", d->ok);
    rco_json_kv_string_opt(&w, "class", rco_failure_class_name(d->class));
    rco_json_kv_string_opt(&w, "message", d->message);
    rco_json_kv_string_opt(&w, "urn", d->urn);
    rco_json_kv_bool(&w, "byStream", d->by_stream);
    rco_json_kv_int(&w, "exitCode", d->exit_code);
    rco_json_kv_int(&w, "signal", d->signal);
    rco_json_kv_bool(&w, "timedOut", d->timed_out);
    rco_json_kv_bool(&w, "cancelled", d->cancelled);
    rco_json_kv_bool(&w, "outputCut", d->output_cut);
    rco_json_kv_bool(&w, "eventsCut", d->events_cut);
    rco_json_kv_string_opt(&w, "engineVersion", d->engine_version);
    rco_json_kv_string_opt(&w, "inputsHash", d->inputs_hash);
    rco_json_kv_string_opt(&w, "baseStateDigest", d->base_state_digest);
    rco_json_kv_string_opt(&w, "stateDigest", d->state_digest);
    rco_json_kv_string_opt(&w, "planFileDigest", d->plan_file_digest);
    rco_json_kv_int(&w, "pendingOperations", d->pending_operations);
    rco_json_kv_bool(&w, "outputsChanged", d->outputs_changed);
    rco_json_kv_int(&w, "startedAt", d->started_at);
    rco_json_kv_int(&w, "finishedAt", d->finished_at);
    write_lists(&w, d);
    rco_json_end_object(&w);
    return write_file(r, "stream/done", &text, err);
}

static void read_lists(struct rco_runner *r, const struct rco_value *v, struct rco_engine_done *ret)
{
    const struct rco_value *plugins = rco_value_get(v, "plugins");
    const struct rco_value *outputs = rco_value_get(v, "outputs");
    if (plugins && plugins->type == RCO_VALUE_ARRAY) {
        ret->plugins = rco_arena_array(&r->arena, plugins->len + 1, sizeof(*ret->plugins));
        for (const struct rco_value *p = plugins->first; p && ret->n_plugins < 32; p = p->next)
            ret->plugins[ret->n_plugins++] =
                (struct rco_plugin){.name = rco_value_text(p, "name"),
                                    .kind = rco_value_text(p, "kind"),
                                    .version = rco_value_text(p, "version")};
    }
    if (outputs && outputs->type == RCO_VALUE_OBJECT) {
        ret->outputs = rco_arena_array(&r->arena, outputs->len + 1, sizeof(*ret->outputs));
        for (const struct rco_value *o = outputs->first; o && ret->n_outputs < 64; o = o->next)
            if (o->type == RCO_VALUE_STRING)
                ret->outputs[ret->n_outputs++] = (struct rco_kv){.key = o->key, .value = o->text};
    }
}

int rco_engine_done_read(struct rco_runner *r, struct rco_engine_done *ret, struct rco_error *err)
{
    const struct rco_value *v;
    if (read_file(r, "stream/done", &v, err) < 0)
        return -1;
    *ret = (struct rco_engine_done){
        .started = rco_value_bool(v, "started"),
        .ok = rco_value_bool(v, "ok"),
        .class = rco_failure_class_parse(rco_value_text(v, "class")),
        .message = rco_value_text(v, "message"),
        .urn = rco_value_text(v, "urn"),
        .by_stream = rco_value_bool(v, "byStream"),
        .exit_code = rco_value_int(v, "exitCode", -1),
        .signal = rco_value_int(v, "signal", 0),
        .timed_out = rco_value_bool(v, "timedOut"),
        .cancelled = rco_value_bool(v, "cancelled"),
        .output_cut = rco_value_bool(v, "outputCut"),
        .events_cut = rco_value_bool(v, "eventsCut"),
        .engine_version = rco_value_text(v, "engineVersion"),
        .inputs_hash = rco_value_text(v, "inputsHash"),
        .base_state_digest = rco_value_text(v, "baseStateDigest"),
        .state_digest = rco_value_text(v, "stateDigest"),
        .plan_file_digest = rco_value_text(v, "planFileDigest"),
        .pending_operations = rco_value_int(v, "pendingOperations", 0),
        .outputs_changed = rco_value_bool(v, "outputsChanged"),
        .started_at = rco_value_int(v, "startedAt", 0),
        .finished_at = rco_value_int(v, "finishedAt", 0),
    };
    read_lists(r, v, ret);
    return 0;
}
