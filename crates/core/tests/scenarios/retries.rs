//! Retries of tool calls, and when there are none.

use windlass_core::call::outcome::{ToolError, ToolOutcome};

use crate::kit::{Lane, call, calls};

fn down() -> ToolError {
    ToolError::new("http_503", "the server is down", "try later").into_transient()
}

// spec: ROUNDS-15, ROUNDS-16, ROUNDS-18
#[test]
fn a_repeatable_call_is_tried_three_times_more() {
    let lane = Lane::new().prompt("hi").reply(calls([call("t1", "fetch", "/a")]));
    lane.errs(0, down())
        .records("call_retry_scheduled")
        .wakes_in(500)
        .wants("")
        .wake()
        .records("call_requeued repeatable_call_started")
        .wants("run 1.0#2")
        .errs(0, down())
        .wakes_in(2_000)
        .wake()
        .errs(0, down())
        .wakes_in(8_000)
        .wake()
        .wants("run 1.0#4")
        .errs(0, down())
        .records("call_returned result_finalized round_closed model_call_started")
        .shows_last("user: <t1 http_503: the server is down>")
        .so(|lane| {
            assert_eq!(lane.count("call_retry_scheduled"), 3);
            assert_eq!(lane.run().counters.tool_calls, 1);
        });
}

#[test]
fn waking_too_early_changes_nothing() {
    let lane = Lane::new().prompt("hi").reply(calls([call("t1", "fetch", "/a")])).errs(0, down());
    lane.wait(100)
        .records_nothing()
        .wait(600)
        .wants("run 1.0#2")
        .returns(0, "A")
        .shows_last("user: <t1 ok: A>");
}

// spec: ROUNDS-15, ROUNDS-17
#[test]
fn nothing_else_is_tried_again() {
    let once = |tool: &str, outcome: ToolOutcome| {
        Lane::new()
            .prompt("hi")
            .reply(calls([call("t1", tool, "/a")]))
            .comes_back(0, outcome)
            .records("call_returned result_finalized round_closed model_call_started");
    };
    once("write", ToolOutcome::Failed(down()));
    once("bash", ToolOutcome::Failed(down()));
    once("fetch", ToolOutcome::Failed(ToolError::new("http_404", "gone", "look elsewhere")));
    once("write", ToolOutcome::TimedOut { after_ms: 120_000 });
    once("bash", ToolOutcome::TimedOut { after_ms: 120_000 });
    once("fetch", ToolOutcome::Interrupted { after_ms: 1 });
}

#[test]
fn a_fatal_failure_is_not_tried_again() {
    Lane::new()
        .prompt("hi")
        .reply(calls([call("t1", "fetch", "/a")]))
        .errs(0, down().into_fatal())
        .ends(windlass_core::stop::StopCause::ToolFatal);
}

// spec: ROUNDS-16
#[test]
fn three_attempts_in_all_can_be_selected() {
    Lane::with(|settings| settings.limits.tool_retry_ms = vec![10, 20])
        .prompt("hi")
        .reply(calls([call("t1", "fetch", "/a")]))
        .errs(0, down())
        .wake()
        .errs(0, down())
        .wake()
        .errs(0, down())
        .records("call_returned result_finalized round_closed model_call_started");
}

#[test]
fn a_stop_ends_the_tries() {
    let resting =
        Lane::new().prompt("hi").reply(calls([call("t1", "fetch", "/a")])).errs(0, down());
    resting
        .cancel()
        .ends(windlass_core::stop::StopCause::UserCancel)
        .shows_last("user: <t1 not_retried: a transient failure was not retried>");
    Lane::new()
        .prompt("hi")
        .reply(calls([call("t1", "fetch", "/a")]))
        .cancel()
        .errs(0, down())
        .shows_last("user: <t1 http_503: the server is down>");
}

#[test]
fn a_pause_keeps_later_conflicting_calls_waiting() {
    Lane::new()
        .prompt("hi")
        .reply(calls([call("t1", "fetch", "/a"), call("t2", "write", "/a")]))
        .errs(0, down())
        .calls_are("awaiting-retry ready")
        .wake()
        .calls_are("running ready")
        .returns(0, "A")
        .calls_are("finished running");
}

#[test]
fn a_crash_in_a_pause_goes_on_waiting() {
    Lane::new()
        .prompt("hi")
        .reply(calls([call("t1", "fetch", "/a")]))
        .errs(0, down())
        .owner_changes()
        .records("owner_changed")
        .calls_are("awaiting-retry")
        .wake()
        .wants("run 1.0#2")
        .returns(0, "A")
        .shows_last("user: <t1 ok: A>");
}

// spec: ROUNDS-16
#[test]
fn the_time_of_the_tool_is_for_all_attempts_together() {
    let fetching = || Lane::new().prompt("hi").reply(calls([call("t1", "fetch", "/a")]));
    fetching()
        .errs_after(60_000, 0, down())
        .records("call_retry_scheduled")
        .wake()
        .so(|lane| assert!((59_000..60_000).contains(&time_left(lane))))
        .errs_after(57_900, 0, down())
        .records("call_returned result_finalized round_closed model_call_started")
        .shows_last("user: <t1 http_503: the server is down>");
    // The pause alone would use up the time.
    fetching()
        .errs_after(119_700, 0, down())
        .records("call_returned result_finalized round_closed model_call_started");
}

fn time_left(lane: &Lane) -> u64 {
    lane.run().round().map_or(0, |round| round.calls[0].remaining_ms())
}

// spec: ROUNDS-16
#[test]
fn a_crash_does_not_begin_the_count_anew() {
    let tried_twice = Lane::new()
        .prompt("hi")
        .reply(calls([call("t1", "fetch", "/a")]))
        .errs_after(1_000, 0, down())
        .wake()
        .errs_after(1_000, 0, down())
        .wake()
        .wants("run 1.0#3");
    let remaining = time_left(&tried_twice);
    // The process dies in the middle of the third attempt, and no owner exists for an hour.
    tried_twice
        .later(3_600_000)
        .owner_changes()
        .wants("run 1.0#3")
        .so(|lane| {
            assert_eq!(time_left(lane), remaining, "what nobody was there for is not counted");
        })
        .errs(0, down())
        .records("call_retry_scheduled")
        .wakes_in(8_000)
        .owner_changes()
        .wake()
        .wants("run 1.0#4")
        .errs(0, down())
        .records("call_returned result_finalized round_closed model_call_started")
        .so(|lane| assert_eq!(lane.count("call_retry_scheduled"), 3));
}

/// A lookup that times out is retried, and all retries together have the tool's time once more.
// spec: ROUNDS-15, ROUNDS-16
#[test]
fn a_repeatable_call_that_times_out_is_tried_again() {
    let out = || ToolOutcome::TimedOut { after_ms: 120_000 };
    let tried = || {
        Lane::new()
            .prompt("hi")
            .reply(calls([call("t1", "fetch", "/a")]))
            .comes_back_after(120_000, 0, out())
            .records("call_retry_scheduled")
            .wakes_in(500)
            .wake()
            .wants("run 1.0#2")
    };
    tried()
        .so(|lane| assert!((119_000..120_000).contains(&time_left(lane))))
        .returns(0, "A")
        .shows_last("user: <t1 ok: A>");
    tried()
        .comes_back_after(119_000, 0, out())
        .records("call_returned result_finalized round_closed model_call_started");
    tried().errs_after(1_000, 0, down()).records("call_retry_scheduled");
}
