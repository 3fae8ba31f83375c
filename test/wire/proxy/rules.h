/* Faults that are armed: each waits for the n-th request or frame it fits, and strikes a number of
 * times. */
#ifndef FP_RULES_H
#define FP_RULES_H

#include "target.h"

#include "base/error.h"

#define FP_RULES_MAX 32

enum fp_action {
    FP_NOTHING,
    /* requests */
    FP_CRASH_BEFORE, /* SIGKILL for the operator instead of forwarding */
    FP_CRASH_COMMIT, /* after the API server's answer, before ours */
    FP_CRASH_REPLY,  /* after ours */
    FP_LOSE_REQUEST, /* cut, never forwarded */
    FP_LOSE_ANSWER,  /* forwarded, then cut */
    FP_STATUS,       /* an answer of our own */
    FP_FORGE,        /* self-check: says success of what was never done */
    FP_TWICE,        /* self-check: creates a second object under another name */
    FP_DELAY,        /* MS before it is forwarded */
    /* frames */
    FP_DROP,
    FP_DUPLICATE,
    FP_ERROR, /* an ERROR frame with STATUS, then the end */
    /* bytes of answers and frames */
    FP_SPLIT,
    FP_TRUNCATE,
    FP_HALF_CLOSE,
    FP_BLACK_HOLE,
    FP_RESET,
    FP_SLOW,
    FP_GARBAGE,
    FP_BIG,
    FP_NUL,
    FP_UTF8,
    FP_ACTIONS
};

struct fp_rule {
    char id[32];
    char on[16];         /* a verb, "write", "request", "frame", "bookmark" */
    char res[64];        /* "" = any */
    char sub[32];        /* "" = any, "-" = none */
    char name[128];      /* glob; "" = any */
    unsigned long write; /* the k-th effective write; 0 = any */
    unsigned nth;        /* from the nth that fits on */
    unsigned times;      /* 0 = for ever */
    enum fp_action action;
    int status;
    char reason[64];
    char cause[64];
    char retry[32]; /* Retry-After, as it stands; "" = none */
    int ms;
    unsigned seen, fired;
};

struct fp_rules {
    struct fp_rule all[FP_RULES_MAX];
    size_t n;
};

/* Adds the rule that WORDS ("ID on=write write=7 do=crash-commit") describe; ERR names the word. */
RCO_MUST_CHECK int fp_rules_arm(struct fp_rules *rules, char *words, struct rco_error *err);
/* Takes away the rule with this id, or all ("all"). */
void fp_rules_disarm(struct fp_rules *rules, const char *id);
/* The first rule that strikes this request, which would be effective write K (0 = it does not
 * count), or NULL. */
struct fp_rule *fp_rules_request(struct fp_rules *rules, const struct fp_target *t,
                                 unsigned long k);
/* The same for a frame of TYPE about an object of T's resource with NAME. */
struct fp_rule *fp_rules_frame(struct fp_rules *rules, const struct fp_target *t, const char *type,
                               const char *name);
const char *fp_action_name(enum fp_action action);

#endif
