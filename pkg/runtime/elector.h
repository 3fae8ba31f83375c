/* Leader election on a coordination Lease (A90..A96). Judged on the local steady clock only. */
#ifndef RCO_RUNTIME_ELECTOR_H
#define RCO_RUNTIME_ELECTOR_H

#include "kube/watch.h"
#include "loop/loop.h"

struct rco_elector_timing {
    int64_t lease_ns; /* 30 s; whole seconds */
    int64_t renew_ns; /* 20 s */
    int64_t retry_ns; /* 4 s */
};
#define RCO_ELECTOR_TIMING_DEFAULT                                                                 \
    ((struct rco_elector_timing){30 * RCO_NS_PER_S, 20 * RCO_NS_PER_S, 4 * RCO_NS_PER_S})
/* lease > renew > retry * 1.2 and lease at least 1 s; the error says which rule and flag. */
RCO_MUST_CHECK int rco_elector_timing_check(const struct rco_elector_timing *t,
                                            struct rco_error *err);

/* What one look at the world says. Pure part: */
struct rco_elector_view {
    bool known; /* the record was read at least once */
    bool exists;
    const char *holder;   /* "" = released */
    const char *identity; /* ours */
    int64_t duration_ns;  /* leaseDurationSeconds of the record */
    rco_mono changed;     /* when we last saw the record change */
    bool leading;         /* we believe we lead */
    rco_mono renewed;     /* start of our last successful renewal */
    bool releasing;       /* SIGTERM: give it back */
};
enum rco_elector_action {
    RCO_ELECTOR_READ, /* GET the record */
    RCO_ELECTOR_CREATE,
    RCO_ELECTOR_ACQUIRE, /* take over: expired or released */
    RCO_ELECTOR_RENEW,
    RCO_ELECTOR_RELEASE,
    RCO_ELECTOR_WAIT, /* somebody else leads */
    RCO_ELECTOR_LOST  /* we led and may not any more */
};
enum rco_elector_action rco_elector_decide(const struct rco_elector_view *view,
                                           const struct rco_elector_timing *timing, rco_mono now);

/* What came of an action, and what follows from it; a table, like the decision. */
enum rco_elector_answer {
    RCO_ELECTOR_OURS,    /* the record as it now is; we hold it */
    RCO_ELECTOR_OTHERS,  /* the same, and we do not */
    RCO_ELECTOR_MISSING, /* 404 */
    RCO_ELECTOR_FAILED,  /* any other error; also a conflict, or nothing at all */
    RCO_ELECTOR_ANSWER_COUNT
};
enum rco_elector_next {
    RCO_ELECTOR_LOOK, /* decide again on what was read */
    RCO_ELECTOR_LEAD, /* we lead since the request was sent */
    RCO_ELECTOR_GIVEN_BACK,
    RCO_ELECTOR_READ_FIRST /* what stands there has to be read before the next write */
};
/* ACTION is one that makes a request. */
enum rco_elector_next rco_elector_after(enum rco_elector_action action,
                                        enum rco_elector_answer answer);

struct rco_elector_handler {
    /* We lead; TRANSITIONS is the fencing token. */
    void (*started)(void *ctx, int64_t transitions);
    /* Leadership is lost or cannot be proven: the program must end at once (A93). */
    void (*lost)(void *ctx, const char *why);
    /* Somebody leads; for logs. */
    void (*observed)(void *ctx, const char *holder);
    /* A faulty request; for logs. */
    void (*failed)(void *ctx, const struct rco_error *err);
    void *ctx;
};

struct rco_elector_options {
    struct rco_loop *loop;
    struct rco_kube_client *client;
    const char *ns, *name;
    const char *identity; /* "<hostname>_<uuid>" */
    struct rco_elector_timing timing;
    struct rco_elector_handler handler; /* any function but lost may be NULL */
};

struct rco_elector;
/* Strings are copied. */
struct rco_elector *rco_elector_new(const struct rco_elector_options *options);
void rco_elector_free(struct rco_elector *e);
void rco_elector_start(struct rco_elector *e);
bool rco_elector_is_leader(const struct rco_elector *e);
/* Leading, and enough of the lease is left to start an effect (fencing, A93): before renewed +
 * renew. */
bool rco_elector_may_write(const struct rco_elector *e);
/* Fencing token; -1 when not leading. */
int64_t rco_elector_transitions(const struct rco_elector *e);
/* A96: false when we claim to lead but have not renewed for lease + retry. */
bool rco_elector_healthy(const struct rco_elector *e);
/* Gives the lease back (after all leader work ended) and calls DONE once, also when it failed or we
 * did not lead. At most 5 s. */
void rco_elector_release(struct rco_elector *e, rco_loop_fn done, void *ctx);

#endif
