/* The three facts of a Pulumi project file that the runner needs. */
#ifndef RCO_RUNNER_PROJECT_H
#define RCO_RUNNER_PROJECT_H

#include "base/arena.h"
#include "base/error.h"

#include <stddef.h>

#define RCO_PROJECT_MAX (1024 * 1024) /* a YAML program stands in this file too */

struct rco_project {
    const char *name;
    const char *runtime;      /* yaml, nodejs, python, go, ... */
    const char *settings_dir; /* stackConfigDir; "" = beside the file */
};

/* Reads the project file TEXT; NAME (Pulumi.yaml, .yml or .json) for messages. Texts live in A. The
 * project name has 1..100 letters, digits, '_', '-' and '.', as Pulumi wants it. */
RCO_MUST_CHECK int rco_project_parse(const char *name, const char *text, size_t n,
                                     struct rco_arena *a, struct rco_project *ret,
                                     struct rco_error *err);

#endif
