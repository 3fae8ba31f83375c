/* Proxies and further CA certificates, as the programs that we start understand them. */
#ifndef RCO_RUNNER_NETENV_H
#define RCO_RUNNER_NETENV_H

#include "proc.h"
#include "runner.h"

#define RCO_CA_MAX (4 * 1024 * 1024)

/* A new environment with PATH, HOME and TMPDIR of this container, language, and the job's proxies.
 */
void rco_base_env(struct rco_runner *r, struct rco_procenv *env);

/* When the job has a caBundle: joins the system's certificates and ROOT/ca/ca.crt in a file of
 * TMPDIR and names it in ENV for Go, Node, Python and OpenSSL. EXTRA (a path, or NULL) is joined
 * too. *RET_FILE is the file, or NULL when there was nothing to join. A bundle that is named and
 * not there is class Config. */
RCO_MUST_CHECK int rco_ca_env(struct rco_runner *r, const char *extra, struct rco_procenv *env,
                              const char **ret_file, struct rco_failure *f);

#endif
