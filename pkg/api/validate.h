/* Checks of values that people write, with the sentence that explains a refusal. The CRDs check the
 * same at admission; this is for objects from before a rule existed. */
#ifndef RCO_API_VALIDATE_H
#define RCO_API_VALIDATE_H

#include "base/arena.h"
#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

#define RCO_PROGRAM_REF_MAX 1024

/* A program reference, taken apart. All strings are in the arena given. */
struct rco_program_ref {
    const char
        *repository; /* "https://git.example.com/team/infra.git"; scheme and host in lower case */
    const char *scheme; /* "https" or "ssh" */
    const char *user;   /* of ssh, or NULL */
    const char *host;
    const char *port; /* or NULL */
    const char *path; /* in the repository, normalised: no ".", no empty part; "." is the root */
};

/* Parses `<repository URL>//<path>`: https or ssh; no password (and no user with https), no query,
 * no fragment, no escapes, no part that is ".."; at most RCO_PROGRAM_REF_MAX bytes. RCO_EINVALID
 * says which rule was broken and never repeats the credentials. */
RCO_MUST_CHECK int rco_program_ref_parse(const char *ref, struct rco_arena *a,
                                         struct rco_program_ref *ret, struct rco_error *err);

/* A full commit id: 40 or 64 lower-case hex digits. */
bool rco_is_commit(const char *s);

#endif
