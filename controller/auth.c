#include "auth.h"

#include "api/zz_generated_types.h"
#include "base/map.h"
#include "base/sha256.h"
#include "json/writer.h"

#include <string.h>

struct cached {
    struct rco_identity who; /* strings in one block behind */
    char *text;
    rco_mono until;
};

struct rco_auth {
    struct rco_loop *loop;
    struct rco_kube_client *client;
    struct rco_map cache; /* hex digest of the token -> struct cached */
    struct review *reviews; /* under way */
};

struct review {
    struct rco_auth *auth;
    char digest[RCO_SHA256_HEX];
    rco_auth_done done;
    void *ctx;
    struct rco_kube_call *call;
    struct review *next, **prev;
};

/* The two entries of user.extra that name the pod of a bound token. */
struct pod_extra {
    const char **names;
    size_t n_names;
    const char **uids;
    size_t n_uids;
};

static const struct rco_field pod_extra_fields[] = {
    {.name = "authentication.kubernetes.io/pod-name",
     .name_len = sizeof "authentication.kubernetes.io/pod-name" - 1,
     .type = RCO_FIELD_LIST_STRING,
     .offset = offsetof(struct pod_extra, names),
     .aux_offset = offsetof(struct pod_extra, n_names),
     .max = 16},
    {.name = "authentication.kubernetes.io/pod-uid",
     .name_len = sizeof "authentication.kubernetes.io/pod-uid" - 1,
     .type = RCO_FIELD_LIST_STRING,
     .offset = offsetof(struct pod_extra, uids),
     .aux_offset = offsetof(struct pod_extra, n_uids),
     .max = 16},
};
static const struct rco_schema pod_extra_schema = {"user.extra", sizeof(struct pod_extra),
                                                   pod_extra_fields,
                                                   RCO_ARRAY_LEN(pod_extra_fields)};

struct rco_auth *rco_auth_new(struct rco_loop *loop, struct rco_kube_client *client)
{
    struct rco_auth *auth = rco_calloc(1, sizeof *auth);

    auth->loop = loop;
    auth->client = client;
    return auth;
}

static void free_cached(struct cached *c)
{
    free(c->text);
    free(c);
}

static void forget_all(struct rco_auth *auth)
{
    size_t it = 0;
    void *value;

    while (rco_map_next(&auth->cache, &it, NULL, &value))
        free_cached(value);
    rco_map_release(&auth->cache);
}

static void free_review(struct review *r)
{
    *r->prev = r->next;
    if (r->next)
        r->next->prev = r->prev;
    free(r);
}

void rco_auth_free(struct rco_auth *auth)
{
    if (!auth)
        return;
    while (auth->reviews) {
        rco_kube_cancel(auth->reviews->call);
        free_review(auth->reviews);
    }
    forget_all(auth);
    free(auth);
}

/* Copies WHO; full means start over, which costs one review a token. */
static void remember(struct rco_auth *auth, const char *digest, const struct rco_identity *who)
{
    struct cached *c = rco_calloc(1, sizeof *c), *old;
    rco_autobuf text = RCO_BUF_INIT;
    const char *parts[] = {who->ns, who->service_account, who->pod_name, who->pod_uid};
    const char **fields[] = {&c->who.ns, &c->who.service_account, &c->who.pod_name,
                             &c->who.pod_uid};
    size_t at[RCO_ARRAY_LEN(parts)];

    if (auth->cache.n >= RCO_AUTH_CACHE_MAX)
        forget_all(auth);
    for (size_t i = 0; i < RCO_ARRAY_LEN(parts); i++) {
        at[i] = text.len;
        rco_buf_add(&text, parts[i], strlen(parts[i]) + 1);
    }
    c->text = rco_buf_take(&text);
    for (size_t i = 0; i < RCO_ARRAY_LEN(parts); i++)
        *fields[i] = c->text + at[i];
    c->until = rco_loop_now(auth->loop) + RCO_AUTH_CACHE_NS;
    old = rco_map_set(&auth->cache, digest, c);
    if (old)
        free_cached(old);
}

/* "system:serviceaccount:<ns>:<name>" */
static bool parse_username(const char *username, struct rco_arena *a, struct rco_identity *who)
{
    static const char prefix[] = "system:serviceaccount:";
    const char *ns, *colon;

    if (!rco_str_has_prefix(username, prefix))
        return false;
    ns = username + sizeof prefix - 1;
    colon = strchr(ns, ':');
    if (!colon || colon == ns || !colon[1])
        return false;
    who->ns = rco_arena_strndup(a, ns, (size_t)(colon - ns));
    who->service_account = rco_arena_strdup(a, colon + 1);
    return true;
}

