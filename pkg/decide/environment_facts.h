/* What an Environment's decision knows, and the rows of its table by the file that holds them. */
#ifndef RCO_DECIDE_ENVIRONMENT_FACTS_H
#define RCO_DECIDE_ENVIRONMENT_FACTS_H

#include "api/names.h"
#include "api/zz_generated_types.h"
#include "decide/conditions.h"
#include "decide/environment.h"
#include "plan/plan.h"

struct rco_env_ctx {
    const struct rco_env_observed *o;
    const struct rco_env *env;
    const struct rco_meta *meta;
    struct rco_plan *plan;
    struct rco_env_status next;
    struct rco_conditions conditions;
    const char *tenant;     /* of the namespace; NULL: none */
    const char *claim_name; /* NULL: the state is elsewhere */
    char claim_text[RCO_NAME_SIZE];
    char pass_name[RCO_NAME_SIZE], hmac_name[RCO_NAME_SIZE]; /* the next to try */
    int pass_next, hmac_next;                                /* its counter */
    bool needs_pass;
};

/* Class production, or one that this version does not know. */
bool rco_env_is_production(const struct rco_env_ctx *c);
/* The state is on a claim that the operator makes. */
bool rco_env_has_own_claim(const struct rco_env_ctx *c);
/* Fills NAME with the Secret that was made and not yet recorded, else with the one after the last
 * that was found taken; returns its counter. */
int rco_env_next_secret(const struct rco_env_ctx *c, void (*name_of)(const char *, int, char *),
                        char *name);

/* Writes the status when it differs, and an Event when the meaning of Ready changed. */
void rco_env_commit(struct rco_env_ctx *c);
/* Commits with Stalled: a person has to do something. */
void rco_env_stall(struct rco_env_ctx *c, const char *reason, const char *message);
/* Commits with Ready=False, Reconciling: it goes on by itself. */
void rco_env_wait_for(struct rco_env_ctx *c, const char *reason, const char *message);

/* One guard and one action of a row. Both take a struct rco_env_ctx. */
#define RCO_ENV_ROW(NAME)                                                                          \
    bool rco_env_is_##NAME(const void *p);                                                         \
    void rco_env_do_##NAME(void *p)

/* environment_checks.c: deletion, finalizer, inputs that are refused */
RCO_ENV_ROW(deletion_blocked);
RCO_ENV_ROW(deletion_released);
RCO_ENV_ROW(no_finalizer);
RCO_ENV_ROW(tenant_none);
RCO_ENV_ROW(tenant_other);
RCO_ENV_ROW(backend_file);
RCO_ENV_ROW(without_url);
RCO_ENV_ROW(without_passphrase);
RCO_ENV_ROW(duration_invalid);

/* environment_state.c: claim and Secrets */
RCO_ENV_ROW(record);
RCO_ENV_ROW(claim_missing);
RCO_ENV_ROW(state_lost);
RCO_ENV_ROW(state_found);
RCO_ENV_ROW(secrets_taken);
RCO_ENV_ROW(create_refused);
RCO_ENV_ROW(make);

#undef RCO_ENV_ROW

#endif
