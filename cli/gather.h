/* Reads what an explanation needs. Neighbours that are missing or forbidden are left out, not
 * errors. */
#ifndef RCO_CLI_GATHER_H
#define RCO_CLI_GATHER_H

#include "api.h"
#include "explain.h"
#include "render.h"

/* The specification NAME with its Environment, its runs and the pods of the current one. */
RCO_MUST_CHECK int rco_gather_spec(struct rco_cli *cli, const char *ns, const char *name,
                                   struct rco_facts *out, struct rco_error *err);
/* The Environment NAME with its state claim. */
RCO_MUST_CHECK int rco_gather_env(struct rco_cli *cli, const char *ns, const char *name,
                                  struct rco_facts *out, struct rco_error *err);
/* The run NAME with its pods. ITEM (may be NULL) gets its text. */
RCO_MUST_CHECK int rco_gather_run(struct rco_cli *cli, const char *ns, const char *name,
                                  struct rco_facts *out, struct rco_api_item *item,
                                  struct rco_error *err);
/* Adds the pods of F->run's present phase, or else what its Job could not make a pod for; forbidden
 * or none: F has none. */
void rco_gather_pods(struct rco_cli *cli, struct rco_facts *f);

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
