/* The client and the runtime against a real kube-apiserver: what a fake cannot tell. Needs
 * KUBECONFIG, and CONTROL_PLANE with CONTROL_PLANE_DIR to restart the API server; see client.sh. */
#include "tests.h"
#include "world.h"

#include "base/log.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_version_and_missing_crds_are_told),
        cmocka_unit_test(test_two_thousand_creates_with_the_adaptive_limit),
        cmocka_unit_test(test_A20_list_in_pages_finds_every_object),
        cmocka_unit_test(test_A23_streaming_list_finds_every_object),
        cmocka_unit_test(test_watch_after_a_paged_list_shows_changes),
        cmocka_unit_test(test_watch_after_a_streaming_list_shows_changes),
        cmocka_unit_test(test_object_that_leaves_the_selector_is_deleted_from_the_cache),
        cmocka_unit_test(test_A74_stale_version_is_a_conflict),
        cmocka_unit_test(test_A75_uid_precondition_protects_the_namesake),
        cmocka_unit_test(test_refusals_are_told_apart),
        cmocka_unit_test(test_A15_watch_ends_cleanly_at_its_timeout),
        cmocka_unit_test(test_A4_version_of_the_future_is_recognised),
        cmocka_unit_test(test_leadership_is_handed_over_at_once_and_taken_after_a_crash),
        cmocka_unit_test(test_events_are_accepted),
        cmocka_unit_test(test_watch_survives_a_crash_of_the_api_server),
        cmocka_unit_test(test_A12_expired_version_is_recognised),
    };

    rco_log_setup(RCO_LOG_ERROR, RCO_LOG_TEXT);
    return cmocka_run_group_tests_name("client", tests, wire_set_up, wire_tear_down);
}
