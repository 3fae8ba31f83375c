/* Keeps one store equal to the API server: list, watch, resume, relist. A state machine by
 * the table of reflector_table.c; the rules are A1..A29 of docs/client-behaviour.md. */
#ifndef RCO_RUNTIME_REFLECTOR_H
#define RCO_RUNTIME_REFLECTOR_H

#include "kube/watch.h"
#include "loop/loop.h"
#include "runtime/list_gate.h"
#include "runtime/reflector_table.h"
#include "runtime/store.h"

#define RCO_BACKOFF_FIRST_NS (800 * RCO_NS_PER_MS) /* A19 */
#define RCO_BACKOFF_CAP_NS (30 * RCO_NS_PER_S)
#define RCO_BACKOFF_RESET_NS (120 * RCO_NS_PER_S)
#define RCO_SHORT_WATCH_NS (1 * RCO_NS_PER_S)   /* A17 */
#define RCO_STREAM_STALL_NS (60 * RCO_NS_PER_S) /* A25 */

enum rco_list_mode { RCO_LIST_PAGED, RCO_LIST_STREAMING };

struct rco_reflector_counters {
    uint64_t lists, watches, events, bookmarks, errors, undecodable, skipped_events;
    uint64_t fallbacks; /* streaming list given up for good (A25) */
};

struct rco_reflector_handler {
    /* The first list is complete in the store. */
    void (*synced)(void *ctx);
    /* The store's resourceVersion moved (event, bookmark or list). */
    void (*progress)(void *ctx);
    /* An object that could not be decoded (A29); KEY has name "" when not even that was readable.
     */
    void (*undecodable)(void *ctx, const struct rco_key *key, const struct rco_error *err);
    /* An object that was undecodable before is fine now, or gone. */
    void (*decodable)(void *ctx, const struct rco_key *key);
    /* A list or watch failed; for logs. */
    void (*failed)(void *ctx, enum rco_reflector_state state, const struct rco_error *err);
    void *ctx;
};

struct rco_reflector_options {
    struct rco_loop *loop;
    struct rco_kube_client *client;
    struct rco_list_gate *gate; /* NULL = none */
    struct rco_store *store;
    struct rco_scope scope; /* strings are copied */
    enum rco_list_mode mode;
    struct rco_reflector_handler handler; /* any function may be NULL */
};

struct rco_reflector;
/* Copies OPTIONS; what they point to is borrowed. */
struct rco_reflector *rco_reflector_new(const struct rco_reflector_options *options);
void rco_reflector_free(struct rco_reflector *r);
/* Lists, then watches, until it is stopped. */
void rco_reflector_start(struct rco_reflector *r);
/* No callback comes after this returns. May be started again; the store is kept. */
void rco_reflector_stop(struct rco_reflector *r);
/* Lists the most recent state at once, e.g. because an own write does not show up. */
void rco_reflector_relist(struct rco_reflector *r);
bool rco_reflector_has_synced(const struct rco_reflector *r);
enum rco_reflector_state rco_reflector_state(const struct rco_reflector *r);
const struct rco_reflector_counters *rco_reflector_counters(const struct rco_reflector *r);
/* When the last byte of progress came (A8: for the deaf-watch metric). */
rco_mono rco_reflector_last_progress(const struct rco_reflector *r);

#endif
