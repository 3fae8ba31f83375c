/* Scope-bound release of locals and small helpers that every file needs. */
#ifndef RCO_BASE_CLEANUP_H
#define RCO_BASE_CLEANUP_H

#include <stdlib.h>
#include <unistd.h>

/* Marks a function whose result must be looked at. */
#define RCO_MUST_CHECK __attribute__((warn_unused_result))
/* printf-like argument checking: F is the index of the format, A of the first argument. */
#define RCO_PRINTF(F, A) __attribute__((format(printf, F, A)))
#define RCO_UNUSED __attribute__((unused))
#define RCO_NORETURN __attribute__((noreturn))

#define RCO_ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

/* Runs FN(&local) when the local leaves scope. */
#define rco_cleanup(FN) __attribute__((cleanup(FN)))

static inline void rco_free_cleanup(void *p)
{
    free(*(void **)p);
}

static inline void rco_close_cleanup(int *fd)
{
    if (*fd >= 0)
        close(*fd);
}

/* `rco_autofree char *s = ...;` is freed at the end of its scope. */
#define rco_autofree rco_cleanup(rco_free_cleanup)
/* `rco_autoclose int fd = -1;` is closed at the end of its scope. */
#define rco_autoclose rco_cleanup(rco_close_cleanup)

#endif
