/* Watches: from where, what they show, bookmarks, streaming lists, how they end. */
#include "check.h"

#include <string.h>

#define STREAMING                                                                                  \
    "watch=true&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan"

static struct stream *watch(struct bed *b, const char *plural, const char *query)
{
    return bed_watch(b, bed_text(b, "%s?%s", at(b, plural, NULL), query));
}

static struct stream *watch_from(struct bed *b, const char *rv, const char *more)
{
    return watch(b, "configmaps", bed_text(b, "watch=true&resourceVersion=%s%s", rv, more));
}

static const char *now(struct bed *b)
{
    struct reply r = bed_do(b, "GET", at(b, "configmaps", NULL), NULL);

    return rv_of(&r);
}

static struct reply touch(struct bed *b, const char *name, const char *patch)
{
    struct reply r = bed_do(b, "PATCH", at(b, "configmaps", name), patch);

    check_code(b, "patch", &r, 200);
    return r;
}

/* The next event is TYPE of NAME; returns it. */
static struct event next(struct bed *b, struct stream *s, const char *type, const char *name)
{
    struct event e = bed_next(s, BED_PATIENCE);

    check_event(b, bed_text(b, "event %s of %s", type, name), &e, type, name);
    return e;
}

static void life(struct bed *b)
{
    struct stream *s = watch_from(b, now(b), "");
    struct reply made = make_configmap(b, "a", "", ",\"data\":{\"k\":\"v\"}"), changed;
    struct event e = next(b, s, "ADDED", "a");

    check_str(b, "version of the creation", rv_of(&made), e.rv);
    check_str(b, "kind in the event", "ConfigMap", sim_tree_str(e.object, "kind"));
    check_str(b, "apiVersion in the event", "v1", sim_tree_str(e.object, "apiVersion"));
    changed = touch(b, "a", "{\"data\":{\"k\":\"w\"}}");
    e = next(b, s, "MODIFIED", "a");
    check_str(b, "version of the change", rv_of(&changed), e.rv);
    check_str(b, "its state", "w", sim_tree_str(e.object, "data|k"));
    bed_do(b, "DELETE", at(b, "configmaps", "a"), NULL);
    e = next(b, s, "DELETED", "a");
    check_str(b, "its last state", "w", sim_tree_str(e.object, "data|k"));
    check(b, "the version of the removal is a new one",
          strtoll(rco_str_or_empty(e.rv), NULL, 10) > strtoll(rv_of(&changed), NULL, 10));
    bed_close(s);
}

static void history(struct bed *b)
{
    const char *rv = now(b);
    struct reply made = make_configmap(b, "a", "", "");
    struct stream *s;

    touch(b, "a", "{\"data\":{\"k\":\"1\"}}");
    touch(b, "a", "{\"data\":{\"k\":\"2\"}}");
    bed_do(b, "DELETE", at(b, "configmaps", "a"), NULL);
    make_configmap(b, "a", "", "");
    s = watch_from(b, rv, "");
    next(b, s, "ADDED", "a");
    next(b, s, "MODIFIED", "a");
    next(b, s, "MODIFIED", "a");
    next(b, s, "DELETED", "a");
    next(b, s, "ADDED", "a");
    bed_close(s);
    s = watch_from(b, rv_of(&made), "");
    next(b, s, "MODIFIED", "a");
    bed_close(s);
}

static void finalized(struct bed *b)
{
    struct reply marked;
    struct stream *s;
    struct event e;

    make_configmap(b, "a", ",\"finalizers\":[\"a.example.com/x\"]", "");
    s = watch_from(b, now(b), "");
    marked = bed_do(b, "DELETE", at(b, "configmaps", "a"), NULL);
    e = next(b, s, "MODIFIED", "a");
    check_str(b, "version of the mark", rv_of(&marked), e.rv);
    check(b, "it is marked", sim_tree_str(e.object, "metadata|deletionTimestamp") != NULL);
    touch(b, "a", "{\"metadata\":{\"finalizers\":null}}");
    e = next(b, s, "DELETED", "a");
    check(b, "the version of the removal is a new one",
          strtoll(rco_str_or_empty(e.rv), NULL, 10) > strtoll(rv_of(&marked), NULL, 10));
    bed_close(s);
}

static void unchanged(struct bed *b)
{
    struct stream *s;

    make_configmap(b, "a", "", ",\"data\":{\"k\":\"v\"}");
    s = watch_from(b, now(b), "");
    touch(b, "a", "{\"data\":{\"k\":\"v\"}}");
    make_configmap(b, "b", "", "");
    next(b, s, "ADDED", "b");
    bed_close(s);
}

