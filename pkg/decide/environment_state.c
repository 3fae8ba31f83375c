/* The state claim and the generated Secrets: made once, recorded by uid, never made anew. */
#include "decide/environment_facts.h"
#include "decide/environment_objects.h"

/* Random Secrets have a counter in their name; a namespace in which five are taken needs a person.
 */
#define SECRETS_MAX 5
#define RETRY_NS (60 * RCO_NS_PER_S)

static const struct rco_outcome *outcome(const struct rco_env_ctx *c, enum rco_kind kind,
                                         const char *name)
{
    return rco_outcome_find(c->o->outcomes, c->o->n_outcomes, kind, name);
}

static bool made(const struct rco_env_ctx *c, enum rco_kind kind, const char *name,
                 const char **ret_uid)
{
    const struct rco_outcome *x = outcome(c, kind, name);
    if (!x || x->type != RCO_OUTCOME_CREATED || rco_str_empty(x->uid))
        return false;
    *ret_uid = x->uid;
    return true;
}

int rco_env_next_secret(const struct rco_env_ctx *c, void (*name_of)(const char *, int, char *),
                        char *name)
{
    int next = 1;
    for (int k = 1; k <= SECRETS_MAX; k++) {
        name_of(c->meta->name, k, name);
        const struct rco_outcome *x = outcome(c, RCO_KIND_SECRET, name);
        if (x && x->type == RCO_OUTCOME_CREATED)
            return k;
        if (x && (x->type == RCO_OUTCOME_EXISTS || x->type == RCO_OUTCOME_FOREIGN))
            next = k + 1;
    }
    name_of(c->meta->name, next, name);
    return next;
}

/* The claim in the cache is the one that this Environment made. */
static bool claim_is_ours(const struct rco_env_ctx *c)
{
    return c->o->claim &&
           rco_streq(rco_meta_annotation(&c->o->claim->metadata, RCO_ANNOTATION_ENVIRONMENT_UID),
                     c->meta->uid);
}

static bool claim_is_recorded(const struct rco_env_ctx *c)
{
    return c->env->status.has_state_claim &&
           rco_streq(c->env->status.state_claim.name, c->claim_name);
}

/* A claim named by a person counts as theirs to replace only while they change the spec. */
static bool may_take_claim(const struct rco_env_ctx *c)
{
    if (!c->claim_name || !c->o->claim || c->o->claim->metadata.deletion)
        return false;
    if (rco_env_has_own_claim(c))
        return claim_is_ours(c) && !claim_is_recorded(c);
    if (!claim_is_recorded(c))
        return true;
    return !rco_streq(c->env->status.state_claim.uid, c->o->claim->metadata.uid) &&
           c->env->status.observed_generation < c->meta->generation;
}

bool rco_env_is_record(const void *p)
{
    const struct rco_env_ctx *c = p;
    const char *uid;
    return may_take_claim(c) ||
           (!c->env->status.has_passphrase && c->needs_pass &&
            made(c, RCO_KIND_SECRET, c->pass_name, &uid)) ||
           (!c->env->status.has_hmac_key && made(c, RCO_KIND_SECRET, c->hmac_name, &uid));
}

static struct rco_object_ref reference(const struct rco_env_ctx *c, const char *name,
                                       const char *uid)
{
    return (struct rco_object_ref){.name = rco_arena_strdup(c->plan->arena, name),
                                   .uid = rco_arena_strdup(c->plan->arena, uid)};
}

void rco_env_do_record(void *p)
{
    struct rco_env_ctx *c = p;
    const char *uid;
    if (may_take_claim(c)) {
        c->next.state_claim = reference(c, c->claim_name, c->o->claim->metadata.uid);
        c->next.has_state_claim = true;
    }
    if (!c->next.has_passphrase && c->needs_pass && made(c, RCO_KIND_SECRET, c->pass_name, &uid)) {
        c->next.passphrase = reference(c, c->pass_name, uid);
        c->next.has_passphrase = true;
    }
    if (!c->next.has_hmac_key && made(c, RCO_KIND_SECRET, c->hmac_name, &uid)) {
        c->next.hmac_key = reference(c, c->hmac_name, uid);
        c->next.has_hmac_key = true;
    }
    rco_conditions_progressing(&c->conditions, "Preparing",
                               "the state claim and the Secrets are being made");
    rco_env_commit(c);
}

bool rco_env_is_claim_missing(const void *p)
{
    const struct rco_env_ctx *c = p;
    return c->claim_name && !rco_env_has_own_claim(c) && !c->o->claim && !claim_is_recorded(c);
}

void rco_env_do_claim_missing(void *p)
{
    struct rco_env_ctx *c = p;
    rco_env_wait_for(
        c, "ReferenceMissing",
        rco_message(c->plan->arena,
                    "PersistentVolumeClaim %s (spec.backend.claimName) does not exist in namespace "
                    "%s; create it and this goes on by itself",
                    c->claim_name, c->meta->ns));
}

bool rco_env_is_state_lost(const void *p)
{
    const struct rco_env_ctx *c = p;
    return c->claim_name && claim_is_recorded(c) &&
           (!c->o->claim || c->o->claim->metadata.deletion ||
            c->o->claim->status.phase == RCO_PVC_PHASE_LOST ||
            !rco_streq(c->o->claim->metadata.uid, c->env->status.state_claim.uid));
}

static const char *what_happened(const struct rco_env_ctx *c)
{
    if (!c->o->claim)
        return "is gone";
    if (c->o->claim->metadata.deletion)
        return "is being deleted";
    return c->o->claim->status.phase == RCO_PVC_PHASE_LOST ? "has lost its volume"
                                                           : "was replaced by another";
}

