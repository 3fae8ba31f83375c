/* Reads what an explanation needs. Neighbours that are missing or forbidden are left out, not
 * errors. */
#ifndef RCO_CLI_GATHER_H
#define RCO_CLI_GATHER_H

#include "api.h"
#include "explain.h"
#include "render.h"

/* RCO_ENOTFOUND when the namespace that is asked about is not there. Without the right to see that,
 * it counts as there. */
RCO_MUST_CHECK int rco_gather_namespace(struct rco_cli *cli, struct rco_error *err);

/* The specification NAME with its Environment, its runs and the pods of the current one. One that
 * is not there, but has runs, says so. */
RCO_MUST_CHECK int rco_gather_spec(struct rco_cli *cli, const char *ns, const char *name,
                                   struct rco_facts *out, struct rco_error *err);
/* The Environment NAME with its state claim, and which of its service accounts do not exist. */
RCO_MUST_CHECK int rco_gather_env(struct rco_cli *cli, const char *ns, const char *name,
                                  struct rco_facts *out, struct rco_error *err);
/* The run NAME with its pods. ITEM (may be NULL) gets its text. */
RCO_MUST_CHECK int rco_gather_run(struct rco_cli *cli, const char *ns, const char *name,
                                  struct rco_facts *out, struct rco_api_item *item,
                                  struct rco_error *err);
/* Adds what the engine of F->run says, and who asks when it has been at work for long. For a screen
 * that is shown once: each is a request. Nothing where none works. */
void rco_gather_engine(struct rco_cli *cli, struct rco_facts *f);
/* The caller's user name in the invocation's arena; NULL when the server does not say. */
const char *rco_gather_user(struct rco_cli *cli);

/* All specifications of NS (NULL = all namespaces), explained, in A; ENVIRONMENT (may be NULL)
 * keeps only those that deploy to it. Sorted by namespace and name. */
RCO_MUST_CHECK int rco_gather_specs(struct rco_cli *cli, const char *ns, const char *environment,
                                    struct rco_render_row **ret_rows, size_t *ret_n,
                                    struct rco_error *err);

/* The run that the command line means: its argument, or with --spec the current (else the newest)
 * run of that specification. */
RCO_MUST_CHECK int rco_gather_named_run(struct rco_cli *cli, const char **ret_name,
                                        struct rco_error *err);

/* Rendering options of this invocation. */
struct rco_render rco_gather_render(const struct rco_cli *cli);

#endif
