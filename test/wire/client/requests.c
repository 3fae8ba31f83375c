/* Single requests: versions, refusals, preconditions. */
#include "tests.h"
#include "world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static int v_minor;
static bool v_done;

static void on_version(void *ctx, int major, int minor, const char *git,
                       const struct rco_error *err)
{
    (void)ctx;
    assert_null(err);
    assert_int_equal(major, 1);
    print_message("    %s\n", git);
    v_minor = minor;
    v_done = true;
}

void test_version_and_missing_crds_are_told(void **state)
{
    (void)state;
    rco_kube_version(wire.client, on_version, NULL);
    wire_wait_for("version", wire_is_true, &v_done, 10 * S);
    assert_true(v_minor >= RCO_KUBE_MIN_MINOR);
    wire.answered = false;
    rco_kube_check_crd(wire.client, RCO_KIND_RUN, wire_on_answer, &wire);
    wire_wait_for("an answer", wire_is_true, &wire.answered, 10 * S);
    assert_int_equal(wire.code, RCO_ENOTFOUND);
    assert_non_null(strstr(wire.msg, "provisioningruns.runtimecloud.io"));
    wire.answered = false;
    rco_kube_check_crd(wire.client, RCO_KIND_JOB, wire_on_answer, &wire);
    wire_wait_for("an answer", wire_is_true, &wire.answered, 10 * S);
    assert_int_equal(wire.code, RCO_OK);
}

void test_A74_stale_version_is_a_conflict(void **state)
{
    char old[64];

    (void)state;
    assert_int_equal(wire_get("object-0010"), RCO_OK);
    memcpy(old, wire.rv, sizeof(old));
    assert_int_equal(wire_patch("object-0010", old, "x"), RCO_OK);
    assert_int_equal(wire_patch("object-0010", old, "y"), RCO_ECONFLICT);
}

void test_A75_uid_precondition_protects_the_namesake(void **state)
{
    char first[64];

    (void)state;
    assert_int_equal(wire_create(RCO_KIND_CONFIGMAP, NS, "namesake", ""), RCO_OK);
    memcpy(first, wire.uid, sizeof(first));
    assert_int_equal(wire_delete("namesake", first), RCO_OK);
    assert_int_equal(wire_create(RCO_KIND_CONFIGMAP, NS, "namesake", ""), RCO_OK);
    assert_int_equal(wire_delete("namesake", first), RCO_ECONFLICT);
    assert_int_equal(wire_get("namesake"), RCO_OK);
    assert_int_equal(wire_delete("namesake", wire.uid), RCO_OK);
    assert_int_equal(wire_get("namesake"), RCO_ENOTFOUND);
}

void test_refusals_are_told_apart(void **state)
{
    (void)state;
    assert_int_equal(wire_create(RCO_KIND_CONFIGMAP, NS, "object-0000", ""), RCO_EEXISTS);
    assert_int_equal(wire_create(RCO_KIND_CONFIGMAP, NS, "Not_A_Name", ""), RCO_EINVALID);
    assert_int_equal(wire_create(RCO_KIND_CONFIGMAP, NS, "x", ",\"data\":5"), RCO_EINVALID);
    assert_int_equal(wire_create(RCO_KIND_CONFIGMAP, "no-such-namespace", "x", ""), RCO_ENOTFOUND);
    assert_int_equal(wire_get("never-was"), RCO_ENOTFOUND);
}
