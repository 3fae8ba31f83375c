/* Small files, read and written whole, with caps; atomic replacement. For programs and effects,
 * never for pure code. */
#ifndef RCO_BASE_FILE_H
#define RCO_BASE_FILE_H

#include "base/buf.h"

/* Reads the whole of PATH, at most CAP bytes (RCO_ETOOBIG beyond), appending to OUT. */
RCO_MUST_CHECK int rco_file_read(const char *path, size_t cap, struct rco_buf *out,
                                 struct rco_error *err);
/* Writes PATH by a temporary file beside it, fsync and rename; MODE as for open(2). */
RCO_MUST_CHECK int rco_file_write_atomic(const char *path, const void *bytes, size_t n, int mode,
                                         struct rco_error *err);
/* Creates PATH with O_EXCL and writes it; an existing file is RCO_EEXISTS. */
RCO_MUST_CHECK int rco_file_create_excl(const char *path, const void *bytes, size_t n, int mode,
                                        struct rco_error *err);
/* Writes all N bytes to FD, going on after EINTR and short writes. */
RCO_MUST_CHECK int rco_fd_write_all(int fd, const void *bytes, size_t n, struct rco_error *err);

#endif
