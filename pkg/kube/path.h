/* Request paths. Every name and value that enters a path goes through here, so escaping is never
 * forgotten. */
#ifndef RCO_KUBE_PATH_H
#define RCO_KUBE_PATH_H

#include "api/kinds.h"
#include "base/buf.h"

struct rco_path {
    struct rco_buf buf;
    char next; /* '?' or '&': what the next query parameter begins with */
};

#define RCO_PATH_INIT ((struct rco_path){.next = '?'})
#define rco_autopath rco_cleanup(rco_path_release) struct rco_path

void rco_path_release(struct rco_path *p);
/* Starts over with the path of a kind: of one object, or of the collection when NAME is NULL. NS
 * NULL or
 * "" means all namespaces (collection) or cluster scope. SUBRESOURCE may be NULL. Each part becomes
 * one percent-encoded segment. A namespaced object without a namespace, and the segments "." and
 * "..", are RCO_EINVALID. */
RCO_MUST_CHECK int rco_path_kind(struct rco_path *p, enum rco_kind kind, const char *ns,
                                 const char *name, const char *subresource, struct rco_error *err);
/* Starts over with a literal path. */
void rco_path_literal(struct rco_path *p, const char *path);
/* Adds one query parameter; value NULL or "" adds nothing. */
void rco_path_query(struct rco_path *p, const char *key, const char *value);
void rco_path_query_int(struct rco_path *p, const char *key, int64_t value);
/* The path so far; borrowed. */
const char *rco_path_str(const struct rco_path *p);

#endif
