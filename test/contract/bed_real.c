/* A real kube-apiserver, over the product's HTTP client. */
#include "bed.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/sha256.h"
#include "http/client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TOKEN_MAX 8192
#define POLL (2 * BED_MS)

struct real_bed {
    struct bed bed; /* first */
    struct rco_http_client *clients[BED_WHO_COUNT], *etcd;
    struct rco_timer *poll;
    char authorization[TOKEN_MAX + 16];
    /* the wait under way */
    bool (*until)(void *ctx);
    void *until_ctx;
    rco_mono end;
    bool held;
};

static struct real_bed *real_of(struct bed *b)
{
    return (struct real_bed *)b;
}

/* --- time --- */

static void on_poll(void *ctx)
{
    struct real_bed *x = ctx;

    x->held = x->until(x->until_ctx);
    if (x->held || rco_loop_now(x->bed.loop) >= x->end)
        rco_loop_stop(x->bed.loop);
    else
        rco_timer_arm(x->poll, POLL);
}

static bool wait(struct bed *b, int64_t length, bool (*until)(void *ctx), void *ctx)
{
    struct real_bed *x = real_of(b);

    x->until = until;
    x->until_ctx = ctx;
    x->end = rco_clock_mono() + length;
    rco_timer_arm(x->poll, 0);
    rco_loop_run(b->loop);
    return x->held;
}

/* --- what only the environment can do --- */

static bool is_there(const struct reply *r)
{
    return r->status == 200;
}

static void admit_pods(struct bed *b, const char *ns)
{
    bed_poll(b, bed_text(b, "/api/v1/namespaces/%s/serviceaccounts/default", ns), is_there);
}

/* etcd has a gateway that speaks JSON. */
static void compact(struct bed *b)
{
    struct real_bed *x = real_of(b);
    struct rco_transport *saved = b->transports[BED_ADMIN];
    struct reply r;

    b->transports[BED_ADMIN] = rco_http_client_transport(x->etcd);
    r = bed_do(b, "POST", "/v3/kv/range", "{\"key\":\"AA==\"}");
    r = bed_do(b, "POST", "/v3/kv/compaction",
               bed_text(b, "{\"revision\":\"%s\",\"physical\":true}",
                        sim_tree_str(r.json, "header|revision")));
    b->transports[BED_ADMIN] = saved;
    if (r.status != 200)
        fprintf(stderr, "etcd was not compacted: %s\n", r.text);
}

static const char *pod_token(struct bed *b, const char *ns, const char *pod, const char *audience)
{
    struct reply r = bed_do(b, "GET", bed_text(b, "/api/v1/namespaces/%s/pods/%s", ns, pod), NULL);

    r = bed_do(b, "POST", bed_text(b, "/api/v1/namespaces/%s/serviceaccounts/default/token", ns),
               bed_text(b,
                        "{\"apiVersion\":\"authentication.k8s.io/v1\",\"kind\":\"TokenRequest\","
                        "\"spec\":{\"audiences\":[\"%s\"],\"expirationSeconds\":600,"
                        "\"boundObjectRef\":{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"name\":"
                        "\"%s\",\"uid\":\"%s\"}}}",
                        audience, pod, sim_tree_str(r.json, "metadata|uid")));
    return sim_tree_str(r.json, "status|token");
}

/* As the API server writes them, which is its own affair: this server is the one that is known. */
static const char *old_token(struct bed *b, const char *name)
{
    const char *text =
        bed_text(b, "{\"v\":\"meta.k8s.io/v1\",\"rv\":2,\"start\":\"/%s\\u0000\"}", name);
    rco_autofree char *code = rco_base64_encode(text, strlen(text));

    return bed_text(b, "%.*s", (int)strcspn(code, "="), code); /* no letter of it is + or / */
}

