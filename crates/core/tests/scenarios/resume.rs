//! A new owner takes over, in each phase.

use std::sync::Arc;

use windlass_core::input::{FailureClass, Finding};
use windlass_core::mail::Answer;
use windlass_core::stop::StopCause;

use crate::kit::{Lane, call, calls, passing, settings, text};

// spec: RESUME-01, BUDGETS-04
#[test]
fn a_model_call_in_the_air_is_charged_and_made_again() {
    Lane::new()
        .prompt("hi")
        .adopted()
        .settles("adopted attempt_abandoned asked")
        .wants("ask 2")
        .so(|lane| {
            assert_eq!(lane.run().id.as_str(), "run-1");
            assert_eq!(lane.run().counters.model_calls, 2);
            assert!(lane.run().counters.usage.output_tokens == 4_096);
            assert_eq!(lane.live.epoch, 2);
        })
        .reply_to(1, text("from the dead"))
        .ignored()
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
        .calls_are("settled running running")
        .crash()
        .calls_are("settled ready running")
        .adopted()
        .settles("adopted call_lost questioned launched")
        .calls_are("settled running questioned")
        .returns(1, "B")
        .answer(Answer::MarkDone { text: Arc::from("done before") })
        .shows_last("user: <t1 ok: written> | <t2 ok: B> | <t3 ok: done before>")
        .so(|lane| assert_eq!(lane.count("started"), 2));
}

// spec: RESUME-06
#[test]
fn a_once_only_call_in_the_air_is_asked_about() {
    let lost = Lane::new().prompt("hi").reply(calls([call("t1", "write", "/a")])).adopted();
    let lost = lost.settles("adopted call_lost questioned").parked().wants("");
    lost.clone()
        .answer(Answer::Retry {})
        .settles("answered call_cleared started")
        .wants("run 1.0#2")
        .returns(0, "A")
        .shows_last("user: <t1 ok: A>");
    lost.clone()
        .answer(Answer::MarkDone { text: Arc::from("it was written") })
        .settles("answered settled round_closed asked")
        .shows_last("user: <t1 ok: it was written>");
    lost.answer(Answer::Abandon {})
        .settles("answered settled round_closed asked")
        .shows_last("user: <t1 interrupted: its process ended while it ran; effects unknown>");
}

// spec: RESUME-05
#[test]
fn a_tool_that_can_tell_is_asked_first() {
    let lost = Lane::new().prompt("hi").reply(calls([call("t1", "send", "x")])).adopted();
    let lost = lost.settles("adopted call_lost").not_parked().wants("probe 1.0");
    lost.clone()
        .probe(0, Finding::Happened { text: Arc::from("sent") })
        .settles("settled round_closed asked")
        .shows_last("user: <t1 ok: sent>");
    lost.clone()
        .probe(0, Finding::DidNotHappen {})
        .settles("call_cleared started")
        .wants("run 1.0#2");
    lost.clone().probe(0, Finding::Unknown {}).settles("questioned").parked();
    // Again after a second crash.
    lost.adopted().settles("adopted").wants("probe 1.0");
}

#[test]
fn what_a_probe_found_is_cut_like_any_result() {
    let lost = Lane::new().prompt("hi").reply(calls([call("t1", "send", "x")])).adopted();
    lost.probe(0, Finding::Happened { text: Arc::from("long ".repeat(20_000)) }).so(|lane| {
        let shown = crate::kit::messages(&lane.live).pop().unwrap();
        assert!(shown.chars().count() < 32_100);
    });
}

#[test]
fn a_finding_nobody_asked_for_changes_nothing() {
    let lane = Lane::new().prompt("hi").reply(calls([call("t1", "send", "x")]));
    lane.probe(0, Finding::DidNotHappen {}).ignored();
}

#[test]
fn a_question_stays_open_over_crashes() {
    Lane::new()
        .prompt("hi")
        .reply(calls([call("t1", "deploy", "x")]))
        .adopted()
        .settles("adopted")
        .parked()
        .adopted()
        .parked()
        .answer_to(1, Answer::allow())
        .settles("answered judged started");
}

#[test]
fn a_pause_for_the_provider_goes_on() {
    Lane::new()
        .prompt("hi")
        .fails(passing(FailureClass::Passing))
        .adopted()
        .settles("adopted")
        .phase("deferred")
        .wake()
        .wants("ask 2");
}

