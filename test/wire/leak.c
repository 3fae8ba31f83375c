/* Loaded into the sanitizer build, for the proof that a leak turns the wire tests red (run.sh). */
#include <stdlib.h>

__attribute__((constructor)) static void leak(void)
{
    volatile char *lost = malloc(100);
    lost[0] = 1;
    lost = NULL;
}
