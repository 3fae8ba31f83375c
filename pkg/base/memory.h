/* How the allocator keeps the process as small as what it holds. */
#ifndef RCO_BASE_MEMORY_H
#define RCO_BASE_MEMORY_H

/* Once, before anything is allocated: one arena, since one thread does all the work; tables of a
 * store are mapped on their own, so that they grow without leaving holes. */
void rco_memory_setup(void);
/* Gives what is free back to the system. Takes milliseconds with a large heap: after a burst, not
 * in the middle of it. */
void rco_memory_trim(void);

#endif
