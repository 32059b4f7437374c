//! What each stop reason does.

use windlass_core::log::input::FailureClass;
use windlass_core::log::record::Record;
use windlass_core::message::prompt_texts;
use windlass_core::permission::HumanAvailability;
use windlass_core::settings::conversation_settings::StopAction;
use windlass_core::stop::{ReplyAnomaly, StopCause};

use crate::kit::{Lane, call, calls, nothing, passing, text};

fn anomalies(lane: &Lane) -> Vec<ReplyAnomaly> {
    let records = lane.log.iter().flat_map(|entry| &entry.records);
    let what = records.filter_map(|record| match record {
        Record::AnomalyDetected { what } => Some(*what),
        _ => None,
    });
    what.collect()
}

// spec: STOP-03
#[test]
fn end_turn_ends_the_run_with_its_text_and_usage() {
    Lane::new()
        .prompt("hi")
        .records("prompt_queued run_started model_call_started")
        .wants("model 1")
        .reply(text("hello").usage(7, 3))
        .records("model_replied reply_kept run_finished")
        .ends(StopCause::EndTurn)
        .saying("hello")
        .so(|lane| {
            assert_eq!(lane.ended().counters.usage.total_tokens(), 10);
            assert!(anomalies(lane).is_empty());
        })
        .shows(["user: hi", "assistant: hello"])
        .wants("");
}