/* NULL when STATUS proves an identity, else why not. */
static const char *identify(const struct rco_tokenreview *review, struct rco_arena *a,
                            struct rco_identity *who)
{
    const struct rco_tokenreview_status *s = &review->status;
    struct pod_extra extra;
    struct rco_error err = RCO_ERROR_INIT;
    bool audience = false;

    if (!s->authenticated)
        return "the token is not valid";
    for (size_t i = 0; i < s->n_audiences; i++)
        audience |= rco_streq(s->audiences[i], RCO_GATEWAY_AUDIENCE);
    if (!audience)
        return "the token is not for the audience " RCO_GATEWAY_AUDIENCE;
    if (!parse_username(s->user.username, a, who))
        return "the token is not a service account's";
    if (!s->user.extra || rco_codec_decode(&pod_extra_schema, s->user.extra, strlen(s->user.extra),
                                           a, &extra, &err) < 0)
        return "the token is not bound to a pod";
    if (extra.n_names != 1 || extra.n_uids != 1)
        return "the token is not bound to a pod";
    who->pod_name = extra.names[0];
    who->pod_uid = extra.uids[0];
    return NULL;
}

static void on_review(void *ctx, const struct rco_kube_result *result, const struct rco_error *err)
{
    struct review *r = ctx;
    rco_autoarena a = RCO_ARENA_INIT;
    struct rco_error decode_err = RCO_ERROR_INIT;
    struct rco_identity who = {0};
    const char *why;
    void *obj = NULL;

    if (err)
        r->done(r->ctx, NULL, 503, "the API server could not review the token; ask again");
    else if (rco_kube_result_decode(result, RCO_KIND_TOKENREVIEW, &a, &obj, &decode_err) < 0)
        r->done(r->ctx, NULL, 503, "the API server's review makes no sense; ask again");
    else if ((why = identify(obj, &a, &who)))
        r->done(r->ctx, NULL, 401, why);
    else {
        remember(r->auth, r->digest, &who);
        r->done(r->ctx, &who, 200, "");
    }
    free_review(r);
}

static void start_review(struct rco_auth *auth, const char *token, const char *digest,
                         rco_auth_done done, void *ctx)
{
    struct review *r = rco_calloc(1, sizeof *r);
    const char *audiences[] = {RCO_GATEWAY_AUDIENCE};
    struct rco_tokenreview review = {
        .spec = {.token = token, .audiences = audiences, .n_audiences = 1},
        .has_spec = true,
    };
    rco_autobuf body = RCO_BUF_INIT;

    r->auth = auth;
    r->done = done;
    r->ctx = ctx;
    memcpy(r->digest, digest, sizeof r->digest);
    r->next = auth->reviews;
    r->prev = &auth->reviews;
    if (r->next)
        r->next->prev = &r->next;
    auth->reviews = r;
    rco_kind_encode(RCO_KIND_TOKENREVIEW, &review, &body);
    r->call = rco_kube_start(auth->client,
                   &(struct rco_kube_request){.verb = RCO_KUBE_RAW_POST,
                                              .path = "/apis/authentication.k8s.io/v1/tokenreviews",
                                              .body = body.data,
                                              .body_len = body.len,
                                              .deadline_ns = 10 * RCO_NS_PER_S},
                   on_review, r);
}

void rco_auth_check(struct rco_auth *auth, const char *authorization, rco_auth_done done, void *ctx)
{
    static const char prefix[] = "Bearer ";
    char digest[RCO_SHA256_HEX];
    const char *token;
    struct cached *c;

    if (!rco_str_has_prefix(authorization, prefix)) {
        done(ctx, NULL, 401, "no bearer token");
        return;
    }
    token = authorization + sizeof prefix - 1;
    if (strlen(token) > RCO_AUTH_TOKEN_MAX) {
        done(ctx, NULL, 401, "the token is too long");
        return;
    }
    rco_sha256_hex(token, strlen(token), digest);
    c = rco_map_get(&auth->cache, digest);
    if (c && c->until > rco_loop_now(auth->loop)) {
        done(ctx, &c->who, 200, "");
        return;
    }
    start_review(auth, token, digest, done, ctx);
}
