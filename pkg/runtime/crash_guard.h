/* Remembers over a crash of the program which key was being decided (A68): in C there is nothing to
 * recover, so an object that brings the program down twice is left alone until it changes. The file
 * is mapped; the kernel keeps what was written when the process dies. */
#ifndef RCO_RUNTIME_CRASH_GUARD_H
#define RCO_RUNTIME_CRASH_GUARD_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

#define RCO_CRASH_KEYS 256 /* keys remembered at once */
#define RCO_CRASH_LIMIT 2  /* crashes after which a key is poisonous */

struct rco_crash_guard;

/* Opens or makes PATH (0600). What was being decided when the last process ended counts as its
 * crash. A file that is no such file is started over. */
struct rco_crash_guard *rco_crash_guard_open(const char *path, struct rco_error *err);
/* NULL is allowed, here and below (a guard that knows nothing). */
void rco_crash_guard_close(struct rco_crash_guard *g);

/* The key with HASH (not 0) is about to be decided, was decided. One at a time. */
void rco_crash_guard_begin(struct rco_crash_guard *g, uint64_t hash);
void rco_crash_guard_end(struct rco_crash_guard *g);
/* Whether HASH was being decided at RCO_CRASH_LIMIT crashes. */
bool rco_crash_guard_is_poison(const struct rco_crash_guard *g, uint64_t hash);
/* The object has changed: it gets another chance. */
void rco_crash_guard_forget(struct rco_crash_guard *g, uint64_t hash);

#endif
