#include "workspace.h"

#include "base/str.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void rco_workspace_release(struct rco_workspace *w)
{
    rco_buf_release(&w->manifest);
}

struct walk {
    struct rco_workspace *w;
    struct rco_sha256 *whole; /* over all full lines */
    struct rco_sha256 *tree;  /* over the lines of the dependency directory we are in, or NULL */
    bool no_short;            /* the short manifest is too long */
    struct rco_error *err;
};

static bool is_skipped(const char *name)
{
    return strcmp(name, ".git") == 0 || strcmp(name, "__pycache__") == 0;
}

/* Directories that hold nothing but what an installer put there. */
static bool is_dependency_dir(const char *name)
{
    static const char *const names[] = {"node_modules", ".venv", "venv", "vendor"};
    for (size_t i = 0; i < RCO_ARRAY_LEN(names); i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

static void format_line(char type, const char *hex, const char *path, struct rco_buf *out)
{
    rco_buf_addf(out, "%c %s ", type, hex);
    for (const char *c = path; *c; c++) {
        if (*c == '\n')
            rco_buf_adds(out, "\\n");
        else if (*c == '\\')
            rco_buf_adds(out, "\\\\");
        else
            rco_buf_addc(out, *c);
    }
    rco_buf_addc(out, '\n');
}

static void add_short(struct walk *k, const struct rco_buf *line)
{
    if (k->no_short)
        return;
    if (k->w->manifest.len + line->len > RCO_WORKSPACE_MAX_SHORT) {
        k->no_short = true;
        rco_buf_clear(&k->w->manifest);
        return;
    }
    rco_buf_add(&k->w->manifest, line->data, line->len);
}

static void add_line(struct walk *k, char type, const char *hex, const char *path)
{
    rco_autobuf line = RCO_BUF_INIT;
    format_line(type, hex, path, &line);
    rco_sha256_update(k->whole, line.data, line.len);
    if (k->tree)
        rco_sha256_update(k->tree, line.data, line.len);
    else
        add_short(k, &line);
}

static int hash_file(struct walk *k, int dir, const char *name, const char *path)
{
    unsigned char digest[RCO_SHA256_LEN];
    char hex[RCO_SHA256_HEX], bytes[65536];
    struct stat st;
    rco_autoclose int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 || fstat(fd, &st) < 0)
        return rco_error_errno(k->err, errno, "read %s", path);
    struct rco_sha256 *s = rco_sha256_new();
    ssize_t n;
    while ((n = read(fd, bytes, sizeof(bytes))) > 0 || (n < 0 && errno == EINTR)) {
        if (n < 0)
            continue;
        rco_sha256_update(s, bytes, (size_t)n);
        k->w->bytes += n;
        if (k->w->bytes > RCO_WORKSPACE_MAX_BYTES)
            break;
    }
    int errnum = errno;
    rco_sha256_final(s, digest);
    rco_sha256_free(s);
    if (n < 0)
        return rco_error_errno(k->err, errnum, "read %s", path);
    if (k->w->bytes > RCO_WORKSPACE_MAX_BYTES)
        return rco_error_set(k->err, RCO_ETOOBIG, "the workspace holds more than %lld GiB",
                             (long long)(RCO_WORKSPACE_MAX_BYTES >> 30));
    rco_hex_encode(digest, sizeof(digest), hex);
    add_line(k, st.st_mode & 0111 ? 'x' : 'f', hex, path);
    return 0;
}

static int hash_link(struct walk *k, int dir, const char *name, const char *path)
{
    char target[PATH_MAX], hex[RCO_SHA256_HEX];
    ssize_t n = readlinkat(dir, name, target, sizeof(target));
    if (n < 0)
        return rco_error_errno(k->err, errno, "read link %s", path);
    rco_sha256_hex(target, (size_t)n, hex);
    add_line(k, 'l', hex, path);
    return 0;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

struct names {
    char **list;
    size_t n, size;
};

static void names_release(struct names *names)
{
    for (size_t i = 0; i < names->n; i++)
        free(names->list[i]);
    free(names->list);
}

static int read_names(struct walk *k, int fd, const char *path, struct names *ret)
{
    DIR *d = fdopendir(fd);
    if (!d) {
        close(fd);
        return rco_error_errno(k->err, errno, "list %s", path);
    }
    struct dirent *e;
    while ((e = readdir(d))) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 || is_skipped(e->d_name))
            continue;
        if (++k->w->files > RCO_WORKSPACE_MAX_FILES)
            break;
        if (ret->n == ret->size) {
            ret->size = ret->size ? ret->size * 2 : 32;
            ret->list = rco_realloc(ret->list, ret->size * sizeof(*ret->list));
        }
        ret->list[ret->n++] = rco_strdup(e->d_name);
    }
    closedir(d);
    if (k->w->files > RCO_WORKSPACE_MAX_FILES)
        return rco_error_set(k->err, RCO_ETOOBIG, "the workspace holds more than %d files",
                             RCO_WORKSPACE_MAX_FILES);
    if (ret->n > 1)
        qsort(ret->list, ret->n, sizeof(*ret->list), compare_names);
    return 0;
}

static int walk_dir(struct walk *k, int parent, const char *name, const char *path, unsigned depth);

static int walk_dependencies(struct walk *k, int dir, const char *name, const char *path,
                             unsigned depth)
{
    unsigned char digest[RCO_SHA256_LEN];
    char hex[RCO_SHA256_HEX];
    rco_autobuf line = RCO_BUF_INIT;
    k->tree = rco_sha256_new();
    int rc = walk_dir(k, dir, name, path, depth);
    rco_sha256_final(k->tree, digest);
    rco_sha256_free(k->tree);
    k->tree = NULL;
    rco_hex_encode(digest, sizeof(digest), hex);
    format_line('t', hex, path, &line);
    add_short(k, &line);
    return rc;
}

