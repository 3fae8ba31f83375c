#include "beneath.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

typedef int (*open_fn)(int dir_fd, const char *path, int flags, struct rco_error *err);

static int tree(void)
{
    char template[] = "/tmp/rco-beneath-XXXXXX";
    assert_non_null(mkdtemp(template));
    int fd = open(template, O_RDONLY | O_DIRECTORY);
    assert_int_equal(mkdirat(fd, "a", 0755), 0);
    assert_int_equal(mkdirat(fd, "a/b", 0755), 0);
    close(openat(fd, "a/b/file", O_CREAT | O_WRONLY, 0644));
    assert_int_equal(symlinkat("/etc", fd, "out"), 0);
    assert_int_equal(symlinkat("a", fd, "in"), 0);
    assert_int_equal(symlinkat("../../../etc/passwd", fd, "a/up"), 0);
    return fd;
}

/* Takes the tree away that FD is open on. */
static void fell(int fd)
{
    char link[64], path[64] = "";
    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    assert_true(readlink(link, path, sizeof(path) - 1) > 0);
    static const struct {
        const char *name;
        int flags;
    } rows[] = {{"a/b/file", 0}, {"a/up", 0},         {"out", 0},
                {"in", 0},       {"a/b", AT_REMOVEDIR}, {"a", AT_REMOVEDIR}};
    for (size_t i = 0; i < RCO_ARRAY_LEN(rows); i++)
        assert_int_equal(unlinkat(fd, rows[i].name, rows[i].flags), 0);
    assert_int_equal(rmdir(path), 0);
    close(fd);
}

static void check(open_fn fn)
{
    static const struct {
        const char *path;
        int flags;
        enum rco_code want;
    } rows[] = {
        {"", O_RDONLY | O_DIRECTORY, RCO_OK},
        {".", O_RDONLY | O_DIRECTORY, RCO_OK},
        {"a", O_RDONLY | O_DIRECTORY, RCO_OK},
        {"a/b", O_RDONLY | O_DIRECTORY, RCO_OK},
        {"a/./b/file", O_RDONLY, RCO_OK},
        {"..", O_RDONLY | O_DIRECTORY, RCO_EINVALID},
        {"a/../../x", O_RDONLY, RCO_EINVALID},
        {"/etc", O_RDONLY | O_DIRECTORY, RCO_EINVALID},
        {"out", O_RDONLY | O_DIRECTORY, RCO_EINVALID},
        {"out/passwd", O_RDONLY, RCO_EINVALID},
        {"in/b/file", O_RDONLY, RCO_EINVALID},
        {"a/up", O_RDONLY, RCO_EINVALID},
        {"a/none", O_RDONLY, RCO_ENOTFOUND},
        {"none/b", O_RDONLY, RCO_ENOTFOUND},
        {"a/b/file", O_RDONLY | O_DIRECTORY, RCO_EINVALID},
        {"a/b/file/x", O_RDONLY, RCO_EINVALID},
    };
    int dir = tree();
    for (size_t i = 0; i < RCO_ARRAY_LEN(rows); i++) {
        struct rco_error err = RCO_ERROR_INIT;
        int fd = fn(dir, rows[i].path, rows[i].flags, &err);
        if ((fd < 0) != (rows[i].want != RCO_OK) || (fd < 0 && err.code != rows[i].want))
            fail_msg("'%s': fd %d, %s %s", rows[i].path, fd, rco_code_name(err.code), err.msg);
        if (fd >= 0)
            close(fd);
    }
    fell(dir);
}

static void paths_stay_beneath_by_openat2(void **state)
{
    check(rco_open_beneath);
}

static void paths_stay_beneath_on_a_kernel_without_openat2(void **state)
{
    check(rco_open_beneath_walk);
}

static void what_was_opened_can_be_read(void **state)
{
    struct rco_error err = RCO_ERROR_INIT;
    char c;
    int dir = tree();
    for (int i = 0; i < 2; i++) {
        rco_autoclose int fd =
            (i ? rco_open_beneath : rco_open_beneath_walk)(dir, "a/b/file", O_RDONLY, &err);
        assert_true(fd >= 0);
        assert_int_equal(read(fd, &c, 1), 0);
    }
    fell(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_stay_beneath_by_openat2),
        cmocka_unit_test(paths_stay_beneath_on_a_kernel_without_openat2),
        cmocka_unit_test(what_was_opened_can_be_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
