/* Fills etcd with copies of a real, settled specification and all that belongs to it.
 *
 *   populate URL TEMPLATE NAMES FIRST COUNT specs|rest
 *
 * URL is etcd's. TEMPLATE has one "KEY VALUE" a line, both in base64, as etcd returned them. NAMES
 * has one "what value" a line: the names and uids of the template. Copies FIRST..FIRST+COUNT-1 are
 * written, 100 to a namespace: `specs` writes namespaces, Environments, specifications and runs,
 * `rest` the stack claims, anchors and chunks of artifacts that belong to them.
 *
 * A copy has names, uids and a commit of its own; the hashes that depend on them are computed as
 * the operator computes them, so that it finds nothing to do. */
#include "api/kinds.h"
#include "api/zz_generated_types.h"
#include "base/file.h"
#include "base/sha256.h"
#include "decide/deployment_resolve.h"
#include "json/codec.h"
#include "json/writer.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PER_NAMESPACE 100
#define BATCH_BYTES (900 * 1024) /* etcd takes 1.5 MiB a request */
#define BATCH_OPS 100            /* and 128 operations a transaction */

enum what {
    NAMESPACE,
    ENVIRONMENT_UID,
    SPEC,
    SPEC_UID,
    RUN,
    RUN_UID,
    ANCHOR,
    CLAIM,
    COMMIT,
    COMMIT_12,
    VERSION_HASH,
    INPUTS_HASH,
    N_WORDS
};

static const char *const names[N_WORDS] = {
    "namespace", "environment-uid", "spec",   "spec-uid",  "run",          "run-uid",
    "anchor",    "claim",           "commit", "commit-12", "version-hash", "inputs-hash",
};

struct words {
    char *w[N_WORDS];
};

enum layer { PER_SPEC, PER_NS };
enum part { PART_SPECS, PART_REST };

struct object {
    char *key;
    unsigned char *value;
    size_t n_value;
    enum layer layer;
    enum part part;
};

struct populate {
    const char *url;
    CURL *curl;
    struct words from;
    struct object objects[256];
    size_t n_objects;
    struct rco_buf body;
    struct rco_json_writer w;
    size_t n_ops;
    bool open;
};

static void die(const char *why)
{
    fprintf(stderr, "populate: %s\n", why);
    exit(1);
}

/* --- replacing --- */

/* Copies TEXT with each word of FROM replaced by that of TO; the longest that fits wins. */
static void replace(const struct words *from, const struct words *to, const void *text, size_t n,
                    struct rco_buf *out)
{
    const char *p = text;
    size_t kept = 0;
    char first[N_WORDS];
    size_t n_first = 0;

    for (int k = 0; k < N_WORDS; k++)
        first[n_first++] = from->w[k][0];
    for (size_t i = 0; i < n;) {
        int best = -1;
        size_t length = 0;

        if (!memchr(first, p[i], n_first)) {
            i++;
            continue;
        }
        for (int k = 0; k < N_WORDS; k++) {
            size_t m = strlen(from->w[k]);

            if (m > length && n - i >= m && memcmp(p + i, from->w[k], m) == 0) {
                best = k;
                length = m;
            }
        }
        if (best < 0) {
            i++;
            continue;
        }
        rco_buf_add(out, p + kept, i - kept);
        rco_buf_adds(out, to->w[best]);
        i += length;
        kept = i;
    }
    rco_buf_add(out, p + kept, n - kept);
}

/* --- the template --- */

static bool contains(const struct object *o, const char *word)
{
    return strstr(o->key, word) || memmem(o->value, o->n_value, word, strlen(word));
}

static bool is_wanted(const char *key)
{
    static const char *const not [] = {"/events/", "/tokens/", "/controllerrevisions/"};

    for (size_t i = 0; i < RCO_ARRAY_LEN(not ); i++)
        if (strstr(key, not [i]))
            return false;
    return true;
}

static enum part part_of(const char *key, enum layer layer)
{
    if (layer == PER_NS)
        return PART_SPECS;
    return strstr(key, "/deploymentspecifications/") || strstr(key, "/provisioningruns/")
               ? PART_SPECS
               : PART_REST;
}

static void add_object(struct populate *p, const char *line)
{
    struct object o = {0};
    const char *blank = strchr(line, ' ');
    size_t n;

    if (!blank)
        die("the template has a line without a blank");
    o.key = (char *)rco_base64_decode(line, (size_t)(blank - line), &n);
    o.value = rco_base64_decode(blank + 1, strlen(blank + 1), &o.n_value);
    if (!o.key || !o.value)
        die("the template is not base64");
    if (!contains(&o, p->from.w[NAMESPACE]) || !is_wanted(o.key)) {
        free(o.key);
        free(o.value);
        return;
    }
    o.layer = contains(&o, p->from.w[SPEC]) || contains(&o, p->from.w[SPEC_UID]) ||
                      contains(&o, p->from.w[RUN_UID]) || contains(&o, p->from.w[ANCHOR])
                  ? PER_SPEC
                  : PER_NS;
    o.part = part_of(o.key, o.layer);
    if (p->n_objects == RCO_ARRAY_LEN(p->objects))
        die("the template has too many objects");
    p->objects[p->n_objects++] = o;
}

