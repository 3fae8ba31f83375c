/* The version log: for each resource what the operator was shown last, so that a front end can be
 * played that stands still there. One list or watch at a time for a resource is assumed, which is
 * what an informer does. Calls are to be made under the proxy's lock. */
#ifndef FP_HISTORY_H
#define FP_HISTORY_H

#include "base/buf.h"
#include "base/map.h"

#include <stdbool.h>

struct fp_history {
    struct rco_map all; /* of struct shown, by resource */
};

void fp_history_release(struct fp_history *h);
/* A whole list was shown. */
void fp_history_list(struct fp_history *h, const char *res, const char *json, size_t n);
/* A frame was shown: its TYPE, key ("ns/name"), resourceVersion and object. */
void fp_history_frame(struct fp_history *h, const char *res, const char *type, const char *key,
                      const char *rv, const char *object, size_t n);
/* Writes the list as it was shown last; false when none was. */
bool fp_history_answer(const struct fp_history *h, const char *res, struct rco_buf *out);
/* The resourceVersion that this key was shown with last, or "". */
const char *fp_history_rv(const struct fp_history *h, const char *res, const char *key);

#endif
