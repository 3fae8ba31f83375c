/* Guards and actions of the run table, by the file that holds them. Guards take a struct
 * rco_run_ctx. */
#ifndef RCO_DECIDE_RUN_ROWS_H
#define RCO_DECIDE_RUN_ROWS_H

#include <stdbool.h>

/* One guard and one action of a row. */
#define RCO_RUN_ROW(NAME)                                                                          \
    bool rco_run_is_##NAME(const void *p);                                                         \
    void rco_run_do_##NAME(void *p)

/* run_receipts.c: what a pod reports */
RCO_RUN_ROW(receipt_again);
RCO_RUN_ROW(receipt_late);
RCO_RUN_ROW(receipt_early);
RCO_RUN_ROW(receipt_invalid);
RCO_RUN_ROW(receipt_failed);
RCO_RUN_ROW(receipt_planned);
RCO_RUN_ROW(receipt_applied);

/* run_start.c: the start handshake */
RCO_RUN_ROW(start_fenced);
RCO_RUN_ROW(start_again);
RCO_RUN_ROW(start_late);
RCO_RUN_ROW(start_unseen);
RCO_RUN_ROW(start_ending);
RCO_RUN_ROW(start_stranger);
RCO_RUN_ROW(start_second_pod);
RCO_RUN_ROW(start_invalid);
RCO_RUN_ROW(start_stale);
RCO_RUN_ROW(start_granted);
RCO_RUN_ROW(start_claimed);
RCO_RUN_ROW(start_busy);
RCO_RUN_ROW(start_take);

/* run_jobs.c: the Job of the phase and how its pod gets on */
RCO_RUN_ROW(job_foreign);
RCO_RUN_ROW(job_refused);
RCO_RUN_ROW(job_create);
RCO_RUN_ROW(job_record);
RCO_RUN_ROW(job_vanished);
RCO_RUN_ROW(pod_missing);
RCO_RUN_ROW(pod_image);
RCO_RUN_ROW(pod_config);
RCO_RUN_ROW(pod_unschedulable);
RCO_RUN_ROW(pod_ended);
RCO_RUN_ROW(pod_slow);
RCO_RUN_ROW(pod_waits);
RCO_RUN_ROW(overtime);
RCO_RUN_ROW(running);

/* run_cleanup.c: after the engine, and the end of the run itself */
RCO_RUN_ROW(job_stop);
RCO_RUN_ROW(engine_vanished);
RCO_RUN_ROW(engine_ended);
RCO_RUN_ROW(engine_waits);
RCO_RUN_ROW(pod_unreachable);
RCO_RUN_ROW(engine_unreachable);
RCO_RUN_ROW(engine_known);
RCO_RUN_ROW(gone_leftovers);
RCO_RUN_ROW(anchor_removed);
RCO_RUN_ROW(finalizer_removed);
RCO_RUN_ROW(finalizer_waits);

#undef RCO_RUN_ROW

#endif