#[test]
fn nothing_to_adopt_is_no_entry() {
    Lane::new().adopted().ignored();
    Lane::new().prompt("hi").reply(text("a")).adopted_with("other").ignored();
}

#[test]
fn a_changed_prompt_halts_the_run_and_asks() {
    let halted = Lane::new().prompt("hi").adopted_with("other");
    let halted = halted.settles("adopted attempt_abandoned questioned").phase("halted").parked();
    halted.clone().wants("").wait(1_000_000).ignored();
    let mut changed = settings();
    changed.system = Arc::from("You haul faster.");
    halted
        .clone()
        .configure(changed.clone())
        .ignored()
        .answer(Answer::Continue {})
        .settles("answered drift_accepted")
        .not_parked()
        .wants("configure")
        .configure(changed)
        .settles("configured asked")
        .reply(text("on"))
        .ends(StopCause::EndTurn);
    halted
        .answer(Answer::Abandon {})
        .settles("answered cancel_requested finished")
        .ends(StopCause::UserCancel);
}

#[test]
fn a_changed_prompt_halts_an_open_round_too() {
    let acting = Lane::new()
        .prompt("hi")
        .reply(calls([call("t1", "read", "/a"), call("t2", "write", "/b")]));
    let halted = acting.returns(1, "B").adopted_with("other");
    let halted = halted.settles("adopted questioned").calls_are("ready settled").wants("").parked();
    halted
        .clone()
        .answer(Answer::Continue {})
        .configure(settings())
        .settles("configured launched")
        .phase("acting")
        .returns(0, "A")
        .shows_last("user: <t1 ok: A> | <t2 ok: B>");
    halted
        .answer(Answer::Abandon {})
        .ends(StopCause::UserCancel)
        .shows_last("user: <t1 skipped: the run was cancelled before this call ran> | <t2 ok: B>");
}

// spec: RESUME-10
#[test]
fn a_drift_names_what_changed() {
    let mut other = settings();
    other.system = "You drop.".into();
    other.tools.pop();
    let lane = Lane::new().prompt("hi").adopted_by(&other).parked();
    let asked = format!("{:?}", lane.run().halt().unwrap().question.about);
    assert!(
        asked.contains("the system prompt (") && asked.contains("missing tools: send"),
        "{asked}"
    );
    // The same owner without changes asks nothing.
    Lane::new().prompt("hi").adopted_by(&settings()).wants("ask 2");
}

#[test]
fn a_drift_that_went_away_asks_nobody() {
    Lane::new()
        .prompt("hi")
        .adopted_with("other")
        .adopted()
        .settles("adopted drift_accepted")
        .wants("configure")
        .configure(settings())
        .settles("configured asked");
    Lane::new()
        .prompt("hi")
        .adopted_with("other")
        .adopted_with("third")
        .settles("adopted")
        .parked();
}

#[test]
fn lost_calls_of_a_halted_run_are_cleared_up_and_wait() {
    Lane::new()
        .prompt("hi")
        .reply(calls([call("t1", "send", "x"), call("t2", "write", "/b")]))
        .adopted_with("other")
        .settles("adopted call_lost call_lost questioned questioned")
        .wants("probe 1.0")
        .probe(0, Finding::DidNotHappen {})
        .settles("call_cleared")
        .wants("")
        .answer_to(1, Answer::Retry {})
        .settles("answered call_cleared")
        .wants("")
        .answer_to(2, Answer::Continue {})
        .configure(settings())
        .settles("configured started started");
}

#[test]
fn the_last_finding_can_close_the_round_of_a_halted_run() {
    // Every call has its result, yet the model is not asked before a human said so.
    Lane::new()
        .prompt("hi")
        .reply(calls([call("t1", "send", "x")]))
        .adopted_with("other")
        .probe(0, Finding::Happened { text: Arc::from("sent") })
        .phase("halted")
        .parked()
        .answer(Answer::Continue {})
        .configure(settings())
        .phase("asking")
        .shows_last("user: <t1 ok: sent>");
}

#[test]
fn tokens_of_the_cut_reply_and_pieces_survive() {
    Lane::new()
        .prompt("hi")
        .reply(text("x").stop("max_tokens"))
        .reply(text("one ").stop("max_tokens"))
        .adopted()
        .reply(text("two"))
        .ends(StopCause::EndTurn)
        .saying("one two");
}
