//! Owner changes (crash recovery), in each phase.

use std::sync::Arc;

use windlass_core::log::inbox::HumanAnswer;
use windlass_core::log::input::{FailureClass, ProbeResult};
use windlass_core::message::raw_json::RawJson;
use windlass_core::stop::StopCause;

use crate::kit::{Lane, call, calls, passing, settings, text};

// spec: RESUME-01, BUDGETS-04
#[test]
fn a_model_call_in_the_air_is_charged_and_made_again() {
    Lane::new()
        .prompt("hi")
        .owner_changes()
        .records("owner_changed model_call_abandoned model_call_started")
        .wants("model 2")
        .so(|lane| {
            assert_eq!(lane.run().id.as_str(), "run-1");
            assert_eq!(lane.run().counters.model_calls, 2);
            assert!(lane.run().counters.usage.output_tokens == 4_096);
            assert_eq!(lane.live.epoch, 2);
        })
        .reply_to(1, text("from the dead"))
        .records_nothing()
        .reply(text("hello"))
        .ends(StopCause::EndTurn)
        .shows(["user: hi", "assistant: hello"]);
}

// spec: RESUME-02, RESUME-03, RESUME-04
// spec: FAULT-05, FAULT-08, FAULT-09
#[test]
fn what_is_done_is_kept_and_what_is_not_is_run() {
    Lane::new()
        .prompt("hi")
        .reply(calls([
            call("t1", "write", "/a"),
            call("t2", "read", "/b"),
            call("t3", "write", "/a"),
        ]))
        .calls_are("running running ready")
        .returns(0, "written")
        .calls_are("finished running running")
        .crash()
        .calls_are("finished ready running")
        .owner_changes()
        .records("owner_changed call_lost question_asked repeatable_call_started")
        .calls_are("finished running awaiting-human")
        .returns(1, "B")
        .answer(HumanAnswer::MarkDone { text: Arc::from("done before") })
        .shows_last("user: <t1 ok: written> | <t2 ok: B> | <t3 ok: done before>")
        .so(|lane| assert_eq!(lane.count("call_started"), 2));
}