static void each_line(const char *path, void (*fn)(struct populate *p, const char *line),
                      struct populate *p)
{
    rco_autobuf text = RCO_BUF_INIT;
    struct rco_error err = RCO_ERROR_INIT;
    char *rest, *line;

    if (rco_file_read(path, 256 * 1024 * 1024, &text, &err) < 0)
        die(err.msg);
    for (line = strtok_r(text.data, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
        fn(p, line);
}

static void add_name(struct populate *p, const char *line)
{
    const char *blank = strchr(line, ' ');

    for (int k = 0; k < N_WORDS && blank; k++)
        if (strlen(names[k]) == (size_t)(blank - line) &&
            strncmp(names[k], line, (size_t)(blank - line)) == 0)
            p->from.w[k] = rco_strdup(blank + 1);
}

/* --- etcd --- */

static size_t drop(char *data, size_t size, size_t n, void *ctx)
{
    (void)data;
    (void)ctx;
    return size * n;
}

static void flush(struct populate *p)
{
    char error[CURL_ERROR_SIZE] = "";
    rco_autofree char *url = rco_asprintf("%s/v3/kv/txn", p->url);

    if (!p->open)
        return;
    rco_json_end_array(&p->w);
    rco_json_end_object(&p->w);
    curl_easy_setopt(p->curl, CURLOPT_URL, url);
    curl_easy_setopt(p->curl, CURLOPT_FAILONERROR, 1L);
    curl_easy_setopt(p->curl, CURLOPT_ERRORBUFFER, error);
    curl_easy_setopt(p->curl, CURLOPT_WRITEFUNCTION, drop);
    curl_easy_setopt(p->curl, CURLOPT_POSTFIELDS, p->body.data);
    curl_easy_setopt(p->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)p->body.len);
    if (curl_easy_perform(p->curl) != CURLE_OK)
        die(error);
    rco_buf_clear(&p->body);
    p->open = false;
    p->n_ops = 0;
}

static void put(struct populate *p, const struct rco_buf *key, const struct rco_buf *value)
{
    rco_autofree char *key64 = rco_base64_encode(key->data, key->len);
    rco_autofree char *value64 = rco_base64_encode(value->data, value->len);

    if (p->open && (p->n_ops >= BATCH_OPS || p->body.len + strlen(value64) > BATCH_BYTES))
        flush(p);
    if (!p->open) {
        rco_json_writer_init(&p->w, &p->body);
        rco_json_begin_object(&p->w);
        rco_json_kv_array(&p->w, "success");
        p->open = true;
    }
    rco_json_begin_object(&p->w);
    rco_json_kv_object(&p->w, "requestPut");
    rco_json_kv_string(&p->w, "key", key64);
    rco_json_kv_string(&p->w, "value", value64);
    rco_json_end_object(&p->w);
    rco_json_end_object(&p->w);
    p->n_ops++;
}

/* --- copies --- */

/* A number that looks like none: the same for the same copy and word. */
static uint64_t mix(uint64_t i, uint64_t word)
{
    uint64_t x = (i + 1) * 0x9e3779b97f4a7c15u + word * 0xbf58476d1ce4e5b9u;

    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9u;
    x ^= x >> 27;
    x *= 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static char *make_uid(uint64_t i, int word)
{
    uint64_t a = mix(i, (uint64_t)word), b = mix(i, (uint64_t)word + 100);

    return rco_asprintf("%08x-%04x-4%03x-8%03x-%012llx", (unsigned)(a >> 32),
                        (unsigned)(a >> 16 & 0xffff), (unsigned)(a & 0xfff), (unsigned)(b >> 52),
                        (unsigned long long)(b & 0xffffffffffffull));
}

static char *make_hex(uint64_t i, int word, size_t n)
{
    char *s = rco_malloc(n + 1);

    for (size_t k = 0; k < n; k++)
        s[k] = "0123456789abcdef"[mix(i, (uint64_t)word + 1000 + k / 16) >> (k % 16 * 4) & 15];
    s[n] = '\0';
    return s;
}

static void make_words(const struct words *from, uint64_t i, struct words *to)
{
    size_t tail = strlen(from->w[SPEC]) + 1 + 5; /* behind the uid's digits in a run's name */

    to->w[NAMESPACE] = rco_asprintf("bench-%04llu", (unsigned long long)(i / PER_NAMESPACE));
    to->w[ENVIRONMENT_UID] = make_uid(i / PER_NAMESPACE, ENVIRONMENT_UID);
    to->w[SPEC] = rco_asprintf("web-%05llu", (unsigned long long)i);
    to->w[SPEC_UID] = make_uid(i, SPEC_UID);
    to->w[RUN] = rco_asprintf("%s-%.5s%s", to->w[SPEC], to->w[SPEC_UID], from->w[RUN] + tail);
    to->w[RUN_UID] = make_uid(i, RUN_UID);
    to->w[ANCHOR] = rco_asprintf("rco-%.8s%.4s", to->w[RUN_UID], to->w[RUN_UID] + 9);
    to->w[CLAIM] = make_hex(i, CLAIM, strlen(from->w[CLAIM]));
    to->w[COMMIT] = make_hex(i, COMMIT, 40);
    to->w[COMMIT_12] = rco_strndup(to->w[COMMIT], 12);
    /* Until they are known. */
    to->w[VERSION_HASH] = rco_strdup(from->w[VERSION_HASH]);
    to->w[INPUTS_HASH] = rco_strdup(from->w[INPUTS_HASH]);
}

static void free_words(struct words *w)
{
    for (int k = 0; k < N_WORDS; k++)
        free(w->w[k]);
}

static const struct object *find(const struct populate *p, const char *in_key)
{
    for (size_t i = 0; i < p->n_objects; i++)
        if (strstr(p->objects[i].key, in_key))
            return &p->objects[i];
    die("the template lacks the specification or its run");
    return NULL;
}

static void *decode(const struct populate *p, const struct object *o, enum rco_kind kind,
                    const struct words *to, struct rco_arena *a)
{
    rco_autobuf json = RCO_BUF_INIT;
    struct rco_error err = RCO_ERROR_INIT;
    const struct rco_schema *schema = rco_kind_info(kind)->schema;
    void *obj = rco_arena_alloc(a, schema->size);

    replace(&p->from, to, o->value, o->n_value, &json);
    if (rco_codec_decode(schema, json.data, json.len, a, obj, &err) < 0)
        die(err.msg);
    return obj;
}

static void compute_hashes(const struct populate *p, struct words *to)
{
    rco_autoarena a = RCO_ARENA_INIT;
    const struct rco_depspec *spec =
        decode(p, find(p, "/deploymentspecifications/"), RCO_KIND_DEPSPEC, to, &a);
    const struct rco_run *run = decode(p, find(p, "/provisioningruns/"), RCO_KIND_RUN, to, &a);

    rco_depspec_version_hash(&spec->spec, to->w[VERSION_HASH]);
    rco_resolved_inputs(&run->spec.snapshot, to->w[INPUTS_HASH]);
}

/* The template's own hashes must come out as the operator wrote them: else the copies would not be
 * settled. */
static void check_template(const struct populate *p)
{
    struct words same;

    for (int k = 0; k < N_WORDS; k++) {
        if (!p->from.w[k] || !*p->from.w[k])
            die(names[k]);
        same.w[k] = rco_strdup(p->from.w[k]);
    }
    compute_hashes(p, &same);
    if (strcmp(same.w[VERSION_HASH], p->from.w[VERSION_HASH]) != 0 ||
        strcmp(same.w[INPUTS_HASH], p->from.w[INPUTS_HASH]) != 0)
        die("the hashes of the template are not what the operator wrote");
    free_words(&same);
}

static void write_copy(struct populate *p, uint64_t i, enum part part, bool new_namespace)
{
    struct words to;
    rco_autobuf key = RCO_BUF_INIT, value = RCO_BUF_INIT;

    make_words(&p->from, i, &to);
    compute_hashes(p, &to);
    for (size_t k = 0; k < p->n_objects; k++) {
        const struct object *o = &p->objects[k];

        if (o->part != part || (o->layer == PER_NS && !new_namespace))
            continue;
        rco_buf_clear(&key);
        rco_buf_clear(&value);
        replace(&p->from, &to, o->key, strlen(o->key), &key);
        replace(&p->from, &to, o->value, o->n_value, &value);
        put(p, &key, &value);
    }
    free_words(&to);
}

int main(int argc, char **argv)
{
    struct populate p = {0};
    uint64_t first, count;
    enum part part;

    if (argc != 7)
        die("usage: populate URL TEMPLATE NAMES FIRST COUNT specs|rest");
    p.url = argv[1];
    each_line(argv[3], add_name, &p);
    each_line(argv[2], add_object, &p);
    check_template(&p);
    first = strtoull(argv[4], NULL, 10);
    count = strtoull(argv[5], NULL, 10);
    part = strcmp(argv[6], "specs") == 0 ? PART_SPECS : PART_REST;
    p.curl = curl_easy_init();
    for (uint64_t i = first; i < first + count; i++)
        write_copy(&p, i, part, i == first || i % PER_NAMESPACE == 0);
    flush(&p);
    return 0;
}
