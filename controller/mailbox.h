/* What runners said and the run reconciler has not answered yet. The gateway puts requests in,
 * observe reads them, the executor's reply action takes them out after the writes were
 * acknowledged. In memory only: after a restart runners say it again. */
#ifndef RCO_CONTROLLER_MAILBOX_H
#define RCO_CONTROLLER_MAILBOX_H

#include "base/arena.h"
#include "base/error.h"
#include "decide/run.h"
#include "http/server.h"
#include "loop/loop.h"

#define RCO_MAILBOX_WAIT_NS (25 * RCO_NS_PER_S) /* then 503, and the runner asks again */
/* Waiting exchanges and the bytes of what they said, of all runs together, of one namespace and of
 * one run; beyond: 503. Whoever may speak for a namespace cannot silence another. */
#define RCO_MAILBOX_MAX 2000
#define RCO_MAILBOX_BYTES_MAX ((size_t)16 * 1024 * 1024)
#define RCO_MAILBOX_NAMESPACE_MAX 500
#define RCO_MAILBOX_NAMESPACE_BYTES_MAX ((size_t)4 * 1024 * 1024)
#define RCO_MAILBOX_RUN_MAX 16
#define RCO_MAILBOX_LETTER_MAX                                                                     \
    ((size_t)1024 * 1024) /* bytes of one when decoded; beyond: not readable */

struct rco_mailbox;

enum rco_letter_type { RCO_LETTER_START, RCO_LETTER_RECEIPT };

struct rco_letter {
    enum rco_letter_type type;
    enum rco_phase phase;
    const char *ns, *run;
    const char *pod_name, *pod_uid; /* of the reviewed token */
    const char *body;
    size_t body_len;
    struct rco_exchange *exchange;
};

/* WAKE is called with the key of a run whose mailbox got something new. */
struct rco_mailbox *rco_mailbox_new(struct rco_loop *loop,
                                    void (*wake)(void *ctx, const char *ns, const char *run),
                                    void *ctx);
/* Answers everything that waits with 503. */
void rco_mailbox_free(struct rco_mailbox *m);

/* Takes LETTER in (copied) and the duty to answer its exchange. A repeated letter of the same pod,
 * phase and type replaces the waiting one, whose exchange is answered 503. Bodies are decoded as
 * hostile input. */
void rco_mailbox_put(struct rco_mailbox *m, const struct rco_letter *letter);
/* The peer of EXCHANGE went away. */
void rco_mailbox_gone(struct rco_mailbox *m, const struct rco_exchange *exchange);

/* Facts of one run, in arena A; decoded bodies are borrowed until the next turn of the loop. */
void rco_mailbox_observe(struct rco_mailbox *m, const char *ns, const char *run,
                         struct rco_arena *a, struct rco_mailbox_facts *ret);
/* Answers exchange ID; an id that is gone is ignored. */
void rco_mailbox_reply(struct rco_mailbox *m, uint64_t id, int http_status, const char *body,
                       size_t n);
/* Answers everything that waits with 503, for instance when the leadership is given up. */
void rco_mailbox_drain(struct rco_mailbox *m);
size_t rco_mailbox_waiting(const struct rco_mailbox *m);
/* Bytes of what waits. */
size_t rco_mailbox_bytes(const struct rco_mailbox *m);

#endif
