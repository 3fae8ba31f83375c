#include "outcome.h"

#include "base/str.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define STACK "urn:pulumi:dev::shop::pulumi:pulumi:Stack::shop-dev"
#define STEP(KIND, OP)                                                                             \
    "{\"sequence\":1,\"" KIND "\":{\"metadata\":{\"op\":\"" OP "\",\"urn\":\"" STACK               \
    "\",\"type\":\"pulumi:pulumi:Stack\",\"old\":null,\"new\":null}}}"
#define SUMMARY(PREVIEW, RESULT)                                                                   \
    "{\"sequence\":1,\"summaryEvent\":{\"isPreview\":" PREVIEW ",\"result\":\"" RESULT "\"}}"
#define ERROR(TEXT)                                                                                \
    "{\"sequence\":1,\"diagnosticEvent\":{\"severity\":\"error\",\"message\":\"" TEXT "\"}}"

struct row {
    const char *name;
    enum rco_engine_phase phase;
    const char *lines[8];
    struct rco_engine_done done;
    enum rco_apply_result result;
    enum rco_failure_class class;
    const char *part; /* of the message */
    bool may_have_changed;
};

#define PLAN RCO_ENGINE_PHASE_PLAN
#define APPLY RCO_ENGINE_PHASE_APPLY
#define OK RCO_APPLY_RESULT_SUCCEEDED
#define FAILED RCO_APPLY_RESULT_FAILED
#define NONE RCO_APPLY_RESULT_NO_CHANGES
#define CLASS(NAME) RCO_FAILURE_CLASS_##NAME

static const struct row rows[] = {
    {"plan",
     PLAN,
     {STEP("resourcePreEvent", "create"), SUMMARY("true", "succeeded")},
     {.ok = true, .started = true},
     OK,
     CLASS(UNSET),
     NULL,
     false},
    {"plan without a summary",
     PLAN,
     {STEP("resourcePreEvent", "create")},
     {.ok = true, .started = true},
     FAILED,
     CLASS(INTERNAL),
     "no summary",
     false},
    {"plan whose summary failed",
     PLAN,
     {SUMMARY("true", "failed")},
     {.ok = true, .started = true},
     FAILED,
     CLASS(INTERNAL),
     "no summary",
     false},
    {"plan with lost events",
     PLAN,
     {SUMMARY("true", "succeeded")},
     {.ok = true, .started = true, .events_cut = true},
     FAILED,
     CLASS(INTERNAL),
     "cannot be counted",
     false},
    {"plan that failed before the engine",
     PLAN,
     {NULL},
     {.class = CLASS(CONFIG), .message = "missing Secret a key b"},
     FAILED,
     CLASS(CONFIG),
     "missing Secret a key b",
     false},
    {"plan with an error event",
     PLAN,
     {ERROR("it is broken"), SUMMARY("true", "failed")},
     {.started = true, .by_stream = true, .exit_code = 1, .message = "of stderr"},
     FAILED,
     CLASS(RESOURCE),
     "it is broken",
     false},
    {"plan with an error on stderr only",
     PLAN,
     {NULL},
     {.started = true, .by_stream = true, .exit_code = 1, .message = "incorrect passphrase"},
     FAILED,
     CLASS(AUTH),
     "incorrect passphrase",
     false},
    {"plan that said nothing",
     PLAN,
     {NULL},
     {.started = true, .by_stream = true, .exit_code = 7, .message = ""},
     FAILED,
     CLASS(RESOURCE),
     "code 7",
     false},
    {"apply",
     APPLY,
     {SUMMARY("true", "succeeded"), STEP("resourcePreEvent", "create"),
      STEP("resOutputsEvent", "create"), SUMMARY("false", "succeeded")},
     {.ok = true, .started = true},
     OK,
     CLASS(UNSET),
     NULL,
     true},
    {"apply without changes",
     APPLY,
     {SUMMARY("true", "succeeded"), STEP("resourcePreEvent", "same"),
      SUMMARY("false", "succeeded")},
     {.ok = true, .started = true},
     NONE,
     CLASS(UNSET),
     NULL,
     false},
    {"apply that changes outputs only",
     APPLY,
     {SUMMARY("true", "succeeded"), STEP("resourcePreEvent", "same"),
      SUMMARY("false", "succeeded")},
     {.ok = true, .started = true, .outputs_changed = true},
     OK,
     CLASS(UNSET),
     NULL,
     false},
    {"apply that failed in its preview",
     APPLY,
     {ERROR("resource x violates plan: y"), SUMMARY("true", "failed")},
     {.started = true, .by_stream = true, .exit_code = 1},
     FAILED,
     CLASS(PLAN_VIOLATION),
     "violates plan",
     false},
    {"apply that failed half way",
     APPLY,
     {SUMMARY("true", "succeeded"), STEP("resourcePreEvent", "create"),
      STEP("resOpFailedEvent", "create"), ERROR("no"), SUMMARY("false", "failed")},
     {.started = true, .by_stream = true, .exit_code = 1},
     FAILED,
     CLASS(RESOURCE),
     "no",
     true},
    {"apply that only failed to write its history",
     APPLY,
     {SUMMARY("true", "succeeded"), STEP("resourcePreEvent", "create"),
      STEP("resOutputsEvent", "create"), SUMMARY("false", "succeeded")},
     {.started = true, .by_stream = true, .exit_code = 1, .message = "saving update info"},
     OK,
     CLASS(UNSET),
     NULL,
     true},
    {"apply that timed out",
     APPLY,
     {STEP("resourcePreEvent", "create"), SUMMARY("true", "succeeded"),
      STEP("resourcePreEvent", "create")},
     {.started = true, .by_stream = true, .exit_code = 8, .timed_out = true},
     FAILED,
     CLASS(TIMEOUT),
     "0 of 1 steps",
     true},
    {"apply that was killed",
     APPLY,
     {SUMMARY("true", "succeeded"), STEP("resourcePreEvent", "create")},
     {.started = true, .by_stream = true, .exit_code = -1, .signal = 9, .cancelled = true},
     FAILED,
     CLASS(CANCELLED),
     "was killed",
     true},
    {"apply with lost events",
     APPLY,
     {SUMMARY("true", "succeeded")},
     {.started = true, .by_stream = true, .exit_code = 1, .events_cut = true},
     FAILED,
     CLASS(RESOURCE),
     "code 1",
     true},
    {"apply refused by the guard",
     APPLY,
     {NULL},
     {.class = CLASS(PLAN_STALE), .message = "the base state"},
     FAILED,
     CLASS(PLAN_STALE),
     "the base state",
     false},
    {"unknown class of a hostile file",
     APPLY,
     {NULL},
     {.class = CLASS(UNKNOWN)},
     FAILED,
     CLASS(INTERNAL),
     "no message",
     false},
};