static void with_labels(struct bed *b)
{
    struct reply changed;
    struct stream *s;
    struct event e;

    make_configmap(b, "a", ",\"labels\":{\"in\":\"no\"}", "");
    s = watch_from(b, now(b), "&labelSelector=in%3Dyes");
    touch(b, "a", "{\"metadata\":{\"labels\":{\"in\":\"yes\"}}}");
    next(b, s, "ADDED", "a");
    touch(b, "a", "{\"data\":{\"k\":\"v\"}}");
    next(b, s, "MODIFIED", "a");
    changed = touch(b, "a", "{\"metadata\":{\"labels\":{\"in\":\"no\"}}}");
    e = next(b, s, "DELETED", "a");
    check_str(b, "the version is that of the change", rv_of(&changed), e.rv);
    check_str(b, "the state is that before", "yes", sim_tree_str(e.object, "metadata|labels|in"));
    bed_do(b, "DELETE", at(b, "configmaps", "a"), NULL);
    make_configmap(b, "b", ",\"labels\":{\"in\":\"yes\"}", "");
    next(b, s, "ADDED", "b");
    bed_close(s);
}

static void with_field(struct bed *b)
{
    struct stream *s = watch_from(b, now(b), "&fieldSelector=metadata.name%3Db");

    make_configmap(b, "a", "", "");
    make_configmap(b, "b", "", "");
    next(b, s, "ADDED", "b");
    bed_close(s);
}

static void other_namespace(struct bed *b)
{
    const char *ns = another_namespace(b, "b");
    struct stream *s = watch_from(b, now(b), "");

    bed_do(b, "POST", at_in(b, ns, "configmaps", NULL), "{\"metadata\":{\"name\":\"theirs\"}}");
    make_configmap(b, "mine", "", "");
    next(b, s, "ADDED", "mine");
    bed_close(s);
}

static void unset(struct bed *b)
{
    struct stream *s;

    make_configmap(b, "a", "", "");
    make_configmap(b, "b", "", "");
    s = watch(b, "configmaps", "watch=true");
    next(b, s, "ADDED", "a");
    next(b, s, "ADDED", "b");
    make_configmap(b, "c", "", "");
    next(b, s, "ADDED", "c");
    bed_close(s);
}

static void expired(struct bed *b)
{
    struct stream *s;
    struct event e;
    bool clean;

    make_environment(b, "dev");
    b->ops->compact(b);
    s = watch(b, "environments", "watch=true&resourceVersion=1");
    check_int(b, "HTTP status", 200, bed_stream_status(s));
    e = bed_next(s, BED_PATIENCE);
    check_str(b, "type", "ERROR", e.type);
    check_str(b, "kind", "Status", sim_tree_str(e.object, "kind"));
    check_int(b, "code", 410, sim_tree_int(e.object, "code", 0));
    check_str(b, "reason", "Expired", sim_tree_str(e.object, "reason"));
    check_str(b, "message", "too old resource version: 1 (*", sim_tree_str(e.object, "message"));
    check(b, "then it ends", bed_ended(s, BED_PATIENCE, &clean) && clean);
    bed_close(s);
}

static void times_out(struct bed *b)
{
    rco_mono began = rco_loop_now(b->loop);
    struct stream *s = watch_from(b, now(b), "&timeoutSeconds=2");
    bool clean = false;

    check(b, "it ends", bed_ended(s, BED_PATIENCE, &clean));
    check(b, "in good order", clean);
    check(b, "after its time", rco_loop_now(b->loop) - began >= 1900 * BED_MS);
    check(b, "and not much later", rco_loop_now(b->loop) - began < 6 * BED_S);
    bed_close(s);
}

static size_t members(const struct rco_value *v)
{
    return v ? v->len : 0;
}

static void bookmarks(struct bed *b)
{
    struct reply made = make_configmap(b, "a", "", "");
    const char *ns = another_namespace(b, "b");
    struct stream *s = watch_from(b, rv_of(&made), "&allowWatchBookmarks=true&timeoutSeconds=5");
    struct event e;

    bed_sleep(b, 200 * BED_MS);
    bed_do(b, "POST", at_in(b, ns, "configmaps", NULL), "{\"metadata\":{\"name\":\"other\"}}");
    e = bed_next(s, BED_PATIENCE);

    check_str(b, "it comes before the end of the watch", "BOOKMARK", e.type);
    check_str(b, "kind", "ConfigMap", sim_tree_str(e.object, "kind"));
    check_str(b, "apiVersion", "v1", sim_tree_str(e.object, "apiVersion"));
    check(b, "its version is newer than what was asked",
          strtoll(rco_str_or_empty(e.rv), NULL, 10) > strtoll(rv_of(&made), NULL, 10));
    check_int(b, "members of the object", 3, (int64_t)members(e.object));
    check_int(b, "members of its metadata", 1,
              (int64_t)members(sim_tree_get(e.object, "metadata")));
    bed_close(s);
}

/* The storage's version may move by anything; a bookmark that is not newer says nothing. */
static void no_news(struct bed *b)
{
    struct reply made = make_configmap(b, "a", "", "");
    struct stream *s = watch_from(b, rv_of(&made), "&allowWatchBookmarks=true&timeoutSeconds=4");
    struct event e = bed_next(s, BED_PATIENCE);

    check(b, "nothing, or a newer version",
          !e.type || (strcmp(e.type, "BOOKMARK") == 0 &&
                      strtoll(e.rv, NULL, 10) > strtoll(rv_of(&made), NULL, 10)));
    bed_close(s);
}

