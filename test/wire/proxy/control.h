/* The control socket: one command a line, one line of answer ("ok ..." or "error ...").
 *
 *   pid N                       the operator's process
 *   arm ID on=... do=...        a fault, see rules.h; disarm ID, disarm all
 *   freeze RES | stale RES      watches show nothing new | and lists neither; RES may be all
 *   release RES                 both are over
 *   skew RES MS                 frames come that late
 *   cut RES                     its watches end by RST
 *   hold RES NAME MS            frames of this key are never shown; after MS the watch is told 410
 *   refuse on|off               every connection is reset and no new one taken
 *   black-hole on|off           nothing is answered any more
 *   kill | stop MS              SIGKILL; SIGSTOP, then SIGCONT after MS
 *   stats                       ok {"writes": N, "answers": N, "connections": N, "hidden": N,
 * "fired": {ID: N}} mark TEXT                   a line in the trace
 */
#ifndef FP_CONTROL_H
#define FP_CONTROL_H

#include "proxy.h"

#define FP_COMMAND_MAX 4096

/* Serves one control connection until its end and closes it. */
void fp_control_serve(struct fp_proxy *p, int fd);

#endif
