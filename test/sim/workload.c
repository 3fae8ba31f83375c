#include "workload.h"

#include "user.h"

#include <string.h>

#define ENV                                                                                        \
    {                                                                                              \
        sim_when_always, NULL, sim_do_env, NULL                                                    \
    }
#define READY(ACT, ARG)                                                                            \
    {                                                                                              \
        sim_when_env_ready, NULL, ACT, ARG                                                         \
    }
#define RUN(STATE, ACT, ARG)                                                                       \
    {                                                                                              \
        sim_when_run, STATE, ACT, ARG                                                              \
    }
#define SETTLED(ACT, ARG)                                                                          \
    {                                                                                              \
        sim_when_settled, NULL, ACT, ARG                                                           \
    }
#define LATER(SECONDS, ACT, ARG)                                                                   \
    {                                                                                              \
        sim_when_later, SECONDS, ACT, ARG                                                          \
    }
#define REST SETTLED(sim_do_nothing, NULL)

static const struct sim_step create[] = {ENV, READY(sim_do_spec, "1"), REST};
static const struct sim_step early[] = {ENV, {sim_when_always, NULL, sim_do_spec, "1"}, REST};
static const struct sim_step edit[] = {ENV, READY(sim_do_spec, "1"), SETTLED(sim_do_commit, "2"),
                                       REST};
static const struct sim_step edit_planning[] = {ENV, READY(sim_do_spec, "1"),
                                                RUN("Planning", sim_do_commit, "2"), REST};
static const struct sim_step edit_applying[] = {ENV, READY(sim_do_spec, "1"),
                                                RUN("Applying", sim_do_commit, "2"), REST};
static const struct sim_step aba[] = {ENV, READY(sim_do_spec, "1"), SETTLED(sim_do_commit, "2"),
                                      LATER("0", sim_do_commit, "1"), REST};
static const struct sim_step suspend[] = {ENV, READY(sim_do_spec, "1"),
                                          RUN("Planning", sim_do_suspend, "true"),
                                          LATER("60", sim_do_suspend, "false"), REST};
static const struct sim_step flicker[] = {ENV, READY(sim_do_spec, "1"),
                                          RUN("Pending", sim_do_suspend, "true"),
                                          LATER("0", sim_do_suspend, "false"), REST};
static const struct sim_step delete_pending[] = {ENV,
                                                 READY(sim_do_spec, "1"),
                                                 RUN("Pending", sim_do_delete_spec, NULL),
                                                 {sim_when_spec_gone, NULL, sim_do_nothing, NULL}};
static const struct sim_step delete_planning[] = {ENV,
                                                  READY(sim_do_spec, "1"),
                                                  RUN("Planning", sim_do_delete_spec, NULL),
                                                  {sim_when_spec_gone, NULL, sim_do_nothing, NULL}};
static const struct sim_step delete_applying[] = {ENV,
                                                  READY(sim_do_spec, "1"),
                                                  RUN("Applying", sim_do_delete_spec, "foreground"),
                                                  {sim_when_spec_gone, NULL, sim_do_nothing, NULL}};
static const struct sim_step delete_planned[] = {ENV,
                                                 READY(sim_do_spec, "1"),
                                                 RUN("Planned", sim_do_delete_spec, NULL),
                                                 {sim_when_spec_gone, NULL, sim_do_nothing, NULL}};
static const struct sim_step delete_awaiting[] = {
    {sim_when_always, NULL, sim_do_production_env, NULL},
    READY(sim_do_spec, "1"),
    RUN("AwaitingApproval", sim_do_delete_spec, NULL),
    {sim_when_spec_gone, NULL, sim_do_nothing, NULL}};
static const struct sim_step delete_failed[] = {ENV,
                                                READY(sim_do_spec, "f"),
                                                SETTLED(sim_do_delete_spec, NULL),
                                                {sim_when_spec_gone, NULL, sim_do_nothing, NULL}};
static const struct sim_step delete_applied[] = {ENV,
                                                 READY(sim_do_spec, "1"),
                                                 SETTLED(sim_do_delete_spec, NULL),
                                                 {sim_when_spec_gone, NULL, sim_do_nothing, NULL}};
static const struct sim_step recreate[] = {ENV,
                                           READY(sim_do_spec, "1"),
                                           SETTLED(sim_do_delete_spec, NULL),
                                           {sim_when_spec_gone, NULL, sim_do_spec, "2"},
                                           REST};
