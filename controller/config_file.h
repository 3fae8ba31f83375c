/* The configuration file (config.yaml, from the chart's ConfigMap). Read once, at start. */
#ifndef RCO_CONTROLLER_CONFIG_FILE_H
#define RCO_CONTROLLER_CONFIG_FILE_H

#include "base/arena.h"
#include "base/error.h"
#include "decide/common.h"

#define RCO_CONFIG_FILE_MAX (1024 * 1024)

/* Reads PATH into CONFIG, whose strings live in A; PATH NULL leaves CONFIG as it is. An unknown
 * key, a wrong type or an unreadable file is an error that names file and key. */
RCO_MUST_CHECK int rco_config_file_load(const char *path, struct rco_arena *a,
                                        struct rco_decide_config *config, struct rco_error *err);

/* The same from a text of N bytes; SOURCE is used in messages. */
RCO_MUST_CHECK int rco_config_file_parse(const char *yaml, size_t n, const char *source,
                                         struct rco_arena *a, struct rco_decide_config *config,
                                         struct rco_error *err);

#endif
