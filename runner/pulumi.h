/* The engine container's own state, and the Pulumi commands around the operation itself. */
#ifndef RCO_RUNNER_PULUMI_H
#define RCO_RUNNER_PULUMI_H

#include "facts.h"
#include "inputs.h"
#include "proc.h"
#include "pulumi/digest.h"
#include "runner.h"

/* An exported state is not larger. */
#define RCO_STATE_MAX (256LL * 1024 * 1024)

struct rco_engine {
    struct rco_runner *r;
    struct rco_fetch_facts fetched;
    struct rco_install_facts installed;
    struct rco_inputs inputs;
    struct rco_procenv env;      /* of every pulumi */
    int dir;                     /* the program's directory */
    struct rco_state_facts base; /* the state before the operation */
    struct rco_engine_done done;
    bool waited; /* a go has come */
    bool cancel; /* ROOT/control/cancel was seen */
};

/* Environment of all Pulumi processes, from nothing: ours, proxies and CA, the inputs. */
RCO_MUST_CHECK int rco_engine_env(struct rco_engine *e, struct rco_failure *f);

/* Runs `pulumi ARGV...` with INPUT on stdin and takes its output. Any failure becomes F: WHAT is
 * what was being done, the first error line follows, masked. RES is filled also then. */
RCO_MUST_CHECK int rco_pulumi(struct rco_engine *e, const struct rco_argv *argv, const void *input,
                              size_t input_len, const char *what, struct rco_proc_result *res,
                              struct rco_failure *f);

/* Fills done.engine_version and done.plugins. */
RCO_MUST_CHECK int rco_pulumi_versions(struct rco_engine *e, struct rco_failure *f);

/* Exports the state to file NAME of TMPDIR and reads it. A stack that does not exist is class
 * Config with RET->digest empty. *TEXT is the export when not NULL. */
RCO_MUST_CHECK int rco_pulumi_export(struct rco_engine *e, struct rco_state_facts *ret,
                                     struct rco_buf *text, struct rco_failure *f);

/* Makes the stack when CREATE says so and it is not there, exports the base state, completes the
 * stack's settings file from it, and sets all configuration. */
enum rco_stack_mode { RCO_STACK_MUST_EXIST, RCO_STACK_CREATE };
RCO_MUST_CHECK int rco_pulumi_prepare(struct rco_engine *e, enum rco_stack_mode mode,
                                      struct rco_failure *f);
RCO_MUST_CHECK int rco_pulumi_configure(struct rco_engine *e, struct rco_failure *f);

/* Reads the stack's outputs; the whole as masked JSON in TEXT, those of exportOutputs in
 * done.outputs. */
RCO_MUST_CHECK int rco_pulumi_outputs(struct rco_engine *e, struct rco_buf *text,
                                      struct rco_failure *f);

/* First error line of TEXT, masked, in the arena; NULL when there is none. */
const char *rco_pulumi_error_line(struct rco_engine *e, const struct rco_buf *text);

#endif
