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
    rco_mono paid; /* until when the requests so far have used up their pace */
};

struct rco_auth {
    struct rco_loop *loop;
    struct rco_kube_client *client;
    struct rco_map cache;   /* hex digest of the token -> struct cached */
    struct review *reviews; /* under way */
    struct review *waiting,
        **waiting_tail; /* for their turn, oldest first; only `next` links them */
    unsigned n_reviews, n_waiting;
};

struct review {
    struct rco_auth *auth;
    char digest[RCO_SHA256_HEX];
    char *token; /* while it waits */
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
static const struct rco_schema pod_extra_schema = {
    "user.extra", sizeof(struct pod_extra), pod_extra_fields, RCO_ARRAY_LEN(pod_extra_fields)};

struct rco_auth *rco_auth_new(struct rco_loop *loop, struct rco_kube_client *client)
{
    struct rco_auth *auth = rco_calloc(1, sizeof *auth);

    auth->loop = loop;
    auth->client = client;
    auth->waiting_tail = &auth->waiting;
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
    r->auth->n_reviews--;
    free(r);
}

/* Tokens are not left in freed memory. */
static void free_token(struct review *r)
{
    if (r->token)
        explicit_bzero(r->token, strlen(r->token));
    free(r->token);
    r->token = NULL;
}

/* The oldest that waits, taken out; NULL: none. */
static struct review *take_waiting(struct rco_auth *auth)
{
    struct review *r = auth->waiting;

    if (!r)
        return NULL;
    auth->waiting = r->next;
    if (!auth->waiting)
        auth->waiting_tail = &auth->waiting;
    auth->n_waiting--;
    r->next = NULL;
    return r;
}

void rco_auth_free(struct rco_auth *auth)
{
    if (!auth)
        return;
    while (auth->reviews) {
        rco_kube_cancel(auth->reviews->call);
        free_review(auth->reviews);
    }
    for (struct review *r; (r = take_waiting(auth));) {
        free_token(r);
        free(r);
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

static void start_waiting(struct rco_auth *auth);

static void on_review(void *ctx, const struct rco_kube_result *result, const struct rco_error *err)
{
    struct review *r = ctx;
    struct rco_auth *auth = r->auth;
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
    start_waiting(auth);
}

static void start_review(struct review *r)
{
    struct rco_auth *auth = r->auth;
    const char *audiences[] = {RCO_GATEWAY_AUDIENCE};
    struct rco_tokenreview review = {
        .spec = {.token = r->token, .audiences = audiences, .n_audiences = 1},
        .has_spec = true,
    };
    rco_autobuf body = RCO_BUF_INIT;

    r->next = auth->reviews;
    r->prev = &auth->reviews;
    if (r->next)
        r->next->prev = &r->next;
    auth->reviews = r;
    auth->n_reviews++;
    rco_kind_encode(RCO_KIND_TOKENREVIEW, &review, &body);
    free_token(r);
    r->call = rco_kube_start(
        auth->client,
        &(struct rco_kube_request){.verb = RCO_KUBE_RAW_POST,
                                   .path = "/apis/authentication.k8s.io/v1/tokenreviews",
                                   .body = body.data,
                                   .body_len = body.len,
                                   .deadline_ns = 10 * RCO_NS_PER_S},
        on_review, r);
    explicit_bzero(body.data, body.len);
}

static void start_waiting(struct rco_auth *auth)
{
    struct review *r;

    while (auth->n_reviews < RCO_AUTH_REVIEWS_MAX && (r = take_waiting(auth)))
        start_review(r);
}

/* A JSON Web Token in its compact form: nothing else is worth a question. */
static bool looks_like_a_token(const char *s)
{
    static const char alphabet[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

    for (int part = 0; part < 3; part++) {
        size_t n = strspn(s, alphabet);

        if (n == 0 || s[n] != (part < 2 ? '.' : '\0'))
            return false;
        s += n + 1;
    }
    return true;
}

/* Whether one more request of this token keeps its pace; if so counts it. */
static bool keeps_pace(struct cached *c, rco_mono now)
{
    if (c->paid > now + RCO_AUTH_BURST * RCO_AUTH_PACE_NS)
        return false;
    c->paid = (c->paid > now ? c->paid : now) + RCO_AUTH_PACE_NS;
    return true;
}

/* The token in AUTHORIZATION, or NULL and *RET_WHY. */
static const char *token_in(const char *authorization, const char **ret_why)
{
    static const char prefix[] = "Bearer ";
    const char *token;

    *ret_why = "no bearer token";
    if (!rco_str_has_prefix(authorization, prefix))
        return NULL;
    token = authorization + sizeof prefix - 1;
    *ret_why = "this is no service account token";
    return strlen(token) > RCO_AUTH_TOKEN_MAX || !looks_like_a_token(token) ? NULL : token;
}

static struct cached *find_cached(struct rco_auth *auth, const char *digest)
{
    struct cached *c = rco_map_get(&auth->cache, digest);

    return c && c->until > rco_loop_now(auth->loop) ? c : NULL;
}

const struct rco_identity *rco_auth_known(struct rco_auth *auth, const char *authorization)
{
    char digest[RCO_SHA256_HEX];
    const char *why, *token = token_in(authorization, &why);
    const struct cached *c;

    if (!token)
        return NULL;
    rco_sha256_hex(token, strlen(token), digest);
    c = find_cached(auth, digest);
    return c ? &c->who : NULL;
}

void rco_auth_check(struct rco_auth *auth, const char *authorization, rco_auth_done done, void *ctx)
{
    char digest[RCO_SHA256_HEX];
    const char *why, *token = token_in(authorization, &why);
    struct cached *c;
    struct review *r;

    if (!token) {
        done(ctx, NULL, 401, why);
        return;
    }
    rco_sha256_hex(token, strlen(token), digest);
    c = find_cached(auth, digest);
    if (c) {
        if (keeps_pace(c, rco_loop_now(auth->loop)))
            done(ctx, &c->who, 200, "");
        else
            done(ctx, NULL, 429, "this runner asks too often");
        return;
    }
    if (auth->n_waiting >= RCO_AUTH_WAITING_MAX) {
        done(ctx, NULL, 503, "too many tokens are being reviewed; ask again");
        return;
    }
    r = rco_calloc(1, sizeof *r);
    r->auth = auth;
    r->done = done;
    r->ctx = ctx;
    r->token = rco_strdup(token);
    memcpy(r->digest, digest, sizeof r->digest);
    *auth->waiting_tail = r;
    auth->waiting_tail = &r->next;
    auth->n_waiting++;
    start_waiting(auth);
}
