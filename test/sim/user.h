/* Conditions and actions that scripts are made of (user.c). */
#ifndef RCO_SIM_USER_H
#define RCO_SIM_USER_H

#include "workload.h"

bool sim_when_always(struct sim *s, const char *arg);
bool sim_when_env_ready(struct sim *s, const char *arg);
bool sim_when_run(struct sim *s, const char *arg);
bool sim_when_settled(struct sim *s, const char *arg);
bool sim_when_all_settled(struct sim *s, const char *arg);
bool sim_when_spec_gone(struct sim *s, const char *arg);
bool sim_when_namespace_gone(struct sim *s, const char *arg);
bool sim_when_later(struct sim *s, const char *arg);

void sim_do_nothing(struct sim *s, const char *arg);
/* ARG: URL of the state backend; NULL = a volume. */
void sim_do_env(struct sim *s, const char *backend);
void sim_do_production_env(struct sim *s, const char *arg);
void sim_do_other_namespace(struct sim *s, const char *backend);
void sim_do_spec_in_other_namespace(struct sim *s, const char *digit);
void sim_do_suspended_spec(struct sim *s, const char *digit);
void sim_do_plant(struct sim *s, const char *arg);
void sim_do_unplant(struct sim *s, const char *arg);
void sim_do_spec(struct sim *s, const char *digit);
void sim_do_spec_with_config(struct sim *s, const char *digit);
void sim_do_spec_on_shared_stack(struct sim *s, const char *name);
void sim_do_other_spec(struct sim *s, const char *digit);
void sim_do_commit(struct sim *s, const char *digit);
void sim_do_suspend(struct sim *s, const char *word);
void sim_do_run_now(struct sim *s, const char *value);
void sim_do_config(struct sim *s, const char *value);
void sim_do_delete_spec(struct sim *s, const char *how);
void sim_do_delete_run(struct sim *s, const char *arg);
void sim_do_cancel_run(struct sim *s, const char *arg);
void sim_do_delete_namespace(struct sim *s, const char *arg);
void sim_do_delete_env(struct sim *s, const char *arg);
void sim_do_hostile_objects(struct sim *s, const char *arg);
void sim_do_backup(struct sim *s, const char *arg);
void sim_do_restore(struct sim *s, const char *arg);

#endif
