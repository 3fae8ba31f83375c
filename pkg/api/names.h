/* Names of everything the operator makes: pure functions of the cause, so that a second try finds
 * what the first one made (design 1.7). Each writes into OUT of RCO_NAME_SIZE bytes. */
#ifndef RCO_API_NAMES_H
#define RCO_API_NAMES_H

#include <stddef.h>
#include <stdint.h>

/* Room for any Kubernetes name with its NUL. Longer causes are a broken invariant (assert): the
 * CRDs bound them. */
#define RCO_NAME_SIZE 254
/* Bytes of an artifact that one chunk object holds; only the last may have fewer. */
#define RCO_CHUNK_SIZE 524288

/* `<spec>-<5 hex of its uid>-v<version>-<kind letter><n>`; KIND is the word ("Baseline" gives b).
 */
void rco_name_run(const char *spec, const char *spec_uid, int64_t version, const char *kind,
                  int64_t n, char *out);
/* `rco-<12 hex of the run's uid>-<phase letter>`; PHASE is the word ("plan", "apply"). */
void rco_name_job(const char *run_uid, const char *phase, char *out);
/* `rco-<12 hex of the run's uid>`: the ConfigMap that owns a run's artifacts. */
void rco_name_anchor(const char *run_uid, char *out);
/* `rco-<12 hex>-<phase letter><kind letter><index>-<10 hex of DIGEST>`; KIND is plan, log, diff,
 * outputs or state. */
void rco_name_chunk(const char *run_uid, const char *phase, const char *kind, size_t index,
                    const char *digest, char *out);
/* `rco-claim-<40 hex of SHA-256 over backend, project and stack, each on a line>`; BACKEND is
 * canonical (api/backend.h). */
void rco_name_stack_claim(const char *backend, const char *project, const char *stack, char *out);
/* `rco-state-<environment>` */
void rco_name_state_claim(const char *environment, char *out);
/* `rco-<environment>-pass-<k>` and `rco-<environment>-hmac-<k>`, k from 1. */
void rco_name_passphrase(const char *environment, int k, char *out);
void rco_name_hmac_key(const char *environment, int k, char *out);

#endif
