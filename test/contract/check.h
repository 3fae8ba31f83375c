/* Cases, and what they say about an answer. A check that fails prints one line and is counted; the
 * case goes on, so checks accept what is not there. */
#ifndef RCO_CONTRACT_CHECK_H
#define RCO_CONTRACT_CHECK_H

#include "base/str.h"
#include "bed.h"

struct contract_case {
    const char *name;
    void (*run)(struct bed *b);
};

/* Tables of cases, each ended by a case without a name. */
extern const struct contract_case object_cases[], patch_cases[], status_cases[], lifecycle_cases[],
    owner_cases[], schema_cases[], rule_cases[], list_cases[], page_cases[], watch_cases[],
    job_cases[], namespace_cases[], access_cases[];

/* WHAT says which of the case's questions it is about. Each returns whether it held. */
bool check(struct bed *b, const char *what, bool holds);
bool check_str(struct bed *b, const char *what, const char *want, const char *got);
bool check_int(struct bed *b, const char *what, int64_t want, int64_t got);
/* An answer of this HTTP status. */
bool check_code(struct bed *b, const char *what, const struct reply *r, int code);
/* A Status with these words; MESSAGE may be NULL, and may end with "*" for any rest. */
bool check_refusal(struct bed *b, const char *what, const struct reply *r, int code,
                   const char *reason, const char *message);
/* details of a Status; each may be NULL for "absent". */
bool check_details(struct bed *b, const char *what, const struct reply *r, const char *name,
                   const char *group, const char *kind);
/* A cause of a Status is about FIELD, for REASON. */
bool check_cause(struct bed *b, const char *what, const struct reply *r, const char *reason,
                 const char *field);
/* The string or number (as text) at PATH of the answer; WANT NULL = absent. */
bool check_at(struct bed *b, const struct reply *r, const char *path, const char *want);
/* The event is of TYPE and about object NAME. */
bool check_event(struct bed *b, const char *what, const struct event *e, const char *type,
                 const char *name);

/* --- paths and objects --- */

/* Path of a kind by its plural, in the case's namespace ("namespaces" has none); NAME NULL = all.
 */
const char *at(struct bed *b, const char *plural, const char *name);
/* The same in namespace NS. */
const char *at_in(struct bed *b, const char *ns, const char *plural, const char *name);
/* uid and version in an answer; "" when there is none. */
const char *uid_of(const struct reply *r);
const char *rv_of(const struct reply *r);
/* A namespace more for this case. */
const char *another_namespace(struct bed *b, const char *suffix);

/* Creates; the answer must be 201. MORE is "" or further members, ", \"data\": {...}". */
struct reply make_configmap(struct bed *b, const char *name, const char *meta, const char *more);
struct reply make_environment(struct bed *b, const char *name);
struct reply make_specification(struct bed *b, const char *name);
struct reply make_run(struct bed *b, const char *name, const char *class);
/* JSON of a Job; SPEC is "" or further members of its spec, ", \"suspend\": true". */
const char *job_json(struct bed *b, const char *name, const char *spec);

#endif
