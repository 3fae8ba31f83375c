/* The checkout as a whole: its digest, and what is done to it between containers. */
#ifndef RCO_RUNNER_WORKSPACE_H
#define RCO_RUNNER_WORKSPACE_H

#include "base/buf.h"
#include "base/sha256.h"

#include <stdint.h>

/* Caps of one workspace, dependencies included. */
#define RCO_WORKSPACE_MAX_FILES 400000
#define RCO_WORKSPACE_MAX_BYTES (INT64_C(8) << 30)
#define RCO_WORKSPACE_MAX_DEPTH 64
/* The short manifest travels with the plan, so that an apply can name the first path that differs.
 */
#define RCO_WORKSPACE_MAX_SHORT (256 * 1024)

struct rco_workspace {
    char digest[RCO_SHA256_HEX];
    /* One line a path, sorted by path: "<f|x|l|d> <sha256> <path>", line ends in names as \n,
     * backslash as \\. Directories of dependencies (node_modules, .venv, ...) are one line "t
     * <sha256> <path>". Empty when it would be longer than RCO_WORKSPACE_MAX_SHORT. */
    struct rco_buf manifest;
    size_t files;
    int64_t bytes;
};

#define rco_autoworkspace rco_cleanup(rco_workspace_release) struct rco_workspace
void rco_workspace_release(struct rco_workspace *w);

/* Digest over sorted (path, type, executable or not, SHA-256 of the content or link target) of
 * everything below directory PATH, without .git and __pycache__. */
RCO_MUST_CHECK int rco_workspace_digest(const char *path, struct rco_workspace *ret,
                                        struct rco_error *err);

/* The first path in which two short manifests differ, written to OUT (without line end); "" when
 * they are the same, or when one is empty. */
void rco_workspace_first_difference(const char *want, const char *got, struct rco_buf *out);

/* Sets the modification time of everything below PATH that this user owns to SECONDS. */
void rco_workspace_touch(const char *path, int64_t seconds);

/* Removes directory PATH with all it holds; nothing there is fine. */
RCO_MUST_CHECK int rco_workspace_remove(const char *path, struct rco_error *err);

#endif