static int walk_entry(struct walk *k, int dir, const char *name, const char *path, unsigned depth)
{
    struct stat st;
    if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return rco_error_errno(k->err, errno, "look at %s", path);
    if (S_ISREG(st.st_mode))
        return hash_file(k, dir, name, path);
    if (S_ISLNK(st.st_mode))
        return hash_link(k, dir, name, path);
    if (!S_ISDIR(st.st_mode))
        return rco_error_set(k->err, RCO_EINVALID,
                             "%s is neither a file nor a directory nor a link", path);
    if (!k->tree && is_dependency_dir(name))
        return walk_dependencies(k, dir, name, path, depth + 1);
    return walk_dir(k, dir, name, path, depth + 1);
}

static int walk_dir(struct walk *k, int parent, const char *name, const char *path, unsigned depth)
{
    rco_cleanup(names_release) struct names names = {0};
    rco_autobuf child = RCO_BUF_INIT;
    if (depth > RCO_WORKSPACE_MAX_DEPTH)
        return rco_error_set(k->err, RCO_ETOOBIG, "%s: directories deeper than %d", path,
                             RCO_WORKSPACE_MAX_DEPTH);
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return rco_error_errno(k->err, errno, "open %s", *path ? path : name);
    rco_autoclose int dir = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    if (read_names(k, fd, path, &names) < 0)
        return -1;
    if (*path)
        add_line(k, 'd', "-", path);
    for (size_t i = 0; i < names.n; i++) {
        rco_buf_clear(&child);
        rco_buf_addf(&child, "%s%s%s", path, *path ? "/" : "", names.list[i]);
        if (walk_entry(k, dir, names.list[i], rco_buf_str(&child), depth) < 0)
            return -1;
    }
    return 0;
}

int rco_workspace_digest(const char *path, struct rco_workspace *ret, struct rco_error *err)
{
    unsigned char digest[RCO_SHA256_LEN];
    *ret = (struct rco_workspace){0};
    struct walk k = {.w = ret, .whole = rco_sha256_new(), .err = err};
    int rc = walk_dir(&k, AT_FDCWD, path, "", 0);
    rco_sha256_final(k.whole, digest);
    rco_sha256_free(k.whole);
    rco_hex_encode(digest, sizeof(digest), ret->digest);
    return rc < 0 ? rco_error_wrap(err, "workspace digest") : 0;
}

/* The path of a manifest line of N bytes: behind type and digest. */
static const char *line_path(const char *line, size_t n, size_t *ret_len)
{
    const char *space = n > 2 ? memchr(line + 2, ' ', n - 2) : NULL;
    if (!space) {
        *ret_len = n;
        return line;
    }
    *ret_len = n - (size_t)(space + 1 - line);
    return space + 1;
}

void rco_workspace_first_difference(const char *want, const char *got, struct rco_buf *out)
{
    if (rco_str_empty(want) || rco_str_empty(got))
        return;
    while (*want || *got) {
        size_t n = strcspn(want, "\n"), m = strcspn(got, "\n"), pn, pm;
        if (n != m || memcmp(want, got, n) != 0) {
            const char *a = line_path(want, n, &pn), *b = line_path(got, m, &pm);
            /* The lines are in the order of a walk; where one is missing the other has moved on,
             * and the shorter of the two ends is no path at all. */
            bool take_want = n > 0 && (m == 0 || strncmp(a, b, pn < pm ? pn : pm) <= 0);
            rco_buf_add(out, take_want ? a : b, take_want ? pn : pm);
            return;
        }
        want += n + (want[n] == '\n');
        got += m + (got[m] == '\n');
    }
}

static void touch_below(int parent, const char *name, int64_t seconds, unsigned depth)
{
    struct timespec times[2] = {{.tv_sec = seconds}, {.tv_sec = seconds}};
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *d = fd >= 0 && depth < RCO_WORKSPACE_MAX_DEPTH ? fdopendir(fd) : NULL;
    if (!d) {
        rco_close_cleanup(&fd);
        return;
    }
    struct dirent *e;
    while ((e = readdir(d))) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 ||
            strcmp(e->d_name, ".git") == 0)
            continue;
        if (e->d_type == DT_DIR)
            touch_below(dirfd(d), e->d_name, seconds, depth + 1);
        utimensat(dirfd(d), e->d_name, times, AT_SYMLINK_NOFOLLOW);
    }
    closedir(d);
}

void rco_workspace_touch(const char *path, int64_t seconds)
{
    touch_below(AT_FDCWD, path, seconds, 0);
}

static int remove_below(int parent, const char *name)
{
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
    if (!d) {
        int errnum = errno;
        rco_close_cleanup(&fd);
        return errnum == ENOENT ? 0 : -1;
    }
    struct dirent *e;
    int rc = 0;
    while (rc == 0 && (e = readdir(d))) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        if (unlinkat(dirfd(d), e->d_name, 0) < 0)
            rc = errno == EISDIR || errno == EPERM ? remove_below(dirfd(d), e->d_name) : -1;
    }
    closedir(d);
    return rc < 0 ? rc : unlinkat(parent, name, AT_REMOVEDIR);
}

int rco_workspace_remove(const char *path, struct rco_error *err)
{
    if (remove_below(AT_FDCWD, path) < 0)
        return rco_error_errno(err, errno, "remove %s", path);
    return 0;
}
