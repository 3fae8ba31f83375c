#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

int rco_file_read(const char *path, size_t cap, struct rco_buf *out, struct rco_error *err)
{
    rco_autoclose int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    char chunk[16384];
    size_t total = 0;

    if (fd < 0)
        return rco_error_errno(err, errno, "open %s", path);
    for (;;) {
        ssize_t n = read(fd, chunk, sizeof chunk);

        if (n < 0) {
            if (errno == EINTR)
                continue;
            return rco_error_errno(err, errno, "read %s", path);
        }
        if (n == 0)
            return 0;
        total += (size_t)n;
        if (total > cap)
            return rco_error_set(err, RCO_ETOOBIG, "%s has more than %zu bytes", path, cap);
        rco_buf_add(out, chunk, (size_t)n);
    }
}

int rco_fd_write_all(int fd, const void *bytes, size_t n, struct rco_error *err)
{
    const char *p = bytes;

    while (n > 0) {
        ssize_t done = write(fd, p, n);

        if (done < 0) {
            if (errno == EINTR)
                continue;
            return rco_error_errno(err, errno, "write");
        }
        p += done;
        n -= (size_t)done;
    }
    return 0;
}

static int write_and_sync(int fd, const void *bytes, size_t n, struct rco_error *err)
{
    if (rco_fd_write_all(fd, bytes, n, err) < 0)
        return -1;
    if (fsync(fd) < 0)
        return rco_error_errno(err, errno, "fsync");
    return 0;
}

int rco_file_write_atomic(const char *path, const void *bytes, size_t n, int mode,
                          struct rco_error *err)
{
    rco_autofree char *tmp = rco_asprintf("%s.tmp.%ld", path, (long)getpid());
    rco_autoclose int fd = open(tmp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, mode);

    if (fd < 0)
        return rco_error_errno(err, errno, "create %s", tmp);
    if (fchmod(fd, (mode_t)mode) < 0 || write_and_sync(fd, bytes, n, err) < 0) {
        if (err->code == RCO_OK)
            rco_error_errno(err, errno, "chmod");
        unlink(tmp);
        return rco_error_wrap(err, "write %s", path);
    }
    if (rename(tmp, path) < 0) {
        rco_error_errno(err, errno, "rename %s to %s", tmp, path);
        unlink(tmp);
        return -1;
    }
    return 0;
}

int rco_file_create_excl(const char *path, const void *bytes, size_t n, int mode,
                         struct rco_error *err)
{
    rco_autoclose int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);

    if (fd < 0)
        return rco_error_errno(err, errno, "create %s", path);
    if (write_and_sync(fd, bytes, n, err) < 0)
        return rco_error_wrap(err, "write %s", path);
    return 0;
}
