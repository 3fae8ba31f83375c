/* Log lines, as a program that reads them sees them: each in a child whose stderr is a pipe. */
#include "base/log.h"

#include "base/buf.h"

#include <json-c/json.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* What WRITE prints to stderr. */
static void capture(void (*write_lines)(void), struct rco_buf *out)
{
    int fds[2];
    assert_int_equal(pipe(fds), 0);
    pid_t pid = fork();
    if (pid == 0) {
        dup2(fds[1], STDERR_FILENO);
        close(fds[0]);
        close(fds[1]);
        write_lines();
        _exit(0);
    }
    close(fds[1]);
    char chunk[4096];
    ssize_t n;
    while ((n = read(fds[0], chunk, sizeof(chunk))) > 0)
        rco_buf_add(out, chunk, (size_t)n);
    close(fds[0]);
    int status;
    waitpid(pid, &status, 0);
    assert_int_equal(status, 0);
}

static void hostile_line(void)
{
    rco_log_setup(RCO_LOG_INFO, RCO_LOG_JSON);
    rco_log(RCO_LOG_DEBUG, "not seen");
    rco_log(RCO_LOG_WARN, "run \"failed\"", RCO_S("name", "a\"\\\n\t\x01\x7f b"),
            RCO_N("count", -7), RCO_S("null", NULL));
}

static void a_json_line_is_one_object_whatever_it_holds(void **state)
{
    rco_autobuf out = RCO_BUF_INIT;
    capture(hostile_line, &out);
    assert_int_equal(strchr(out.data, '\n') - out.data, (ptrdiff_t)out.len - 1);
    struct json_object *o = json_tokener_parse(out.data);
    assert_non_null(o);
    struct json_object *v;
    assert_true(json_object_object_get_ex(o, "msg", &v));
    assert_string_equal(json_object_get_string(v), "run \"failed\"");
    assert_true(json_object_object_get_ex(o, "name", &v));
    assert_string_equal(json_object_get_string(v), "a\"\\\n\t\x01\x7f b");
    assert_true(json_object_object_get_ex(o, "count", &v));
    assert_int_equal(json_object_get_int64(v), -7);
    assert_true(json_object_object_get_ex(o, "level", &v));
    assert_string_equal(json_object_get_string(v), "warn");
    json_object_put(o);
}

static void text_lines(void)
{
    rco_log_setup(RCO_LOG_DEBUG, RCO_LOG_TEXT);
    rco_log(RCO_LOG_DEBUG, "lease acquired", RCO_S("lease", "x y"), RCO_N("transitions", 3));
}

static void a_text_line_quotes_its_values(void **state)
{
    rco_autobuf out = RCO_BUF_INIT;
    capture(text_lines, &out);
    assert_non_null(strstr(out.data, "Z debug lease acquired lease=\"x y\" transitions=3\n"));
}

static void long_line(void)
{
    static char bytes[100000];
    const char *text = memset(bytes, 'a', sizeof(bytes) - 1);
    rco_log_setup(RCO_LOG_INFO, RCO_LOG_TEXT);
    rco_log(RCO_LOG_ERROR, "long", RCO_S("a", text), RCO_S("b", text), RCO_S("c", text),
            RCO_S("d", text), RCO_S("e", text));
}

static void a_long_line_is_cut(void **state)
{
    rco_autobuf out = RCO_BUF_INIT;
    capture(long_line, &out);
    assert_in_range(out.len, 4096, 8192);
    assert_int_equal(out.data[out.len - 1], '\n');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_json_line_is_one_object_whatever_it_holds),
        cmocka_unit_test(a_text_line_quotes_its_values),
        cmocka_unit_test(a_long_line_is_cut),
    };
    return cmocka_run_group_tests_name("log", tests, NULL, NULL);
}
