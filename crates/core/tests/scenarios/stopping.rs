//! Cancel and abort, in each phase.

use std::sync::Arc;

use windlass_core::log::ids::RunId;
use windlass_core::log::inbox::{HumanAnswer, InboxCommand};
use windlass_core::log::input::{FailureClass, ProbeResult};
use windlass_core::stop::StopCause;

use crate::kit::{Lane, call, calls, passing, text};

fn cancelled(lane: Lane) -> Lane {
    lane.ends(StopCause::UserCancel).saying("")
}

// spec: LANES-07
#[test]
fn cancel_while_asking_waits_for_the_reply() {
    let lane = || Lane::new().prompt("hi").cancel().records("cancel_requested").wants("model 1");
    cancelled(lane().reply(calls([call("t1", "write", "/a")])))
        .shows(["user: hi"])
        .so(|lane| assert_eq!(lane.count("call_started"), 0));
    // A finished answer is never lost.
    lane()
        .reply(text("done"))
        .ends(StopCause::EndTurn)
        .also([StopCause::UserCancel])
        .saying("done");
    cancelled(lane().fails(passing(FailureClass::Transient)));
    cancelled(lane().reply(text("half").stop("max_tokens")));
}

#[test]
fn abort_while_asking_ends_at_once_and_charges() {
    cancelled(Lane::new().prompt("hi").abort())
        .records("cancel_requested model_call_abandoned run_finished")
        .so(|lane| assert!(lane.ended().counters.usage.output_tokens == 4_096))
        .reply_to(1, text("late"))
        .records_nothing();
}

// spec: LANES-07, LANES-08
#[test]
fn cancel_while_acting_lets_what_flies_land() {
    let lane = Lane::new()
        .prompt("hi")
        .reply(calls([
            call("t1", "write", "/a"),
            call("t2", "write", "/a"),
            call("t3", "deploy", "x"),
        ]))
        .calls_are("running ready awaiting-human")
        .cancel()
        .records("cancel_requested result_finalized result_finalized")
        .wants("run 1.0#1");
    cancelled(lane.returns(0, "written")).records("call_returned result_finalized round_closed run_finished").shows_last(
        "user: <t1 ok: written> | <t2 skipped: the run was cancelled before this call ran> | <t3 \
         skipped: the run was cancelled before this call ran>",
    );
}

#[test]
fn abort_while_acting_stops_what_may_be_stopped() {
    let lane = Lane::new()
        .prompt("hi")
        .reply(calls([call("t1", "sleep", "/s"), call("t2", "write", "/a")]))
        .wait(2_500)
        .abort()
        .records("cancel_requested result_finalized")
        .wants("run 1.1#1");
    cancelled(lane.returns(1, "A")).shows_last(
        "user: <t1 interrupted: interrupted after 2.5 s; it changes nothing> | <t2 ok: A>",
    );
    let lane = Lane::new().prompt("hi").reply(calls([call("t1", "bash", "x")])).abort();
    cancelled(lane).shows_last("user: <t1 interrupted: interrupted after 0.0 s; effects unknown>");
}

#[test]
fn a_cancel_can_become_an_abort_and_not_the_other_way() {
    let lane = Lane::new().prompt("hi").reply(calls([call("t1", "bash", "x")]));
    lane.clone().cancel().cancel().command_rejected("already_stopping");
    cancelled(lane.clone().cancel().abort());
    let stubborn = Lane::new().prompt("hi").reply(calls([call("t1", "write", "/x")]));
    cancelled(stubborn.abort().cancel().command_rejected("already_stopping").returns(0, "A"));
}

#[test]
fn stopping_while_the_provider_is_down_ends_at_once() {
    let down =
        || Lane::new().prompt("hi").fails(passing(FailureClass::Transient)).phase("awaiting_retry");
    cancelled(down().cancel());
    cancelled(down().abort());
}

// spec: LANES-12
#[test]
fn stopping_while_a_human_is_asked_ends_at_once() {
    for tool in ["deploy", "ask_human"] {
        let lane = || Lane::new().prompt("hi").reply(calls([call("t1", tool, "x")])).parked();
        cancelled(lane().cancel())
            .records("cancel_requested result_finalized round_closed run_finished");
        cancelled(lane().abort());
    }
}