static void check(const struct row *row)
{
    struct rco_runner r = {.job = {.run_uid = "u", .phase = row->phase, .timeout_seconds = 5}};
    struct rco_outcome_input in = {.fetched = {.commit = "c", .project = "p"},
                                   .installed = {.workspace_digest = "w"},
                                   .done = row->done,
                                   .builder = rco_receipt_builder_new(row->phase)};
    struct rco_runner_receipt got;
    for (size_t i = 0; i < RCO_ARRAY_LEN(row->lines) && row->lines[i]; i++) {
        rco_autoarena a = RCO_ARENA_INIT;
        struct rco_engine_event e;
        rco_event_parse(row->lines[i], strlen(row->lines[i]), &a, &e);
        rco_receipt_builder_event(in.builder, &e);
    }
    rco_outcome_receipt(&r, &in, &got);
    const char *message = got.has_failure ? got.failure.message : "";
    enum rco_failure_class class = got.has_failure ? got.failure.class : RCO_FAILURE_CLASS_UNSET;
    if (got.result != row->result || class != row->class ||
        (row->part && !strstr(message, row->part)) || got.may_have_changed != row->may_have_changed)
        fail_msg("%s: result %d, class %s, %s, may have changed %d", row->name, got.result,
                 rco_failure_class_name(class), message, got.may_have_changed);
    rco_receipt_builder_free(in.builder);
    rco_arena_release(&r.arena);
}

static void every_end_of_an_engine_has_its_result(void **state)
{
    for (size_t i = 0; i < RCO_ARRAY_LEN(rows); i++)
        check(&rows[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_end_of_an_engine_has_its_result)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
