/* --watch: shows a screen again whenever it has changed. */
#ifndef RCO_CLI_REDRAW_H
#define RCO_CLI_REDRAW_H

#include "cli.h"

#define RCO_REDRAW_INTERVAL_MS 1000

/* Fills OUT with the screen and *RET_CODE with its exit code. */
typedef int (*rco_screen)(struct rco_cli *cli, struct rco_buf *out, int *ret_code,
                          struct rco_error *err);

/* Without --watch: prints the screen once. With it: until interrupted, on a terminal in place,
 * elsewhere as one screen after another with a line "---" between; -o json or yaml with it is a usage
 * error. Returns the exit code. */
int rco_redraw(struct rco_cli *cli, rco_screen screen);

#endif