void rco_env_do_state_lost(void *p)
{
    struct rco_env_ctx *c = p;
    rco_env_stall(
        c, "StateLost",
        rco_message(c->plan->arena,
                    "PersistentVolumeClaim %s with the state of this Environment %s; no new one is "
                    "made, since programs would deploy everything a second time. Restore the state "
                    "onto a claim, then set spec.backend.claimName to it and "
                    "spec.backend.passphraseSecretRef to the Secret with its passphrase",
                    c->claim_name, what_happened(c)));
}

/* The recorded claim says that another Environment made it: the status came from a backup. */
static bool is_restored_onto_it(const struct rco_env_ctx *c)
{
    return c->o->claim && !claim_is_ours(c) &&
           !rco_str_empty(
               rco_meta_annotation(&c->o->claim->metadata, RCO_ANNOTATION_ENVIRONMENT_UID));
}

bool rco_env_is_state_found(const void *p)
{
    const struct rco_env_ctx *c = p;
    if (!c->claim_name || !rco_env_has_own_claim(c))
        return false;
    if (claim_is_recorded(c))
        return is_restored_onto_it(c);
    const struct rco_outcome *x = outcome(c, RCO_KIND_PVC, c->claim_name);
    return (c->o->claim && !claim_is_ours(c)) ||
           (!c->o->claim && x && x->type == RCO_OUTCOME_FOREIGN);
}

void rco_env_do_state_found(void *p)
{
    struct rco_env_ctx *c = p;
    rco_env_stall(
        c, "StateFound",
        rco_message(
            c->plan->arena,
            "PersistentVolumeClaim %s already exists and was not made for this Environment "
            "(an earlier one of this name, before a restore?). To go on with its state set "
            "spec.backend.claimName to %s and spec.backend.passphraseSecretRef to the Secret "
            "with its passphrase; to begin without state delete the claim",
            c->claim_name, c->claim_name));
}

bool rco_env_is_secrets_taken(const void *p)
{
    const struct rco_env_ctx *c = p;
    return (c->needs_pass && !c->env->status.has_passphrase && c->pass_next > SECRETS_MAX) ||
           (!c->env->status.has_hmac_key && c->hmac_next > SECRETS_MAX);
}

void rco_env_do_secrets_taken(void *p)
{
    struct rco_env_ctx *c = p;
    bool pass = c->needs_pass && !c->env->status.has_passphrase && c->pass_next > SECRETS_MAX;
    const char *word = pass ? "pass" : "hmac";
    rco_env_stall(
        c, "SecretsTaken",
        rco_message(c->plan->arena,
                    "Secrets rco-%s-%s-1 to rco-%s-%s-%d all exist and none is known to be this "
                    "Environment's; delete those that no Environment uses%s",
                    c->meta->name, word, c->meta->name, word, SECRETS_MAX,
                    pass ? ", or set spec.backend.passphraseSecretRef" : ""));
    rco_plan_requeue(c->plan, RETRY_NS);
}

static const struct rco_outcome *refused(const struct rco_env_ctx *c)
{
    for (size_t i = 0; i < c->o->n_outcomes; i++)
        if (c->o->outcomes[i].type == RCO_OUTCOME_REFUSED)
            return &c->o->outcomes[i];
    return NULL;
}

bool rco_env_is_create_refused(const void *p)
{
    return refused(p) != NULL;
}

void rco_env_do_create_refused(void *p)
{
    struct rco_env_ctx *c = p;
    const struct rco_outcome *x = refused(c);
    rco_env_stall(c, "CreateRefused",
                  rco_message(c->plan->arena,
                              "%s %s could not be made: %s; it is tried again every minute",
                              rco_kind_info(x->kind)->kind, x->name, rco_str_or_empty(x->message)));
    rco_plan_requeue(c->plan, RETRY_NS);
}

static bool lacks_claim(const struct rco_env_ctx *c)
{
    const struct rco_outcome *x = outcome(c, RCO_KIND_PVC, rco_str_or_empty(c->claim_name));
    /* One that exists and is not seen yet is waited for; the Secrets need not wait with it. */
    return rco_env_has_own_claim(c) && !claim_is_recorded(c) && !c->o->claim &&
           !(x && x->type == RCO_OUTCOME_EXISTS);
}

static bool lacks_pass(const struct rco_env_ctx *c)
{
    return c->needs_pass && !c->env->status.has_passphrase;
}

bool rco_env_is_make(const void *p)
{
    const struct rco_env_ctx *c = p;
    return (rco_env_has_own_claim(c) && !claim_is_recorded(c)) || lacks_pass(c) ||
           !c->env->status.has_hmac_key;
}

/* Whatever is missing, together; each outcome is recorded by the next decision. */
void rco_env_do_make(void *p)
{
    struct rco_env_ctx *c = p;
    size_t half = RCO_ENV_RANDOM_LEN / 2;
    if (lacks_claim(c))
        rco_env_create_claim(c->plan, c->env, c->o->config, c->claim_name);
    if (lacks_pass(c))
        rco_env_create_secret(c->plan, c->env, c->pass_name, "passphrase", c->o->random, half);
    if (!c->env->status.has_hmac_key)
        rco_env_create_secret(c->plan, c->env, c->hmac_name, "key", c->o->random + half, half);
    /* A claim that exists but has not reached the cache yet wakes nobody when it was there before.
     */
    rco_plan_requeue(c->plan, 2 * RCO_NS_PER_S);
}
