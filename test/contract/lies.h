/* Falsified servers, for the proof that the cases can fail: each lie replaces a text on the way, so
 * that the server seems to ignore or to answer something it must not. */
#ifndef RCO_CONTRACT_LIES_H
#define RCO_CONTRACT_LIES_H

#include <stddef.h>

enum lie_where { LIE_PATH, LIE_REQUEST, LIE_ANSWER, LIE_STATUS };

struct lie {
    const char *name;
    enum lie_where where;
    const char *from, *to; /* of a LIE_STATUS: numbers */
};

extern const struct lie lies[];
extern const size_t n_lies;

struct rco_arena;
/* TEXT[0..N) as the lie wants it, or TEXT itself. LIE may be NULL. */
const char *lie_text(struct rco_arena *a, const struct lie *lie, enum lie_where where,
                     const char *text, size_t n, size_t *ret_n);
int lie_status(const struct lie *lie, int status);

#endif
