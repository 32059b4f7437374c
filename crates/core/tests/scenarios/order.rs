//! Which calls run in parallel.

use windlass_core::call::outcome::ToolError;

use crate::kit::{Lane, call, calls};

// spec: ROUNDS-02, ROUNDS-04, INV-09
#[test]
fn calls_that_conflict_keep_their_order() {
    Lane::new()
        .prompt("hi")
        .reply(calls([
            call("t1", "write", "/a"),
            call("t2", "read", "/a"),
            call("t3", "read", "/b"),
            call("t4", "write", "/a/deep"),
        ]))
        .calls_are("running ready running ready")
        .wants("run 1.0#1, run 1.2#1")
        .returns(2, "B")
        .calls_are("running ready finished ready")
        .returns(0, "written")
        .calls_are("finished running finished ready")
        .returns(1, "A")
        .records("call_returned result_finalized call_started")
        .returns(3, "deep")
        .shows_last("user: <t1 ok: written> | <t2 ok: A> | <t3 ok: B> | <t4 ok: deep>");
}

#[test]
fn an_exclusive_call_runs_alone() {
    Lane::new()
        .prompt("hi")
        .reply(calls([call("t1", "read", "/a"), call("t2", "bash", "x"), call("t3", "read", "/b")]))
        .calls_are("running ready ready")
        .returns(0, "A")
        .calls_are("finished running ready")
        .returns(1, "X")
        .calls_are("finished finished running");
}

#[test]
fn a_call_behind_a_question_waits_only_if_it_conflicts() {
    Lane::new()
        .prompt("hi")
        .reply(calls([call("t1", "deploy", "x"), call("t2", "read", "/b")]))
        .calls_are("awaiting-human ready")
        .parked()
        .allow()
        .calls_are("running ready");
}

#[test]
fn a_failed_call_lets_the_next_in() {
    Lane::new()
        .prompt("hi")
        .reply(calls([call("t1", "write", "/a"), call("t2", "write", "/a")]))
        .errs(0, ToolError::new("full", "disk full", "free some"))
        .calls_are("finished running");
}

// spec: ROUNDS-06
#[test]
fn no_more_than_the_cap_run_at_once_and_none_is_refused() {
    let ten = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map(|n| call(&format!("t{n}"), "read", "/x"));
    Lane::new()
        .prompt("hi")
        .reply(calls(ten))
        .so(|lane| assert_eq!(windlass_core::wanted(&lane.live).effects.len(), 8))
        .returns(3, "3")
        .so(|lane| assert_eq!(windlass_core::wanted(&lane.live).effects.len(), 8))
        .wants("run 1.0#1, run 1.1#1, run 1.2#1, run 1.4#1, run 1.5#1, run 1.6#1, run 1.7#1, run 1.8#1");
}

#[test]
fn a_cap_of_zero_still_runs_one() {
    Lane::with(|settings| settings.limits.parallel_calls = 0)
        .prompt("hi")
        .reply(calls([call("t1", "read", "/a"), call("t2", "read", "/b")]))
        .calls_are("running ready");
}
