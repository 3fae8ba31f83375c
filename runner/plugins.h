/* Provider plugins of the image, and what language hosts need from the environment. */
#ifndef RCO_RUNNER_PLUGINS_H
#define RCO_RUNNER_PLUGINS_H

#include "proc.h"
#include "runner.h"

#define RCO_IMAGE_PLUGINS "/opt/pulumi/plugins"
/* Where install puts the packages of a Python program, and where the engine finds them. */
#define RCO_PYTHON_VENV ".venv"

/* Makes the image's plugins visible in PULUMI_HOME (ROOT/pulumi): a directory for each, with links
 * to the files in it, since the engine takes no link for the directory itself. The directory of the
 * image's plugins is RCO_IMAGE_PLUGINS, or the variable of that name in the environment (for
 * tests). */
RCO_MUST_CHECK int rco_plugins_link(struct rco_runner *r, struct rco_failure *f);

/* Caches and search paths of RUNTIME's tools; the same for install and engine. */
void rco_language_env(struct rco_runner *r, const char *runtime, struct rco_procenv *env);

#endif
