/* The outer level of a streamed object, one byte range after another. Values of the outer object,
 * and the items of one of its lists, come out as complete texts; only their frame is found here
 * (where they end), their grammar is the decoder's affair. For pkg/json only. */
#ifndef RCO_JSON_ENVELOPE_H
#define RCO_JSON_ENVELOPE_H

#include "base/buf.h"
#include "json/scan.h"

#include <stdbool.h>
#include <stddef.h>

#define RCO_ENVELOPE_KEY_MAX 64 /* a longer key is cut: it is none that anybody looks for */

/* Where a value ends: brackets and quotes are counted, nothing else. */
struct rco_frame {
    unsigned depth;
    bool started, in_string, escaped, scalar;
};

enum rco_envelope_state {
    RCO_ENVELOPE_START,
    RCO_ENVELOPE_KEY_OR_END,
    RCO_ENVELOPE_KEY,
    RCO_ENVELOPE_COLON,
    RCO_ENVELOPE_VALUE,
    RCO_ENVELOPE_COMMA_OR_END,
    RCO_ENVELOPE_ITEM_OR_END,
    RCO_ENVELOPE_ITEM,
    RCO_ENVELOPE_ITEM_COMMA,
    RCO_ENVELOPE_END
};

struct rco_envelope;

struct rco_envelope_handler {
    /* A value of the outer object, but not the list; P->key is its key. The text lasts for the
     * call. */
    int (*value)(void *ctx, struct rco_span text, struct rco_error *err);
    /* An item of the list LIST_KEY. */
    int (*item)(void *ctx, struct rco_span text, struct rco_error *err);
    /* The outer object is complete. */
    int (*end)(void *ctx, struct rco_error *err);
    void *ctx;
    const char *list_key;  /* NULL = none */
    const char *large_key; /* a value that may be as large as an object; NULL = none */
    bool repeat;           /* another outer object may follow */
};

struct rco_envelope {
    struct rco_envelope_handler h;
    enum rco_envelope_state state;
    struct rco_frame frame;
    struct rco_buf text; /* what came so far of a value that is spread over several feeds */
    char key[RCO_ENVELOPE_KEY_MAX];
    bool saw_list;
    bool failed;
};

/* Copies H. */
void rco_envelope_init(struct rco_envelope *e, const struct rco_envelope_handler *h);
void rco_envelope_release(struct rco_envelope *e);
/* Goes on with N bytes; after a fault, each further feed fails. */
RCO_MUST_CHECK int rco_envelope_feed(struct rco_envelope *e, const char *bytes, size_t n,
                                     struct rco_error *err);

#endif
