/* Errors, and files with their caps. */
#include "base/error.h"
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

static void an_error_reads_as_a_sentence_from_outside_in(void **state)
{
    struct rco_error err = RCO_ERROR_INIT;
    assert_int_equal(rco_error_set(&err, RCO_EINVALID, "%s is empty", "name"), -1);
    assert_int_equal(rco_error_wrap(&err, "read %s", "the file"), -1);
    assert_string_equal(err.msg, "read the file: name is empty");
    assert_int_equal(err.code, RCO_EINVALID);
    assert_int_equal(rco_error_errno(&err, ENOENT, "open %s", "x"), -1);
    assert_int_equal(err.code, RCO_ENOTFOUND);
    assert_string_equal(err.msg, "open x: No such file or directory");
}

static void a_message_that_is_too_long_is_cut_and_never_overflows(void **state)
{
    struct {
        struct rco_error err;
        char guard[8];
    } x = {.guard = "guard"};
    char text[2000];
    memset(text, 'a', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    rco_error_set(&x.err, RCO_EIO, "%s", text);
    assert_int_equal(strlen(x.err.msg), RCO_ERROR_MSG_MAX - 1);
    for (int i = 0; i < 5; i++)
        rco_error_wrap(&x.err, "step %d", i);
    assert_true(strlen(x.err.msg) < RCO_ERROR_MSG_MAX);
    assert_int_equal(strncmp(x.err.msg, "step 4: step 3: ", 16), 0);
    rco_error_errno(&x.err, EIO, "%s", text);
    assert_string_equal(x.guard, "guard");
}

static void every_code_has_a_name_and_hopeless_ones_are_not_tried_again(void **state)
{
    for (int c = RCO_OK; c < RCO_CODE_COUNT; c++)
        assert_true(rco_code_name(c) && *rco_code_name(c));
    assert_string_equal(rco_code_name((enum rco_code)99), "Unknown");
    assert_true(rco_error_is_retryable(&(struct rco_error){.code = RCO_EUNAVAILABLE}));
    assert_false(rco_error_is_retryable(&(struct rco_error){.code = RCO_EINVALID}));
    assert_false(rco_error_is_retryable(&(struct rco_error){.code = RCO_EFORBIDDEN}));
}

static char dir[64];

static int make_dir(void **state)
{
    snprintf(dir, sizeof(dir), "/tmp/rco-test-XXXXXX");
    return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
    static const char *const names[] = {"a", "b"};
    char path[128];
    for (size_t i = 0; i < 2; i++) {
        snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
        unlink(path);
    }
    return rmdir(dir); /* fails when anything was left behind */
}

static void a_file_is_replaced_whole_and_read_up_to_its_cap(void **state)
{
    rco_autobuf out = RCO_BUF_INIT;
    struct rco_error err = RCO_ERROR_INIT;
    struct stat st;
    char path[128];
    snprintf(path, sizeof(path), "%s/a", dir);
    assert_int_equal(rco_file_write_atomic(path, "old text", 8, 0644, &err), 0);
    assert_int_equal(rco_file_write_atomic(path, "new", 3, 0600, &err), 0);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    rco_buf_adds(&out, ">");
    assert_int_equal(rco_file_read(path, 3, &out, &err), 0);
    assert_string_equal(out.data, ">new");
    assert_int_equal(rco_file_read(path, 2, &out, &err), -1);
    assert_int_equal(err.code, RCO_ETOOBIG);
    assert_int_equal(rco_file_read("/nonexistent", 2, &out, &err), -1);
    assert_int_equal(err.code, RCO_ENOTFOUND);
}

static void an_exclusive_file_is_made_once(void **state)
{
    struct rco_error err = RCO_ERROR_INIT;
    char path[128];
    snprintf(path, sizeof(path), "%s/b", dir);
    assert_int_equal(rco_file_create_excl(path, "go", 2, 0444, &err), 0);
    assert_int_equal(rco_file_create_excl(path, "go", 2, 0444, &err), -1);
    assert_int_equal(err.code, RCO_EEXISTS);
}

static void a_directory_that_is_not_there_leaves_an_error_with_its_name(void **state)
{
    struct rco_error err = RCO_ERROR_INIT;
    assert_int_equal(rco_file_write_atomic("/nonexistent/x", "a", 1, 0600, &err), -1);
    assert_non_null(strstr(err.msg, "/nonexistent/x"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_error_reads_as_a_sentence_from_outside_in),
        cmocka_unit_test(a_message_that_is_too_long_is_cut_and_never_overflows),
        cmocka_unit_test(every_code_has_a_name_and_hopeless_ones_are_not_tried_again),
        cmocka_unit_test(a_file_is_replaced_whole_and_read_up_to_its_cap),
        cmocka_unit_test(an_exclusive_file_is_made_once),
        cmocka_unit_test(a_directory_that_is_not_there_leaves_an_error_with_its_name),
    };
    return cmocka_run_group_tests_name("error", tests, make_dir, remove_dir);
}