static const struct sim_step recreate_soon[] = {ENV,
                                                READY(sim_do_spec, "1"),
                                                RUN("Planning", sim_do_delete_spec, NULL),
                                                {sim_when_spec_gone, NULL, sim_do_spec, "2"},
                                                REST};
static const struct sim_step fail_plan[] = {ENV, READY(sim_do_spec, "f"), REST};
static const struct sim_step fail_apply[] = {ENV, READY(sim_do_spec, "e"), REST};
static const struct sim_step repaired[] = {ENV, READY(sim_do_spec, "f"),
                                           SETTLED(sim_do_commit, "1"), REST};
static const struct sim_step hostile[] = {ENV, READY(sim_do_hostile_objects, NULL),
                                          READY(sim_do_spec, "d"), SETTLED(sim_do_commit, "1"),
                                          REST};
static const struct sim_step no_secret[] = {ENV, READY(sim_do_spec, "c"),
                                            LATER("500", sim_do_nothing, NULL), REST};
static const struct sim_step config[] = {ENV,
                                         {sim_when_always, NULL, sim_do_config, "hello"},
                                         READY(sim_do_spec_with_config, "1"),
                                         SETTLED(sim_do_config, "good bye"),
                                         LATER("5", sim_do_nothing, NULL),
                                         REST};
static const struct sim_step config_planning[] = {ENV,
                                                  {sim_when_always, NULL, sim_do_config, "hello"},
                                                  READY(sim_do_spec_with_config, "1"),
                                                  RUN("Planning", sim_do_config, "good bye"),
                                                  LATER("5", sim_do_nothing, NULL),
                                                  REST};
static const struct sim_step config_late[] = {ENV, READY(sim_do_spec_with_config, "1"),
                                              LATER("30", sim_do_config, "hello"), REST};
static const struct sim_step shared_stack[] = {ENV,
                                               READY(sim_do_spec_on_shared_stack, "web"),
                                               LATER("0", sim_do_spec_on_shared_stack, "api"),
                                               {sim_when_all_settled, NULL, sim_do_nothing, NULL}};
static const struct sim_step volume[] = {ENV,
                                         READY(sim_do_spec, "1"),
                                         LATER("0", sim_do_other_spec, "2"),
                                         {sim_when_all_settled, NULL, sim_do_nothing, NULL}};
static const struct sim_step namespace_ends[] = {
    ENV,
    READY(sim_do_spec, "1"),
    SETTLED(sim_do_delete_namespace, NULL),
    {sim_when_namespace_gone, NULL, sim_do_nothing, NULL}};
static const struct sim_step namespace_ends_applying[] = {
    ENV,
    READY(sim_do_spec, "1"),
    RUN("Applying", sim_do_delete_namespace, NULL),
    {sim_when_namespace_gone, NULL, sim_do_nothing, NULL}};
static const struct sim_step cancel[] = {ENV, READY(sim_do_spec, "b"),
                                         RUN("Planning", sim_do_cancel_run, NULL), REST};
static const struct sim_step cancel_applying[] = {ENV, READY(sim_do_spec, "b"),
                                                  RUN("Applying", sim_do_cancel_run, NULL), REST};
static const struct sim_step run_now[] = {ENV, READY(sim_do_spec, "1"),
                                          SETTLED(sim_do_run_now, "again"),
                                          LATER("5", sim_do_nothing, NULL), REST};
static const struct sim_step run_deleted[] = {ENV,
                                              READY(sim_do_spec, "1"),
                                              RUN("Planning", sim_do_delete_run, NULL),
                                              LATER("60", sim_do_run_now, "again"),
                                              LATER("5", sim_do_nothing, NULL),
                                              REST};
static const struct sim_step restore[] = {ENV,
                                          READY(sim_do_spec, "1"),
                                          SETTLED(sim_do_backup, NULL),
                                          SETTLED(sim_do_delete_spec, NULL),
                                          {sim_when_spec_gone, NULL, sim_do_restore, NULL},
                                          LATER("60", sim_do_spec, "1"),
                                          REST};
static const struct sim_step environment_ends[] = {
    ENV,
    READY(sim_do_spec, "1"),
    RUN("Planning", sim_do_delete_env, NULL),
    LATER("300", sim_do_delete_spec, NULL),
    {sim_when_spec_gone, NULL, sim_do_nothing, NULL}};
static const struct sim_step two_namespaces[] = {
    {sim_when_always, NULL, sim_do_env, "s3://state/shop"},
    READY(sim_do_other_namespace, "s3://state/shop"),
    LATER("2", sim_do_spec_on_shared_stack, "web"),
    LATER("0", sim_do_spec_in_other_namespace, "2"),
    REST,
    LATER("120", sim_do_nothing, NULL)};
