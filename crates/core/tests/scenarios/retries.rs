//! Trying a call again, and when not.

use windlass_core::outcome::{Outcome, ToolError};

use crate::kit::{Lane, call, calls};

fn down() -> ToolError {
    ToolError::new("http_503", "the server is down", "try later").passing()
}

// spec: ROUNDS-15, ROUNDS-16, ROUNDS-18
#[test]
fn a_repeatable_call_is_tried_three_times_more() {
    let lane = Lane::new().prompt("hi").reply(calls([call("t1", "fetch", "/a")]));
    lane.errs(0, down())
        .settles("retried")
        .wakes_in(500)
        .wants("")
        .wake()
        .settles("call_cleared launched")
        .wants("run 1.0#2")
        .errs(0, down())
        .wakes_in(2_000)
        .wake()
        .errs(0, down())
        .wakes_in(8_000)
        .wake()
        .wants("run 1.0#4")
        .errs(0, down())
        .settles("completed settled round_closed asked")
        .shows_last("user: <t1 http_503: the server is down>")
        .so(|lane| {
            assert_eq!(lane.count("retried"), 3);
            assert_eq!(lane.run().counters.tool_calls, 1);
        });
}

#[test]
fn waking_too_early_changes_nothing() {
    let lane = Lane::new().prompt("hi").reply(calls([call("t1", "fetch", "/a")])).errs(0, down());
    lane.wait(100)
        .ignored()
        .wait(600)
        .wants("run 1.0#2")
        .returns(0, "A")
        .shows_last("user: <t1 ok: A>");
}

// spec: ROUNDS-15, ROUNDS-17
#[test]
fn nothing_else_is_tried_again() {
    let once = |tool: &str, outcome: Outcome| {
        Lane::new()
            .prompt("hi")
            .reply(calls([call("t1", tool, "/a")]))
            .comes_back(0, outcome)
            .settles("completed settled round_closed asked");
    };
    once("write", Outcome::Failed(down()));
    once("bash", Outcome::Failed(down()));
    once("fetch", Outcome::Failed(ToolError::new("http_404", "gone", "look elsewhere")));
    once("write", Outcome::TimedOut { after_ms: 120_000 });
    once("bash", Outcome::TimedOut { after_ms: 120_000 });
    once("fetch", Outcome::Interrupted { after_ms: 1 });
}

#[test]
fn a_fatal_failure_is_not_tried_again() {
    Lane::new()
        .prompt("hi")
        .reply(calls([call("t1", "fetch", "/a")]))
        .errs(0, down().fatal())
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
        .settles("completed settled round_closed asked");
}

#[test]
fn a_stop_ends_the_tries() {
    let resting =
        Lane::new().prompt("hi").reply(calls([call("t1", "fetch", "/a")])).errs(0, down());
    resting
        .cancel()
        .ends(windlass_core::stop::StopCause::UserCancel)
        .shows_last("user: <t1 not_retried: it failed in passing and was not tried again>");
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
        .calls_are("resting ready")
        .wake()
        .calls_are("running ready")
        .returns(0, "A")
        .calls_are("settled running");
}

#[test]
fn a_crash_in_a_pause_goes_on_waiting() {
    Lane::new()
        .prompt("hi")
        .reply(calls([call("t1", "fetch", "/a")]))
        .errs(0, down())
        .adopted()
        .settles("adopted")
        .calls_are("resting")
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
        .settles("retried")
        .wake()
        .so(|lane| assert!((59_000..60_000).contains(&time_left(lane))))
        .errs_after(57_900, 0, down())
        .settles("completed settled round_closed asked")
        .shows_last("user: <t1 http_503: the server is down>");
    // The pause alone would use it up.
    fetching().errs_after(119_700, 0, down()).settles("completed settled round_closed asked");
}

fn time_left(lane: &Lane) -> u64 {
    lane.run().round().map_or(0, |round| round.calls[0].time_ms())
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
    let left = time_left(&tried_twice);
    // The process dies in the middle of the third attempt, and nobody is there for an hour.
    tried_twice
        .later(3_600_000)
        .adopted()
        .wants("run 1.0#3")
        .so(|lane| assert_eq!(time_left(lane), left, "what nobody was there for is not counted"))
        .errs(0, down())
        .settles("retried")
        .wakes_in(8_000)
        .adopted()
        .wake()
        .wants("run 1.0#4")
        .errs(0, down())
        .settles("completed settled round_closed asked")
        .so(|lane| assert_eq!(lane.count("retried"), 3));
}

/// A lookup that runs into its deadline is tried again, and all that follows has the tool's time once
/// more.
// spec: ROUNDS-15, ROUNDS-16
#[test]
fn a_repeatable_call_that_times_out_is_tried_again() {
    let out = || Outcome::TimedOut { after_ms: 120_000 };
    let tried = || {
        Lane::new()
            .prompt("hi")
            .reply(calls([call("t1", "fetch", "/a")]))
            .comes_back_after(120_000, 0, out())
            .settles("retried")
            .wakes_in(500)
            .wake()
            .wants("run 1.0#2")
    };
    tried()
        .so(|lane| assert!((119_000..120_000).contains(&time_left(lane))))
        .returns(0, "A")
        .shows_last("user: <t1 ok: A>");
    tried().comes_back_after(119_000, 0, out()).settles("completed settled round_closed asked");
    tried().errs_after(1_000, 0, down()).settles("retried");
}