static void bind(struct bed *b, const char *ns, const char *pod)
{
    bed_do(b, "POST", "/api/v1/nodes", "{\"metadata\":{\"name\":\"node-1\"}}");
    bed_do(b, "POST", bed_text(b, "/api/v1/namespaces/%s/pods/%s/binding", ns, pod),
           bed_text(b,
                    "{\"apiVersion\":\"v1\",\"kind\":\"Binding\",\"metadata\":{\"name\":\"%s\"},"
                    "\"target\":{\"kind\":\"Node\",\"name\":\"node-1\"}}",
                    pod));
}

static const struct bed_ops ops = {.wait = wait,
                                   .admit_pods = admit_pods,
                                   .compact = compact,
                                   .pod_token = pod_token,
                                   .old_token = old_token,
                                   .bind = bind};

/* --- set up --- */

static const char *authorization(void *ctx)
{
    return ((struct real_bed *)ctx)->authorization;
}

static int read_text(const char *dir, const char *name, char *out, size_t size)
{
    rco_autofree char *path = rco_asprintf("%s/%s", dir, name);
    FILE *f = fopen(path, "re");
    size_t n = f ? fread(out, 1, size - 1, f) : 0;

    if (f)
        fclose(f);
    out[n] = '\0';
    out[strcspn(out, "\n")] = '\0';
    if (n == 0)
        fprintf(stderr, "%s cannot be read\n", path);
    return n ? 0 : -1;
}

static int connect_all(struct real_bed *x, const char *dir, int port)
{
    rco_autofree char *url = rco_asprintf("https://127.0.0.1:%d", port);
    rco_autofree char *etcd = rco_asprintf("http://127.0.0.1:%d", port + 1);
    rco_autofree char *ca = rco_asprintf("%s/pki/ca.crt", dir);
    rco_autofree char *cert = rco_asprintf("%s/pki/admin.crt", dir);
    rco_autofree char *key = rco_asprintf("%s/pki/admin.key", dir);
    struct rco_http_client_options o = {
        .base_url = url, .user_agent = "runtime-cloud-contract-test", .ca_file = ca};
    struct rco_error err = RCO_ERROR_INIT;

    o.authorization = authorization;
    o.ctx = x;
    x->clients[BED_OPERATOR] = rco_http_client_new(x->bed.loop, &o, &err);
    o.authorization = NULL;
    o.cert_file = cert;
    o.key_file = key;
    x->clients[BED_ADMIN] = rco_http_client_new(x->bed.loop, &o, &err);
    x->etcd =
        rco_http_client_new(x->bed.loop,
                            &(struct rco_http_client_options){
                                .base_url = etcd, .user_agent = "runtime-cloud-contract-test"},
                            &err);
    if (x->clients[BED_OPERATOR] && x->clients[BED_ADMIN] && x->etcd)
        return 0;
    fprintf(stderr, "%s\n", err.msg);
    return -1;
}

struct bed *bed_real_new(const char *dir)
{
    struct real_bed *x = rco_calloc(1, sizeof *x);
    char port[16], token[TOKEN_MAX];

    x->bed.ops = &ops;
    x->bed.name = "real";
    x->bed.loop = rco_loop_uv_new();
    x->poll = rco_timer_new(x->bed.loop, on_poll, x);
    if (read_text(dir, "port", port, sizeof port) < 0 ||
        read_text(dir, "token", token, sizeof token) < 0 || connect_all(x, dir, atoi(port)) < 0) {
        bed_real_free(&x->bed);
        return NULL;
    }
    snprintf(x->authorization, sizeof x->authorization, "Bearer %s", token);
    for (int i = 0; i < BED_WHO_COUNT; i++)
        x->bed.transports[i] = rco_http_client_transport(x->clients[i]);
    return &x->bed;
}

void bed_real_free(struct bed *b)
{
    struct real_bed *x = real_of(b);

    for (int i = 0; i < BED_WHO_COUNT; i++)
        rco_http_client_free(x->clients[i]);
    rco_http_client_free(x->etcd);
    rco_timer_free(x->poll);
    rco_loop_uv_free(b->loop);
    rco_arena_release(&b->arena);
    free(x);
}