static void no_bookmarks(struct bed *b)
{
    struct reply made = make_configmap(b, "a", "", "");
    struct stream *s = watch_from(b, rv_of(&made), "&timeoutSeconds=4");
    struct event e = bed_next(s, BED_PATIENCE);

    check_str(b, "none is sent unasked", NULL, e.type);
    bed_close(s);
}

static void streaming(struct bed *b)
{
    struct reply last;
    struct stream *s;
    struct event e;

    make_configmap(b, "b", "", "");
    last = make_configmap(b, "a", "", "");
    s = watch(b, "configmaps", STREAMING);
    check_int(b, "HTTP status", 200, bed_stream_status(s));
    next(b, s, "ADDED", "a");
    next(b, s, "ADDED", "b");
    e = bed_next(s, BED_PATIENCE);
    check_str(b, "end mark", "BOOKMARK", e.type);
    check_str(b, "its annotation", "true",
              sim_tree_str(e.object, "metadata|annotations|k8s.io/initial-events-end"));
    check(b, "its version covers what was there",
          strtoll(rco_str_or_empty(e.rv), NULL, 10) >= strtoll(rv_of(&last), NULL, 10));
    make_configmap(b, "c", "", "");
    next(b, s, "ADDED", "c");
    bed_close(s);
}

static void streaming_empty(struct bed *b)
{
    struct stream *s = watch(b, "configmaps", STREAMING "&labelSelector=none%3Dsuch");
    struct event e = bed_next(s, BED_PATIENCE);

    check_str(b, "end mark", "BOOKMARK", e.type);
    check_str(b, "its annotation", "true",
              sim_tree_str(e.object, "metadata|annotations|k8s.io/initial-events-end"));
    bed_close(s);
}

static void streaming_refused(struct bed *b)
{
    struct reply r = bed_do(b, "GET",
                            bed_text(b, "%s?watch=true&sendInitialEvents=true&timeoutSeconds=1",
                                     at(b, "configmaps", NULL)),
                            NULL);

    check_refusal(b, "without a match", &r, 422, "Invalid",
                  "ListOptions.meta.k8s.io \"\" is invalid: resourceVersionMatch: Forbidden: "
                  "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
}

static void streaming_future(struct bed *b)
{
    struct stream *s = watch(b, "configmaps", STREAMING "&resourceVersion=99999999");
    struct event e = bed_next(s, BED_PATIENCE);

    check_str(b, "type", "ERROR", e.type);
    check_int(b, "code", 504, sim_tree_int(e.object, "code", 0));
    check_str(b, "reason", "Timeout", sim_tree_str(e.object, "reason"));
    check_str(b, "message", "Timeout: Too large resource version: 99999999, current: *",
              sim_tree_str(e.object, "message"));
    bed_close(s);
}

static void bad_version(struct bed *b)
{
    struct stream *s = watch_from(b, "abc", "&timeoutSeconds=1");

    check_int(b, "HTTP status", 500, bed_stream_status(s));
    bed_close(s);
}

static void of_ours(struct bed *b)
{
    struct reply first = bed_do(b, "GET", at(b, "environments", NULL), NULL), r;
    struct stream *s =
        watch(b, "environments", bed_text(b, "watch=true&resourceVersion=%s", rv_of(&first)));
    struct event e;

    make_environment(b, "dev");
    next(b, s, "ADDED", "dev");
    r = bed_do(b, "PATCH", at(b, "environments", "dev/status"),
               "{\"status\":{\"observedGeneration\":1}}");
    e = next(b, s, "MODIFIED", "dev");
    check_str(b, "version of a status write", rv_of(&r), e.rv);
    check_str(b, "kind", "Environment", sim_tree_str(e.object, "kind"));
    bed_close(s);
}

const struct contract_case watch_cases[] = {
    {"creation, change and removal, each with its version", life},
    {"a watch shows the history since its version", history},
    {"what a finalizer held is removed with a new version", finalized},
    {"what changes nothing is no event", unchanged},
    {"what leaves a selection is DELETED, what enters is ADDED", with_labels},
    {"a field selector of a watch", with_field},
    {"a watch shows its namespace alone", other_namespace},
    {"a watch from no version begins with what there is", unset},
    {"a forgotten version is an ERROR 410 inside a 200", expired},
    {"a watch ends in good order at its time", times_out},
    {"bookmarks have kind and version alone", bookmarks},
    {"bookmarks are never old news", no_news},
    {"no bookmarks are sent unasked", no_bookmarks},
    {"a streaming list ends with a mark, and goes on", streaming},
    {"an empty streaming list has its mark", streaming_empty},
    {"a streaming list without a match is 422", streaming_refused},
    {"a streaming list of the future is an ERROR 504", streaming_future},
    {"a watch from a version that is none is 500", bad_version},
    {"watches of ours show writes of the status", of_ours},
    {0}};
