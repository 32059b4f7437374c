//! Permission decisions, and asking a human for approval.

use windlass_core::log::inbox::HumanAnswer;
use windlass_core::permission::{DefaultDecision, HumanAvailability};

use crate::kit::{Lane, call, calls};

// spec: PERMISSIONS-05
#[test]
fn denied_is_answered_and_not_run() {
    Lane::new()
        .prompt("hi")
        .reply(calls([call("t1", "rm", "/a")]))
        .records("model_replied round_opened permission_decided result_finalized round_closed model_call_started")
        .shows_last("user: <t1 denied: the rule rm denies it>");
}

#[test]
fn asked_and_allowed_it_runs() {
    Lane::new()
        .prompt("hi")
        .reply(calls([call("t1", "deploy", "prod")]))
        .records("model_replied round_opened permission_decided question_asked")
        .parked()
        .wants("")
        .allow()
        .records("question_answered permission_decided call_started")
        .not_parked()
        .returns(0, "deployed")
        .shows_last("user: <t1 ok: deployed>");
}

#[test]
fn asked_and_denied_the_model_hears_why() {
    Lane::new()
        .prompt("hi")
        .reply(calls([call("t1", "deploy", "prod")]))
        .deny("not on a Friday")
        .records(
            "question_answered permission_decided result_finalized round_closed model_call_started",
        )
        .shows_last("user: <t1 denied: not on a Friday>");
}

#[test]
fn with_nobody_there_asking_is_denying() {
    Lane::with(|settings| settings.rules.human = HumanAvailability::Absent)
        .prompt("hi")
        .reply(calls([call("t1", "deploy", "prod")]))
        .shows_last(
            "user: <t1 denied: deploy requires approval, and no one is available to approve it>",
        );
}

#[test]
fn what_no_rule_names_falls_to_the_default() {
    let lane = |otherwise| {
        Lane::with(move |settings| {
            settings.rules.ask.clear();
            settings.rules.default_decision = otherwise;
        })
        .prompt("hi")
        .reply(calls([call("t1", "deploy", "prod")]))
    };
    lane(DefaultDecision::Ask).calls_are("awaiting-human");
    lane(DefaultDecision::Allow).calls_are("running");
    lane(DefaultDecision::Deny).shows_last("user: <t1 denied: no permission rule allows deploy>");
}

// spec: TRANSCRIPT-06, LANES-13, PERMISSIONS-13
#[test]
fn while_a_human_is_asked_no_request_is_made() {
    Lane::new()
        .prompt("hi")
        .reply(calls([call("t1", "read", "/a"), call("t2", "deploy", "prod")]))
        .calls_are("running awaiting-human")
        .not_parked()
        .returns(0, "A")
        .records("call_returned result_finalized")
        .parked()
        .wakes_at(None)
        .wait(30 * 24 * 3_600_000)
        .records_nothing()
        .shows(["user: hi"])
        .allow()
        .returns(1, "ok")
        .shows([
            "user: hi",
            "assistant: <read t1> | <deploy t2>",
            "user: <t1 ok: A> | <t2 ok: ok>",
        ]);
}

#[test]
fn two_questions_are_answered_in_any_order() {
    Lane::new()
        .prompt("hi")
        .reply(calls([call("t1", "deploy", "a"), call("t2", "deploy", "b")]))
        .so(|lane| assert_eq!(lane.run().open_questions().count(), 2))
        .answer_to(2, HumanAnswer::deny("no"))
        .records("question_answered permission_decided result_finalized")
        .answer_to(1, HumanAnswer::allow())
        .records("question_answered permission_decided call_started")
        .returns(0, "A")
        .shows_last("user: <t1 ok: A> | <t2 denied: no>");
}

// spec: PERMISSIONS-12
#[test]
fn an_approval_is_for_the_input_that_was_looked_at() {
    let lane = Lane::new().prompt("hi").reply(calls([call("t1", "deploy", "prod")]));
    let input_hash = lane.live.input_hash(lane.call(0)).unwrap();
    let other = lane.clone().answer(HumanAnswer::allow().for_input_hash("another"));
    other.records("command_rejected").command_rejected("input_changed").calls_are("awaiting-human");
    let lane = lane
        .answer(HumanAnswer::allow().for_input_hash(&input_hash))
        .records("question_answered permission_decided call_started");
    // The approval is used up: the next call needs approval again, also if it is the same.
    lane.answer_to(1, HumanAnswer::allow().for_input_hash(&input_hash))
        .command_rejected("question_not_open")
        .returns(0, "ok")
        .reply(calls([call("t2", "deploy", "prod")]))
        .calls_are("awaiting-human")
        .answer_to(1, HumanAnswer::allow().for_input_hash(&input_hash))
        .command_rejected("question_not_open")
        .answer(HumanAnswer::deny("no"))
        .shows_last("user: <t2 denied: no>");
}

// spec: PERMISSIONS-12
#[test]
fn an_approval_expires_only_if_so_configured() {
    let asked = |ms: Option<u64>| {
        let lane = Lane::with(|settings| settings.limits.approval_ms = ms);
        lane.prompt("hi").reply(calls([call("t1", "read", "/a"), call("t2", "deploy", "b")]))
    };
    asked(None)
        .returns(0, "A")
        .parked()
        .wakes_at(None)
        .later(u64::MAX / 2)
        .allow()
        .records("question_answered permission_decided call_started");
    let lane = asked(Some(60_000)).returns(0, "A").parked();
    let due = Some(lane.now.plus_ms(59_999));
    let lane = lane.wakes_at(due);
    lane.clone().later(59_000).allow().records("question_answered permission_decided call_started");
    // The timer fires, or the answer itself arrives too late.
    let gone = "user: <t1 ok: A> | <t2 denied: the call was not approved in time; it was not run>";
    lane.clone()
        .wake()
        .records("permission_decided result_finalized round_closed model_call_started")
        .shows_last(gone);
    lane.later(60_000)
        .allow()
        .records("command_rejected")
        .command_rejected("question_expired")
        .wake()
        .records("permission_decided result_finalized round_closed model_call_started")
        .shows_last(gone)
        .allow()
        .command_rejected("question_not_open");
}

#[test]
fn only_leave_expires() {
    let asks = |tool: &str| {
        let lane = Lane::with(|settings| settings.limits.approval_ms = Some(1_000));
        lane.prompt("hi").reply(calls([call("t1", tool, "x")]))
    };
    asks("ask_human").parked().wakes_at(None);
    asks("write").owner_changes().parked().wakes_at(None);
}
