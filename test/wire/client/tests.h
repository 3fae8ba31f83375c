/* The tests of this folder, in the order in which they run: the last ones restart the API server.
 */
#ifndef RCO_WIRE_CLIENT_TESTS_H
#define RCO_WIRE_CLIENT_TESTS_H

#define OBJECTS 2000

void test_version_and_missing_crds_are_told(void **state);
void test_two_thousand_creates_with_the_adaptive_limit(void **state);
void test_A20_list_in_pages_finds_every_object(void **state);
void test_A23_streaming_list_finds_every_object(void **state);
void test_watch_after_a_paged_list_shows_changes(void **state);
void test_watch_after_a_streaming_list_shows_changes(void **state);
void test_object_that_leaves_the_selector_is_deleted_from_the_cache(void **state);
void test_A74_stale_version_is_a_conflict(void **state);
void test_A75_uid_precondition_protects_the_namesake(void **state);
void test_refusals_are_told_apart(void **state);
void test_A15_watch_ends_cleanly_at_its_timeout(void **state);
void test_A4_version_of_the_future_is_recognised(void **state);
void test_leadership_is_handed_over_at_once_and_taken_after_a_crash(void **state);
void test_events_are_accepted(void **state);
void test_watch_survives_a_crash_of_the_api_server(void **state);
void test_A12_expired_version_is_recognised(void **state);

#endif
