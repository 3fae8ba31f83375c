/* A crash of the API server. */
#include "cache.h"
#include "tests.h"
#include "world.h"

#include <spawn.h>
#include <sys/wait.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

extern char **environ;

/* --- restarts --- */

static void control_plane(const char *verb, const char *what)
{
    char *argv[] = {getenv("CONTROL_PLANE"), (char *)verb, getenv("CONTROL_PLANE_DIR"),
                    (char *)what, NULL};
    pid_t pid;
    int status;

    assert_non_null(argv[0]);
    assert_int_equal(posix_spawn(&pid, argv[0], NULL, NULL, argv, environ), 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

void test_watch_survives_a_crash_of_the_api_server(void **state)
{
    struct wire_cache c;
    enum rco_code code = RCO_EUNAVAILABLE;

    (void)state;
    wire_cache_init(&c, RCO_LIST_STREAMING, "t=1");
    wire_wait_for("the list", wire_has_synced, &c, 30 * S);
    size_t before = rco_lister_size(rco_informer_store(c.informer));
    control_plane("kill", "apiserver");
    wire_run_for(S);
    control_plane("start", "apiserver");
    for (int i = 0; i < 30 && code != RCO_OK; i++) {
        code = wire_create(RCO_KIND_CONFIGMAP, NS, "after-the-crash", "");
        if (code == RCO_EEXISTS)
            code = RCO_OK;
        if (code != RCO_OK)
            wire_run_for(S);
    }
    assert_int_equal(code, RCO_OK);
    c.want = before + 1;
    wire_wait_for("the object made after the crash", wire_has_adds, &c, 60 * S);
    assert_int_equal(c.deletes, 0);
    print_message("    lists %u, watches %u\n",
                  (unsigned)rco_reflector_counters(rco_informer_reflector(c.informer))->lists,
                  (unsigned)rco_reflector_counters(rco_informer_reflector(c.informer))->watches);
    wire_cache_release(&c);
}