// spec: STOP-04
#[test]
fn the_text_is_all_text_blocks_joined() {
    let thinking = r#"{"type":"thinking","thinking":"hm","signature":"s"}"#;
    Lane::new()
        .prompt("hi")
        .reply(nothing().json(thinking).text("one ").json(r#"{"type":"chart","x":1}"#).text("two"))
        .ends(StopCause::EndTurn)
        .saying("one two")
        .shows(["user: hi", "assistant: (thinking) | one  | (chart) | two"]);
}

// spec: STOP-04
#[test]
fn an_answer_without_text_says_so() {
    for reply in [nothing(), text("  \n"), nothing().json(r#"{"type":"thinking","thinking":"x"}"#)]
    {
        Lane::new()
            .prompt("hi")
            .reply(reply)
            .records("model_replied reply_kept anomaly_detected run_finished")
            .ends(StopCause::EndTurn)
            .saying(prompt_texts::EMPTY_ANSWER)
            .so(|lane| assert_eq!(anomalies(lane), [ReplyAnomaly::EmptyAnswer]))
            .shows(["user: hi"]);
    }
}

// spec: STOP-05
#[test]
fn tool_use_runs_the_calls_and_asks_again() {
    Lane::new()
        .prompt("hi")
        .reply(calls([call("t1", "read", "/a")]).text("looking"))
        .records("model_replied round_opened permission_decided repeatable_call_started")
        .wants("run 1.0#1")
        .returns(0, "A")
        .records("call_returned result_finalized round_closed model_call_started")
        .reply(calls([call("t2", "read", "/b")]))
        .returns(0, "B")
        .reply(text("done"))
        .ends(StopCause::EndTurn)
        .saying("done")
        .so(|lane| {
            let counters = &lane.ended().counters;
            assert_eq!(
                (counters.tool_rounds, counters.model_calls, counters.tool_calls),
                (2, 3, 2)
            );
        })
        .shows([
            "user: hi",
            "assistant: <read t1> | looking",
            "user: <t1 ok: A>",
            "assistant: <read t2>",
            "user: <t2 ok: B>",
            "assistant: done",
        ]);
}

// spec: STOP-06
#[test]
fn calls_under_another_stop_reason_are_still_answered() {
    for (reason, matched) in
        [("end_turn", None), ("pause_turn", None), ("stop_sequence", Some("x"))]
    {
        let mut reply = calls([call("t1", "read", "/a")]).stop(reason);
        if let Some(matched) = matched {
            reply = reply.matched(matched);
        }
        Lane::new()
            .prompt("hi")
            .reply(reply)
            .records("model_replied anomaly_detected round_opened permission_decided repeatable_call_started")
            .returns(0, "A")
            .reply(text("done"))
            .ends(StopCause::EndTurn)
            .so(|lane| assert_eq!(anomalies(lane), [ReplyAnomaly::CallsWithoutToolUse], "{reason}"))
            .shows(["user: hi", "assistant: <read t1>", "user: <t1 ok: A>", "assistant: done"]);
    }
}

// spec: STOP-06
#[test]
fn tool_use_without_calls_finishes_and_is_counted() {
    Lane::new()
        .prompt("hi")
        .reply(text("hm").stop("tool_use"))
        .ends(StopCause::Unexpected)
        .saying("hm")
        .so(|lane| assert_eq!(anomalies(lane), [ReplyAnomaly::ToolUseWithoutCalls]));
}

// spec: STOP-12, STOP-13
#[test]
fn a_stop_string_does_what_the_map_says() {
    let lane = || {
        Lane::with(|settings| {
            settings.stop_map.insert("\nMORE".into(), StopAction::Continue);
        })
        .prompt("hi")
    };
    lane().reply(text("all").matched("\n---END---")).ends(StopCause::StopSequence).saying("all");
    lane()
        .reply(text("all").matched("never registered"))
        .ends(StopCause::StopSequence)
        .saying("all")
        .so(|lane| assert_eq!(anomalies(lane), [ReplyAnomaly::UnknownStopString]));
    lane()
        .reply(text("one ").matched("\nMORE"))
        .records("model_replied reply_kept note_added model_call_started")
        .reply(text("two"))
        .ends(StopCause::EndTurn)
        .saying("one two");
}

// spec: STOP-13
#[test]
fn drift_is_thrown_away_and_asked_again_at_most_twice() {
    let drifts = || text("\nand then the user said").matched("\nUser:");
    // No human is available.
    Lane::with(|settings| settings.rules.human = HumanAvailability::Absent)
        .prompt("hi")
        .reply(drifts())
        .records("model_replied reply_dropped answer_rejected note_added model_call_started")
        .shows_last(&format!("user: hi | {}", prompt_texts::REPROMPT))
        .reply(drifts())
        .records("model_replied reply_dropped answer_rejected note_added model_call_started")
        .reply(drifts())
        .records("model_replied reply_dropped run_finished")
        .ends(StopCause::Unexpected)
        .saying("");
}

#[test]
fn drift_with_calls_runs_none_of_them() {
    Lane::new()
        .prompt("hi")
        .reply(calls([call("t1", "write", "/a")]).matched("\nUser:"))
        .records("model_replied reply_dropped answer_rejected note_added model_call_started");
}

// spec: STOP-14
#[test]
fn pause_turn_sends_the_content_back_unchanged() {
    let server =
        r#"{"type":"server_tool_use","id":"s1","name":"web_search","input":{"q":"é \ud83d"}}"#;
    Lane::new()
        .prompt("hi")
        .reply(text("let me look ").json(server).stop("pause_turn"))
        .records("model_replied reply_kept model_call_started")
        .shows(["user: hi", "assistant: let me look  | (server_tool_use)"])
        .so(|lane| {
            let last = lane.live.transcript.segments().back().unwrap();
            assert_eq!(last.blocks.last().unwrap().raw().text(), server);
        })
        .reply(text("found"))
        .ends(StopCause::EndTurn)
        .saying("let me look found");
}

#[test]
fn a_paused_turn_is_not_spoken_into() {
    Lane::new()
        .prompt("hi")
        .steer("also this")
        .reply(text("searching ").stop("pause_turn"))
        .shows(["user: hi", "assistant: searching "])
        .reply(text("found"))
        .records("model_replied reply_kept model_call_started")
        .shows(["user: hi", "assistant: searching  | found", "user: also this"])
        .reply(text("both done"))
        .ends(StopCause::EndTurn)
        .saying("both done");
}

// spec: STOP-15
#[test]
fn a_refusal_runs_nothing_and_says_the_sentence() {
    for reply in [text("no"), nothing(), calls([call("t1", "write", "/a")])] {
        Lane::new()
            .prompt("hi")
            .reply(reply.stop("refusal"))
            .records("model_replied reply_dropped run_finished")
            .ends(StopCause::Refusal)
            .saying("I can't help with that request.")
            .shows(["user: hi"]);
    }
}

// spec: STOP-16, STOP-01
#[test]
fn a_stop_reason_nobody_knows_finishes_with_what_there_is() {
    for reason in ["quantum_tunnel", "", "END_TURN", "\u{5d0}\u{1f600}"] {
        Lane::new()
            .prompt("hi")
            .reply(text("so far").stop(reason))
            .records("model_replied anomaly_detected reply_kept run_finished")
            .ends(StopCause::Unexpected)
            .saying("so far")
            .so(|lane| assert_eq!(anomalies(lane), [ReplyAnomaly::UnknownStopReason]));
    }
    Lane::new().prompt("hi").reply(nothing().stop("new")).ends(StopCause::Unexpected).saying("");
    Lane::new()
        .prompt("hi")
        .reply(calls([call("t1", "write", "/a")]).stop("new"))
        .ends(StopCause::Unexpected)
        .shows(["user: hi"]);
}

#[test]
fn a_reply_that_nobody_asked_for_changes_nothing() {
    Lane::new().reply_to(1, text("hello")).records_nothing();
    let asked = Lane::new().prompt("hi");
    asked.clone().reply_to(2, text("hello")).records_nothing();
    asked.clone().reply_to(u32::MAX, text("hello")).records_nothing();
    asked.reply(text("a")).reply_to(1, text("b")).records_nothing().saying("a");
}

fn with_replies(most: u32) -> Lane {
    Lane::with(|settings| settings.limits.model_replies = Some(most)).prompt("hi")
}

// spec: STOP-24
#[test]
fn the_calls_of_the_last_reply_run_before_the_limit_of_replies_ends_the_run() {
    with_replies(2)
        .reply(calls([call("t1", "read", "/a")]))
        .returns(0, "A")
        .reply(calls([call("t2", "read", "/b")]))
        .returns(0, "B")
        .records("call_returned result_finalized round_closed run_finished")
        .ends(StopCause::MaxModelReplies)
        .shows([
            "user: hi",
            "assistant: <read t1>",
            "user: <t1 ok: A>",
            "assistant: <read t2>",
            "user: <t2 ok: B>",
        ]);
    with_replies(1).reply(text("done")).ends(StopCause::EndTurn);
}

// spec: STOP-24
#[test]
fn a_model_call_that_is_repeated_is_one_reply() {
    with_replies(1)
        .fails(passing(FailureClass::Transient))
        .wake()
        .reply(calls([call("t1", "read", "/a")]))
        .returns(0, "A")
        .ends(StopCause::MaxModelReplies);
    with_replies(1).reply(text("one ").stop("pause_turn")).ends(StopCause::MaxModelReplies);
}
