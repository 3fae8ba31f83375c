/* Where a state backend's URL points to: one text for one place, so that one stack has one claim. */
#ifndef RCO_API_BACKEND_H
#define RCO_API_BACKEND_H

#include "base/arena.h"

/* The canonical form of a backend URL (as Pulumi 3.241 and later reads them), in A; URL is not NULL.
 *
 * Kept is what says where the state lies: scheme, hosts (lower case, no final dot, in order, no
 * default port), bucket or database, the path in it, and of the query only what names a place: the
 * endpoint of s3, account and domain of azblob, prefix, and of postgres the schema that search_path
 * begins with and the table. Dropped is what only says how to get there: the user, sslmode and every
 * other parameter, a default written out, slashes at the end, the order and encoding of all that.
 *
 * Unknown parameters are dropped, since the error on that side is a refusal (two stacks taken for
 * one), on the other two engines on one stack. What a DNS alias, or a host in the credentials'
 * Secret, points to is beyond a text. What is not a URL stays as it is. */
const char *rco_backend_canonical(const char *url, struct rco_arena *a);

#endif
