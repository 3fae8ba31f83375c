/* Names of everything the operator makes: pure functions of their cause (design 1.7). OUT always has
 * RCO_NAME_SIZE bytes. */
#ifndef RCO_API_NAMES_H
#define RCO_API_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RCO_NAME_SIZE 128
/* Bytes of an artifact that one chunk object holds; the last may be smaller. */
#define RCO_CHUNK_SIZE 524288

/* `<specification>-<5 hex of its uid>-v<version>-<first letter of KIND, small><number>`. KIND is the word
 * ("Baseline"). */
void rco_name_run(const char *specification, const char *specification_uid, int64_t version,
                  const char *kind, int64_t number, char *out);
/* The number in a run's name; 0 when NAME is not such a name. */
int64_t rco_name_run_number(const char *name);

/* `rco-<12 hex of run uid>-<p|a>`; PHASE is "plan" or "apply". */
void rco_name_job(const char *run_uid, const char *phase, char *out);
/* `rco-<12 hex of run uid>`: the ConfigMap that owns a run's chunks. */
void rco_name_anchor(const char *run_uid, char *out);
/* `rco-<12 hex of run uid>-<phase letter><kind letter><index>-<10 hex of digest>`; KIND is "plan", "log",
 * "diff", "outputs" or "state". */
void rco_name_chunk(const char *run_uid, const char *phase, const char *kind, size_t index,
                    const char *digest, char *out);
/* How many chunks an artifact of SIZE bytes has (0 for 0). */
size_t rco_artifact_chunks(int64_t size);

/* `rco-claim-<40 hex of SHA-256(backend \n project \n stack)>`; BACKEND is canonical. */
void rco_name_claim(const char *backend, const char *project, const char *stack, char *out);

/* `rco-state-<environment>` */
void rco_name_state_claim(const char *environment, char *out);
/* `rco-<environment>-pass-<k>` */
void rco_name_passphrase(const char *environment, int k, char *out);
/* `rco-<environment>-hmac-<k>` */
void rco_name_hmac_key(const char *environment, int k, char *out);
/* The k in the name of a generated Secret; 0 when NAME does not end in one. */
int rco_name_secret_counter(const char *name);

#endif