/// The approval and the cancel are read together: the call does not start in between.
#[test]
fn an_approval_that_is_followed_by_a_cancel_starts_nothing() {
    for run in [None, Some(RunId::from("run-1"))] {
        let lane = Lane::new().prompt("hi").reply(calls([call("t1", "deploy", "x")])).parked();
        let question = lane.live.question_count;
        let approval = InboxCommand::answer(question, HumanAnswer::allow());
        cancelled(lane.send_commands(vec![approval, InboxCommand::Cancel { run }])).records(
            "command_rejected cancel_requested result_finalized round_closed run_finished",
        );
    }
}

// spec: LANES-12
#[test]
fn a_cancel_waits_three_minutes_for_a_human_who_knows_more() {
    let lost = || {
        Lane::new().prompt("hi").reply(calls([call("t1", "write", "/a")])).owner_changes().parked()
    };
    let waiting = lost().cancel().records("cancel_requested").wakes_in(180_000);
    waiting.clone().wait(170_000).records_nothing();
    cancelled(waiting.clone().wake()).shows_last(
        "user: <t1 interrupted: the process ended while the call ran; effects unknown>",
    );
    cancelled(waiting.answer(HumanAnswer::MarkDone { text: Arc::from("it was written") }))
        .shows_last("user: <t1 ok: it was written>");
    // An answer that would run it again comes too late for that.
    cancelled(lost().cancel().answer(HumanAnswer::Retry {}))
        .shows_last("user: <t1 skipped: the run was cancelled before this call ran>");
}

#[test]
fn a_cancel_waits_for_a_probe() {
    let lane =
        Lane::new().prompt("hi").reply(calls([call("t1", "send", "x")])).owner_changes().cancel();
    let lane = lane.records("cancel_requested").wants("probe 1.0");
    cancelled(lane.clone().probe(0, ProbeResult::Happened { text: Arc::from("sent") }))
        .shows_last("user: <t1 ok: sent>");
    cancelled(lane.clone().probe(0, ProbeResult::DidNotHappen {}))
        .shows_last("user: <t1 skipped: the run was cancelled before this call ran>");
    cancelled(lane.probe(0, ProbeResult::Unknown {}).records("question_asked").wake());
}

#[test]
fn stopping_a_halted_run_ends_it() {
    let halted = || Lane::new().prompt("hi").owner_changes_with_hash("other").phase("paused");
    cancelled(halted().cancel());
    cancelled(halted().abort());
    let acting = || {
        let lane = Lane::new().prompt("hi").reply(calls([call("t1", "read", "/a")]));
        lane.owner_changes_with_hash("other").phase("paused")
    };
    cancelled(acting().cancel())
        .shows_last("user: <t1 skipped: the run was cancelled before this call ran>");
    cancelled(acting().answer(HumanAnswer::Continue {}).abort());
}

#[test]
fn a_cancel_before_the_crash_holds_after_it() {
    let lane = || Lane::new().prompt("hi").cancel();
    cancelled(lane().owner_changes()).records("owner_changed model_call_abandoned run_finished");
    // Nothing will run any more, so the prompt change needs no question.
    cancelled(lane().owner_changes_with_hash("other"));
    let acting = Lane::new()
        .prompt("hi")
        .reply(calls([call("t1", "read", "/a"), call("t2", "write", "/b")]));
    cancelled(
        acting
            .cancel()
            .owner_changes_with_hash("other")
            .records("owner_changed call_lost question_asked result_finalized")
            .wake(),
    );
}

#[test]
fn a_stop_for_no_run_is_refused() {
    Lane::new().cancel().command_rejected("no_such_run");
    Lane::new().abort().command_rejected("no_such_run");
    Lane::new().prompt("hi").cancel_run("run-7").command_rejected("no_such_run");
    Lane::new().prompt("hi").reply(text("a")).cancel_run("run-1").command_rejected("no_such_run");
}

#[test]
fn a_cancel_by_name_finds_its_run() {
    cancelled(Lane::new().prompt("hi").cancel_run("run-1").reply(text("x").stop("max_tokens")));
}
