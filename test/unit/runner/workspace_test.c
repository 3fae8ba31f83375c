#include "workspace.h"

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

static char *make_dir(void)
{
    char *path = strdup("/tmp/rco-workspace-XXXXXX");
    assert_non_null(mkdtemp(path));
    return path;
}

static void put(const char *dir, const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void make(const char *dir, const char *name)
{
    char path[256];
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    assert_int_equal(mkdir(path, 0755), 0);
}

static void digest(const char *dir, struct rco_workspace *w)
{
    struct rco_error err = RCO_ERROR_INIT;
    if (rco_workspace_digest(dir, w, &err) < 0)
        fail_msg("%s", err.msg);
}

static void the_manifest_lists_what_counts(void **state)
{
    char *dir = make_dir();
    rco_autoworkspace w = {0};
    make(dir, "a");
    make(dir, ".git");
    make(dir, "a/node_modules");
    put(dir, "a/node_modules/x.js", "x");
    put(dir, ".git/HEAD", "x");
    put(dir, "a/odd\nname\\", "");
    put(dir, "b", "abc");
    digest(dir, &w);
    static const char empty[] = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    static const char abc[] = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    const char *text = rco_buf_str(&w.manifest);
    assert_true(strncmp(text, "d - a\nt ", 8) == 0);
    assert_non_null(strstr(text, " a/node_modules\n"));
    assert_null(strstr(text, "x.js"));
    assert_null(strstr(text, ".git"));
    char want[256];
    snprintf(want, sizeof(want), "f %s a/odd\\nname\\\\\nf %s b\n", empty, abc);
    assert_non_null(strstr(text, want));

    char before[RCO_SHA256_HEX];
    strcpy(before, w.digest);
    rco_workspace_release(&w);
    put(dir, "a/node_modules/x.js", "y");
    digest(dir, &w);
    assert_string_not_equal(before, w.digest);
    struct rco_error err = RCO_ERROR_INIT;
    assert_int_equal(rco_workspace_remove(dir, &err), 0);
    assert_int_equal(rco_workspace_remove(dir, &err), 0); /* nothing there is fine */
    assert_int_equal(access(dir, F_OK), -1);
    free(dir);
}

static void devices_and_pipes_are_refused_by_name(void **state)
{
    char *dir = make_dir(), path[256];
    rco_autoworkspace w = {0};
    struct rco_error err = RCO_ERROR_INIT;
    snprintf(path, sizeof(path), "%s/pipe", dir);
    assert_int_equal(mkfifo(path, 0644), 0);
    assert_int_equal(rco_workspace_digest(dir, &w, &err), -1);
    assert_non_null(strstr(err.msg, "pipe is neither a file"));
    assert_int_equal(rco_workspace_remove(dir, &err), 0);
    free(dir);
}

static void removal_does_not_follow_links(void **state)
{
    char *dir = make_dir(), *other = make_dir(), path[256], kept[256];
    struct rco_error err = RCO_ERROR_INIT;
    put(other, "kept", "x");
    snprintf(path, sizeof(path), "%s/link", dir);
    snprintf(kept, sizeof(kept), "%s/kept", other);
    assert_int_equal(symlink(other, path), 0);
    assert_int_equal(rco_workspace_remove(dir, &err), 0);
    assert_int_equal(access(kept, F_OK), 0);
    assert_int_equal(rco_workspace_remove(other, &err), 0);
    free(dir);
    free(other);
}

static void difference_is(const char *want, const char *got, const char *path)
{
    rco_autobuf out = RCO_BUF_INIT;
    rco_workspace_first_difference(want, got, &out);
    assert_string_equal(rco_buf_str(&out), path);
}

static void the_first_difference_is_a_path(void **state)
{
    difference_is("f 1 a\nf 2 b\n", "f 1 a\nf 2 b\n", "");
    difference_is("f 1 a\nf 2 b\n", "f 1 a\nf 3 b\n", "b");
    difference_is("f 1 a\nf 2 b\n", "x 1 a\nf 2 b\n", "a");
    difference_is("f 1 a\nf 2 b\n", "f 1 a\n", "b");
    difference_is("f 1 a\n", "f 1 a\nf 2 b c\n", "b c");
    difference_is("f 1 a\nf 2 c\n", "f 1 a\nf 2 b\nf 2 c\n", "b");
    difference_is("f 1 a\nf 2 b\nf 2 c\n", "f 1 a\nf 2 c\n", "b");
    difference_is("", "f 1 a\n", ""); /* one is not recorded */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_manifest_lists_what_counts),
        cmocka_unit_test(devices_and_pipes_are_refused_by_name),
        cmocka_unit_test(removal_does_not_follow_links),
        cmocka_unit_test(the_first_difference_is_a_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