// spec: RESUME-06
#[test]
fn a_once_only_call_in_the_air_is_asked_about() {
    let lost = Lane::new().prompt("hi").reply(calls([call("t1", "write", "/a")])).owner_changes();
    let lost = lost.records("owner_changed call_lost question_asked").parked().wants("");
    lost.clone()
        .answer(HumanAnswer::Retry {})
        .records("question_answered call_requeued call_started")
        .wants("run 1.0#2")
        .returns(0, "A")
        .shows_last("user: <t1 ok: A>");
    // Other arguments need what an approval needs.
    let changed =
        HumanAnswer::allow().with_changed_input(RawJson::parse(r#"{"path":"/b"}"#).unwrap());
    lost.clone()
        .allow_assessed(0, changed)
        .records("question_answered call_input_changed permission_decided call_started")
        .returns(0, "B")
        .shows_last("user: <t1 ok: B>");
    lost.clone().allow().command_rejected("answer_not_accepted").parked();
    lost.clone()
        .answer(HumanAnswer::MarkDone { text: Arc::from("it was written") })
        .records("question_answered result_finalized round_closed model_call_started")
        .shows_last("user: <t1 ok: it was written>");
    lost.answer(HumanAnswer::Abandon {})
        .records("question_answered result_finalized round_closed model_call_started")
        .shows_last(
            "user: <t1 interrupted: the process ended while the call ran; effects unknown>",
        );
}

// spec: RESUME-05
#[test]
fn a_tool_that_can_tell_is_asked_first() {
    let lost = Lane::new().prompt("hi").reply(calls([call("t1", "send", "x")])).owner_changes();
    let lost = lost.records("owner_changed call_lost").not_parked().wants("probe 1.0");
    lost.clone()
        .probe(0, ProbeResult::Happened { text: Arc::from("sent") })
        .records("result_finalized round_closed model_call_started")
        .shows_last("user: <t1 ok: sent>");
    lost.clone()
        .probe(0, ProbeResult::DidNotHappen {})
        .records("call_requeued call_started")
        .wants("run 1.0#2");
    lost.clone().probe(0, ProbeResult::Unknown {}).records("question_asked").parked();
    // Again after a second crash.
    lost.owner_changes().records("owner_changed").wants("probe 1.0");
}

#[test]
fn what_a_probe_found_is_cut_like_any_result() {
    let lost = Lane::new().prompt("hi").reply(calls([call("t1", "send", "x")])).owner_changes();
    lost.probe(0, ProbeResult::Happened { text: Arc::from("long ".repeat(20_000)) }).so(|lane| {
        let output = crate::kit::messages(&lane.live).pop().unwrap();
        assert!(output.chars().count() < 32_100);
    });
}

#[test]
fn a_finding_nobody_asked_for_changes_nothing() {
    let lane = Lane::new().prompt("hi").reply(calls([call("t1", "send", "x")]));
    lane.probe(0, ProbeResult::DidNotHappen {}).records_nothing();
}

#[test]
fn a_question_stays_open_over_crashes() {
    Lane::new()
        .prompt("hi")
        .reply(calls([call("t1", "deploy", "x")]))
        .owner_changes()
        .records("owner_changed")
        .parked()
        .owner_changes()
        .parked()
        .answer_to(1, HumanAnswer::allow())
        .records("question_answered permission_decided call_started");
}

#[test]
fn a_pause_for_the_provider_goes_on() {
    Lane::new()
        .prompt("hi")
        .fails(passing(FailureClass::Transient))
        .owner_changes()
        .records("owner_changed")
        .phase("awaiting_retry")
        .wake()
        .wants("model 2");
}

#[test]
fn nothing_to_adopt_is_no_entry() {
    Lane::new().owner_changes().records_nothing();
    Lane::new().prompt("hi").reply(text("a")).owner_changes_with_hash("other").records_nothing();
}

#[test]
fn a_changed_prompt_halts_the_run_and_asks() {
    let halted = Lane::new().prompt("hi").owner_changes_with_hash("other");
    let halted = halted
        .records("owner_changed model_call_abandoned question_asked")
        .phase("paused")
        .parked();
    halted.clone().wants("").wait(1_000_000).records_nothing();
    let mut changed = settings();
    changed.system = Arc::from("You haul faster.");
    halted
        .clone()
        .configure(changed.clone())
        .records_nothing()
        .answer(HumanAnswer::Continue {})
        .records("question_answered prompt_change_accepted")
        .not_parked()
        .wants("record settings")
        .configure(changed)
        .records("configured model_call_started")
        .reply(text("on"))
        .ends(StopCause::EndTurn);
    halted
        .answer(HumanAnswer::Abandon {})
        .records("question_answered cancel_requested run_finished")
        .ends(StopCause::UserCancel);
}

#[test]
fn a_changed_prompt_halts_an_open_round_too() {
    let acting = Lane::new()
        .prompt("hi")
        .reply(calls([call("t1", "read", "/a"), call("t2", "write", "/b")]));
    let halted = acting.returns(1, "B").owner_changes_with_hash("other");
    let halted = halted
        .records("owner_changed question_asked")
        .calls_are("ready finished")
        .wants("")
        .parked();
    halted
        .clone()
        .answer(HumanAnswer::Continue {})
        .configure(settings())
        .records("configured repeatable_call_started")
        .phase("running_tools")
        .returns(0, "A")
        .shows_last("user: <t1 ok: A> | <t2 ok: B>");
    halted
        .answer(HumanAnswer::Abandon {})
        .ends(StopCause::UserCancel)
        .shows_last("user: <t1 skipped: the run was cancelled before this call ran> | <t2 ok: B>");
}

// spec: RESUME-10
#[test]
fn a_drift_names_what_changed() {
    let mut other = settings();
    other.system = "You drop.".into();
    other.tools.pop();
    let lane = Lane::new().prompt("hi").owner_changes_with_settings(&other).parked();
    let asked = format!("{:?}", lane.run().human_pause().unwrap().question.kind);
    assert!(
        asked.contains("system prompt changed (") && asked.contains("missing tools: send"),
        "{asked}"
    );
    // The same owner without changes asks no question.
    Lane::new().prompt("hi").owner_changes_with_settings(&settings()).wants("model 2");
}

#[test]
fn a_drift_that_went_away_asks_nobody() {
    Lane::new()
        .prompt("hi")
        .owner_changes_with_hash("other")
        .owner_changes()
        .records("owner_changed prompt_change_accepted")
        .wants("record settings")
        .configure(settings())
        .records("configured model_call_started");
    Lane::new()
        .prompt("hi")
        .owner_changes_with_hash("other")
        .owner_changes_with_hash("third")
        .records("owner_changed")
        .parked();
}

#[test]
fn lost_calls_of_a_halted_run_are_cleared_up_and_wait() {
    Lane::new()
        .prompt("hi")
        .reply(calls([call("t1", "send", "x"), call("t2", "write", "/b")]))
        .owner_changes_with_hash("other")
        .records("owner_changed call_lost call_lost question_asked question_asked")
        .wants("probe 1.0")
        .probe(0, ProbeResult::DidNotHappen {})
        .records("call_requeued")
        .wants("")
        .answer_to(1, HumanAnswer::Retry {})
        .records("question_answered call_requeued")
        .wants("")
        .answer_to(2, HumanAnswer::Continue {})
        .configure(settings())
        .records("configured call_started call_started");
}

#[test]
fn the_last_finding_can_close_the_round_of_a_halted_run() {
    // Every call has its result, yet the model is not called before a human approved.
    Lane::new()
        .prompt("hi")
        .reply(calls([call("t1", "send", "x")]))
        .owner_changes_with_hash("other")
        .probe(0, ProbeResult::Happened { text: Arc::from("sent") })
        .phase("paused")
        .parked()
        .answer(HumanAnswer::Continue {})
        .configure(settings())
        .phase("calling_model")
        .shows_last("user: <t1 ok: sent>");
}

#[test]
fn tokens_of_the_cut_reply_and_pieces_survive() {
    Lane::new()
        .prompt("hi")
        .reply(text("x").stop("max_tokens"))
        .reply(text("one ").stop("max_tokens"))
        .owner_changes()
        .reply(text("two"))
        .ends(StopCause::EndTurn)
        .saying("one two");
}
