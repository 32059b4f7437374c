//! What each stop reason does.

use windlass_core::permission::Human;
use windlass_core::record::Record;
use windlass_core::settings::StopAction;
use windlass_core::stop::{Anomaly, StopCause};
use windlass_core::words;

use crate::kit::{Lane, call, calls, nothing, text};

fn anomalies(lane: &Lane) -> Vec<Anomaly> {
    let records = lane.log.iter().flat_map(|entry| &entry.records);
    let what = records.filter_map(|record| match record {
        Record::Anomaly { what } => Some(*what),
        _ => None,
    });
    what.collect()
}

// spec: STOP-03
#[test]
fn end_turn_ends_the_run_with_its_text_and_usage() {
    Lane::new()
        .prompt("hi")
        .settles("queued run_started asked")
        .wants("ask 1")
        .reply(text("hello").usage(7, 3))
        .settles("replied reply_kept finished")
        .ends(StopCause::EndTurn)
        .saying("hello")
        .so(|lane| {
            assert_eq!(lane.ended().counters.usage.total(), 10);
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
            .settles("replied reply_kept anomaly finished")
            .ends(StopCause::EndTurn)
            .saying(words::EMPTY_ANSWER)
            .so(|lane| assert_eq!(anomalies(lane), [Anomaly::EmptyAnswer]))
            .shows(["user: hi"]);
    }
}

// spec: STOP-05
#[test]
fn tool_use_runs_the_calls_and_asks_again() {
    Lane::new()
        .prompt("hi")
        .reply(calls([call("t1", "read", "/a")]).text("looking"))
        .settles("replied round_opened judged launched")
        .wants("run 1.0#1")
        .returns(0, "A")
        .settles("completed settled round_closed asked")
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
            .settles("replied anomaly round_opened judged launched")
            .returns(0, "A")
            .reply(text("done"))
            .ends(StopCause::EndTurn)
            .so(|lane| assert_eq!(anomalies(lane), [Anomaly::CallsWithoutToolUse], "{reason}"))
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
        .so(|lane| assert_eq!(anomalies(lane), [Anomaly::ToolUseWithoutCalls]));
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
        .so(|lane| assert_eq!(anomalies(lane), [Anomaly::UnknownStopString]));
    lane()
        .reply(text("one ").matched("\nMORE"))
        .settles("replied reply_kept noted asked")
        .reply(text("two"))
        .ends(StopCause::EndTurn)
        .saying("one two");
}

// spec: STOP-13
#[test]
fn drift_is_thrown_away_and_asked_again_at_most_twice() {
    let drifts = || text("\nand then the user said").matched("\nUser:");
    // Where nobody can be asked.
    Lane::with(|settings| settings.rules.human = Human::Absent)
        .prompt("hi")
        .reply(drifts())
        .settles("replied reply_dropped rejected noted asked")
        .shows_last(&format!("user: hi | {}", words::REPROMPT))
        .reply(drifts())
        .settles("replied reply_dropped rejected noted asked")
        .reply(drifts())
        .settles("replied reply_dropped finished")
        .ends(StopCause::Unexpected)
        .saying("");
}

#[test]
fn drift_with_calls_runs_none_of_them() {
    Lane::new()
        .prompt("hi")
        .reply(calls([call("t1", "write", "/a")]).matched("\nUser:"))
        .settles("replied reply_dropped rejected noted asked");
}

// spec: STOP-14
#[test]
fn pause_turn_sends_the_content_back_unchanged() {
    let server =
        r#"{"type":"server_tool_use","id":"s1","name":"web_search","input":{"q":"é \ud83d"}}"#;
    Lane::new()
        .prompt("hi")
        .reply(text("let me look ").json(server).stop("pause_turn"))
        .settles("replied reply_kept asked")
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
        .settles("replied reply_kept asked")
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
            .settles("replied reply_dropped finished")
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
            .settles("replied anomaly reply_kept finished")
            .ends(StopCause::Unexpected)
            .saying("so far")
            .so(|lane| assert_eq!(anomalies(lane), [Anomaly::UnknownStopReason]));
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
    Lane::new().reply_to(1, text("hello")).ignored();
    let asked = Lane::new().prompt("hi");
    asked.clone().reply_to(2, text("hello")).ignored();
    asked.clone().reply_to(u32::MAX, text("hello")).ignored();
    asked.reply(text("a")).reply_to(1, text("b")).ignored().saying("a");
}
