//! The conformance suite that every store must pass: each case is given an empty store and fails by
//! panic or by an error it did not expect.
//!
//! `conformance_tests!` makes a test of each case. Not here: faults that only one engine can have.

pub mod append;
pub mod claim;
pub mod concurrent_lanes;
pub mod documents;
pub mod fence;
pub mod fork;
pub mod inbox;
pub mod log;
pub mod pending;
pub mod reconcile;
pub mod remove;
pub mod reopen;
pub mod retention;
pub mod rows;
pub mod runnable_lanes;
pub mod statistics;
pub mod tenants;
pub mod text;

mod fixtures;

/// Makes a test of every case. `$test` is the attribute that makes an async test; `$open` is an
/// expression that returns an empty `Arc<dyn Store>` and a value to keep alive with it.
#[macro_export]
macro_rules! conformance_tests {
    ($test:meta => $open:expr) => {
        $crate::conformance_tests!(@cases $test => $open;
            inbox: a_key_is_one_message, order_and_marks, a_claim_brings_its_messages,
                hint_after_enqueueing, hint_before_waiting, bad_names_are_refused,
                unknown_lane_has_no_inbox;
            claim: raises_the_epoch, living_owner_is_busy, dead_owner_is_replaced,
                heartbeat_that_moved_is_not_dead, release_frees, stale_release_is_harmless,
                stale_release_of_the_same_worker_is_harmless,
                unknown_lane_cannot_be_claimed;
            fence: old_epoch_writes_nothing, right_epoch_of_another_owner_writes_nothing,
                wrong_head_writes_nothing, released_owner_is_fenced,
                unclaimed_lane_is_fenced, unknown_lane_is_fenced, same_append_twice_lands_once;
            append: lands_whole, rejected_message_undoes_all, message_is_read_once, gap_is_refused, without_entries,
                outbox_makes_lanes, outbox_is_deduplicated;
            log: is_dense_and_paged, unknown_lane, nothing_after_the_end;
            fork: begins_with_the_parent, parent_goes_on_alone, fork_of_a_fork, below_the_parents_fork,
                beyond_the_head, unknown_parent, same_again_is_fine, name_in_use, claim_tells_the_origin;
            rows: run_is_replaced, a_run_keeps_its_description, one_active_run, next_run_in_one_append, run_of_another_lane,
                newest_first, only_runs_that_are_over_have_ended, a_run_is_named_by_a_uuid;
            text: comes_back_byte_for_byte, large_bodies, same_large_body_twice;
            runnable_lanes: unread_messages_make_lanes_runnable, claiming_raises_the_epoch, except_these, families_stay_together,
                due_lanes_wait, claiming_is_bounded,
                any_message_wakes_a_waiting_worker, only_within_reach, registered_once,
                tenants_take_turns, unread_messages_are_hinted_at;
            reconcile: checkpoints_decide, abandoned_lanes_go_on, offered_runs_wait, a_woken_run_is_due,
                each_run_has_its_own_policy,
                what_cannot_go_on_waits_for_a_person, the_living_and_the_waiting;
            pending: a_prompt_is_a_queued_run, a_cancel_that_waits_is_seen, a_cancel_stays_seen,
                workers_say_what_they_serve, a_workspace_is_given_once;
            remove: everything_goes, not_while_it_runs, not_before_its_forks, sub_agents_go_along,
                shared_bodies_stay, unknown_lane_cannot_be_removed;
            statistics: spending_adds_up, a_fenced_append_spends_nothing, spending_of_many_at_once,
                tools_are_counted, events_are_counted, workers_tell_events;
            retention: only_what_is_old, a_piece_at_a_time;
            concurrent_lanes: lanes_at_once, two_owners_one_winner;
            documents: writes_compare_versions, lists_have_filters_and_pages,
                one_of_many_writers_wins, bad_documents_are_refused,
                run_changes_land_with_their_append;
            tenants: queued_prompts_are_limited, lanes_of_others_are_not_found,
                active_runs_are_limited;
        );
    };
    (@cases $test:meta => $open:expr; $($group:ident: $($case:ident),* ;)*) => {
        $(mod $group {
            use super::*;
            $(#[$test]
            async fn $case() {
                let (store, _guard) = $open;
                let outcome = $crate::$group::$case(store).await;
                assert_eq!(outcome, Ok(()));
            })*
        })*
    };
}
