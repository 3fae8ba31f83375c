#include "base/memory.h"

#include <malloc.h>

#define MAPPED_FROM (128 * 1024)
#define TRIMMED_FROM (256 * 1024) /* free at the end of the heap */

void rco_memory_setup(void)
{
    /* Set by hand, both stay as they are: glibc would raise them with each mapped block it frees.
     */
    mallopt(M_MMAP_THRESHOLD, MAPPED_FROM);
    mallopt(M_TRIM_THRESHOLD, TRIMMED_FROM);
    mallopt(M_ARENA_MAX, 1);
}

void rco_memory_trim(void)
{
    malloc_trim(0);
}
