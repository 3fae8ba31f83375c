#include "beneath.h"

#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>

#define PATH_MAX_BYTES 1024

static int explain(int errnum, const char *path, struct rco_error *err)
{
    if (errnum == EXDEV || errnum == ELOOP)
        return rco_error_set(err, RCO_EINVALID,
                             "%s leaves the repository or goes through a symbolic link", path);
    if (errnum == ENOENT)
        return rco_error_set(err, RCO_ENOTFOUND, "%s does not exist", path);
    if (errnum == ENOTDIR)
        return rco_error_set(err, RCO_EINVALID, "%s is not a directory", path);
    return rco_error_errno(err, errnum, "open %s", path);
}

int rco_open_beneath_walk(int dir_fd, const char *path, int flags, struct rco_error *err)
{
    char rest[PATH_MAX_BYTES + 1];
    rco_autoclose int at = openat(dir_fd, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (at < 0)
        return explain(errno, path, err);
    if (strlen(path) > PATH_MAX_BYTES || path[0] == '/')
        return rco_error_set(err, RCO_EINVALID, "%s is not a relative path of at most %d bytes",
                             path, PATH_MAX_BYTES);
    strcpy(rest, path);
    char *save = NULL, *part = strtok_r(rest, "/", &save);
    while (part) {
        char *next = strtok_r(NULL, "/", &save);
        if (strcmp(part, "..") == 0)
            return explain(EXDEV, path, err);
        int fd = strcmp(part, ".") == 0 ? dup(at)
                 : next ? openat(at, part, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
                        : openat(at, part, flags | O_NOFOLLOW | O_CLOEXEC);
        /* A link where a directory is asked for shows as ENOTDIR. */
        if (fd < 0)
            return explain(errno == ENOTDIR && next ? ELOOP : errno, path, err);
        close(at);
        at = fd;
        part = next;
    }
    int fd = at;
    if (fcntl(fd, F_GETFL) & O_PATH && !(flags & O_PATH)) { /* ended in "." or was empty */
        fd = openat(at, ".", flags | O_CLOEXEC);
        return fd < 0 ? explain(errno, path, err) : fd;
    }
    at = -1;
    return fd;
}

int rco_open_beneath(int dir_fd, const char *path, int flags, struct rco_error *err)
{
    struct open_how how = {.flags = (unsigned)flags | O_CLOEXEC,
                           .resolve =
                               RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS};
    long fd = syscall(SYS_openat2, dir_fd, rco_str_empty(path) ? "." : path, &how, sizeof(how));
    if (fd >= 0)
        return (int)fd;
    /* gVisor has no openat2; old seccomp profiles answer EPERM. */
    if (errno == ENOSYS || errno == EPERM)
        return rco_open_beneath_walk(dir_fd, path, flags, err);
    return explain(errno, path, err);
}
