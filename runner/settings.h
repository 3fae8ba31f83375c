/* The stack's settings file (Pulumi.<stack>.yaml) of a fresh checkout. */
#ifndef RCO_RUNNER_SETTINGS_H
#define RCO_RUNNER_SETTINGS_H

#include "pulumi.h"

#define RCO_SETTINGS_MAX (1024 * 1024)

/* Writes into the settings file what protects the stack's secrets, as the base state names it:
 * without that, each run would make a new salt, and neither plan file nor base state would be the
 * same twice. A file of the commit that says it itself is left alone. */
RCO_MUST_CHECK int rco_settings_complete(struct rco_engine *e, struct rco_failure *f);

/* Whether the YAML text has KEY at its top level. */
bool rco_settings_has(const char *text, const char *key);

#endif