static const struct sim_step planted[] = {ENV,
                                          READY(sim_do_suspended_spec, "1"),
                                          LATER("5", sim_do_plant, NULL),
                                          LATER("5", sim_do_suspend, "false"),
                                          LATER("200", sim_do_unplant, NULL),
                                          REST};
static const struct sim_step slow[] = {ENV, READY(sim_do_spec, "b"), REST};

#define STEPS(NAME) NAME, RCO_ARRAY_LEN(NAME)

const struct sim_workload sim_workloads[] = {
    {"create", "a specification, applied", STEPS(create), true, true},
    {"early", "the specification comes before its Environment is ready", STEPS(early), true, true},
    {"edit", "a new commit after the first was applied", STEPS(edit), true, true},
    {"edit-planning", "a new commit while the first is planned", STEPS(edit_planning), false, true},
    {"edit-applying", "a new commit while the first is applied", STEPS(edit_applying), false, true},
    {"aba", "a commit and back again at once", STEPS(aba), false, true},
    {"suspend", "suspended while planning, resumed a minute later", STEPS(suspend), false, true},
    {"flicker", "suspended and resumed at once", STEPS(flicker), false, true},
    {"delete-pending", "deleted before anything ran", STEPS(delete_pending), false, false},
    {"delete-planning", "deleted while planning", STEPS(delete_planning), false, false},
    {"delete-applying", "deleted in the foreground while applying", STEPS(delete_applying), false,
     false},
    {"delete-planned", "deleted between plan and apply", STEPS(delete_planned), false, false},
    {"delete-awaiting", "deleted while the plan awaits its approval", STEPS(delete_awaiting), false,
     false},
    {"delete-failed", "deleted after its plan failed", STEPS(delete_failed), true, false},
    {"delete-applied", "deleted after the apply", STEPS(delete_applied), true, false},
    {"recreate", "deleted after the apply and made again under its name", STEPS(recreate), true,
     true},
    {"recreate-soon", "deleted while planning and made again", STEPS(recreate_soon), false, true},
    {"fail-plan", "a program that cannot be planned", STEPS(fail_plan), true, false},
    {"fail-apply", "a program that fails in its apply", STEPS(fail_apply), true, false},
    {"repaired", "a program that fails, then a good one", STEPS(repaired), true, true},
    {"hostile", "receipts that are not JSON, forged and unreadable objects", STEPS(hostile), true,
     true},
    {"no-secret", "a Secret that appears later", STEPS(no_secret), false, true},
    {"config", "a referenced ConfigMap changes", STEPS(config), true, true},
    {"config-planning", "the same while planning", STEPS(config_planning), false, true},
    {"config-late", "the ConfigMap comes later than the specification", STEPS(config_late), true,
     true},
    {"shared-stack", "two specifications on one stack", STEPS(shared_stack), false, false},
    {"volume", "two specifications on one state volume", STEPS(volume), false, true},
    {"namespace-ends", "the namespace is deleted", STEPS(namespace_ends), false, false},
    {"namespace-ends-applying", "the same while applying", STEPS(namespace_ends_applying), false,
     false},
    {"cancel", "a run is cancelled while planning", STEPS(cancel), false, false},
    {"cancel-applying", "a run is cancelled while applying", STEPS(cancel_applying), false, false},
    {"run-now", "a second run by request", STEPS(run_now), true, true},
    {"run-deleted", "a run is deleted while planning, later one is asked for", STEPS(run_deleted),
     false, true},
    /* Whether the run still had its finalizer when it was copied is chance. */
    {"restore", "run and specification come back from a backup", STEPS(restore), false, true},
    {"environment-ends", "the Environment is deleted before its specification",
     STEPS(environment_ends), false, false},
    {"two-namespaces", "two specifications of two namespaces on one stack", STEPS(two_namespaces),
     false, false},
    {"planted", "a Job stands under the name of ours", STEPS(planted), false, true},
    {"slow", "a program that takes minutes", STEPS(slow), true, true},
};
const size_t sim_n_workloads = RCO_ARRAY_LEN(sim_workloads);

const struct sim_workload *sim_workload_find(const char *name)
{
    for (size_t i = 0; i < sim_n_workloads; i++)
        if (strcmp(sim_workloads[i].name, name) == 0)
            return &sim_workloads[i];
    return NULL;
}
