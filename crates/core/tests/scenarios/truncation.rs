//! Replies truncated by the output limit: the truncation ladder and its steps.

use windlass_core::log::record::{Record, Transition};
use windlass_core::message::prompt_texts;
use windlass_core::stop::StopCause;

use crate::kit::{Lane, ReplyBuilder, call, calls, nothing, text};

fn cut_text(chunk: &str) -> ReplyBuilder {
    text(chunk).stop("max_tokens")
}

fn transitions(lane: &Lane) -> Vec<Transition> {
    let records = lane.log.iter().flat_map(|entry| &entry.records);
    let asked = records.filter_map(|record| match record {
        Record::ModelCallStarted { transition, .. } => Some(*transition),
        _ => None,
    });
    asked.collect()
}

/// Enough rounds for a compaction to remove something.
fn with_history(mut lane: Lane) -> Lane {
    for turn in 0..8 {
        lane = lane.prompt(&format!("turn {turn}")).reply(text("ok"));
    }
    lane
}

// spec: STOP-07, STOP-08, STOP-09
#[test]
fn the_ladder_has_its_rungs_in_order() {
    with_history(Lane::new())
        .prompt("write a book")
        .reply(cut_text("never kept"))
        .records("model_replied reply_dropped model_call_started")
        .so(|lane| assert_eq!(lane.run().pending_model_call().unwrap().max_tokens, 32_000))
        .reply(cut_text("one "))
        .records("model_replied reply_kept note_added model_call_started")
        .shows_last("user: previous response was truncated; continue from where you left off")
        .reply(cut_text("two "))
        .records("model_replied reply_kept note_added model_call_started")
        .reply(cut_text("three "))
        .records("model_replied reply_kept note_added compacted model_call_started")
        .so(|lane| assert_eq!(lane.live.transcript.generation(), 1))
        .reply(cut_text("four"))
        .records("model_replied reply_kept run_finished")
        .ends(StopCause::TruncationExhausted)
        .saying("")
        .so(|lane| {
            let transitions = transitions(lane);
            let run = &transitions[transitions.len() - 5..];
            assert_eq!(
                run,
                [
                    Transition::Prompt,
                    Transition::RaiseCap,
                    Transition::ContinueText,
                    Transition::ContinueText,
                    Transition::Compacted
                ]
            );
        });
}

// spec: STOP-09
#[test]
fn the_pieces_are_joined() {
    Lane::new()
        .prompt("hi")
        .reply(cut_text("dropped"))
        .reply(cut_text("one "))
        .reply(cut_text("two "))
        .reply(text("three"))
        .ends(StopCause::EndTurn)
        .saying("one two three");
}

// spec: STOP-09
#[test]
fn only_a_whole_reply_takes_the_ladder_back_to_its_foot() {
    Lane::new()
        .prompt("hi")
        .reply(cut_text("a"))
        .reply(cut_text("b "))
        .so(|lane| assert_eq!(lane.run().counters.truncations, 2))
        .reply(calls([call("t1", "read", "/a")]))
        .so(|lane| assert_eq!(lane.run().counters.truncations, 0))
        .returns(0, "A")
        // The cap stays raised, so the first step is the request to continue.
        .reply(cut_text("c "))
        .records("model_replied reply_kept note_added model_call_started")
        .reply(cut_text("d "))
        .records("model_replied reply_kept note_added model_call_started")
        .reply(cut_text("e "))
        .records("model_replied reply_kept note_added model_call_started")
        .reply(text("f"))
        .ends(StopCause::EndTurn)
        .saying("c d e f");
}

#[test]
fn without_anything_to_leave_out_the_ladder_ends_a_rung_earlier() {
    Lane::new()
        .prompt("hi")
        .reply(cut_text("a"))
        .reply(cut_text("b"))
        .reply(cut_text("c"))
        .reply(cut_text("d"))
        .ends(StopCause::TruncationExhausted)
        .saying("");
}

// spec: STOP-10
#[test]
fn a_cut_call_is_not_run_and_is_asked_for_again() {
    Lane::new()
        .prompt("hi")
        .reply(text("I will write").cut("write"))
        .records("model_replied reply_dropped model_call_started")
        .reply(text("I will write").cut("write"))
        .records("model_replied reply_kept note_added model_call_started")
        .shows([
            "user: hi",
            "assistant: I will write",
            "user: previous response was truncated mid tool_use; reissue the call with valid JSON",
        ])
        .so(|lane| assert!(lane.log.last().unwrap().encode().contains(r#"{\"on\": \"ha"#)))
        .reply(calls([call("t1", "write", "/a")]))
        .returns(0, "ok")
        .reply(text("written"))
        .ends(StopCause::EndTurn)
        .saying("written");
}

#[test]
fn a_cut_call_hears_its_own_sentence_after_a_compaction_too() {
    let mut lane = with_history(Lane::new()).prompt("go");
    for _ in 0..4 {
        lane = lane.reply(nothing().cut("write"));
    }
    lane.records("model_replied reply_kept note_added compacted model_call_started")
        .so(|lane| {
            let last = crate::kit::messages(&lane.live).pop().unwrap();
            assert!(last.ends_with(prompt_texts::REISSUE_TOOL_USE), "{last}");
        })
        .reply(nothing().cut("write"))
        .ends(StopCause::TruncationExhausted);
}

// spec: STOP-11
#[test]
fn complete_siblings_of_a_cut_call_run() {
    for reason in ["max_tokens", "tool_use"] {
        let reply = calls([call("t1", "write", "/a"), call("t2", "read", "/b")]);
        Lane::new()
            .prompt("hi")
            .reply(reply.cut("write").stop(reason))
            .records("model_replied round_opened permission_decided permission_decided call_started repeatable_call_started")
            .returns(1, "B")
            .returns(0, "ok")
            .shows([
                "user: hi",
                "assistant: <write t1> | <read t2>",
                "user: <t1 ok: ok> | <t2 ok: B> | previous response was truncated mid tool_use; \
                 reissue the call with valid JSON",
            ]);
    }
}

#[test]
fn max_tokens_after_a_whole_call_runs_it_and_says_nothing() {
    Lane::new()
        .prompt("hi")
        .reply(calls([call("t1", "read", "/a")]).stop("max_tokens"))
        .records("model_replied round_opened permission_decided repeatable_call_started")
        .returns(0, "A")
        .shows_last("user: <t1 ok: A>");
}

// spec: STOP-07
#[test]
fn the_end_of_the_window_makes_room_once_in_a_run() {
    let full = || text("half ").stop("model_context_window_exceeded");
    with_history(Lane::new())
        .prompt("go")
        .reply(full())
        .records("model_replied reply_kept note_added compacted model_call_started")
        .so(|lane| assert_eq!(lane.run().counters.reactive_compactions, 1))
        .reply(full())
        .records("model_replied reply_kept run_finished")
        .ends(StopCause::BlockingLimit)
        .so(|lane| assert!(lane.ended().cause.is_resumable()))
        // Another run has one of its own.
        .prompt("go on")
        .so(|lane| assert_eq!(lane.run().counters.reactive_compactions, 0))
        .reply(full())
        .records("model_replied reply_kept note_added compacted model_call_started");
    Lane::new().prompt("go").reply(full()).ends(StopCause::BlockingLimit);
    with_history(Lane::new())
        .prompt("go")
        .reply(full())
        .reply(text("rest"))
        .ends(StopCause::EndTurn)
        .saying("half rest");
}

// spec: STOP-07
#[test]
fn whatever_led_to_it_there_is_one_reactive_compaction_in_a_run() {
    let cut =
        |lane: Lane, times: usize| (0..times).fold(lane, |lane, _| lane.reply(cut_text("x ")));
    // Truncated replies, then a complete one, then truncated replies again.
    let lane = cut(with_history(Lane::new()).prompt("go"), 4);
    let lane = lane.records("model_replied reply_kept note_added compacted model_call_started");
    let lane = lane.reply(calls([call("t1", "read", "/a")])).returns(0, "A");
    let lane = cut(lane, 3).wants("model 17");
    cut(lane, 1)
        .records("model_replied reply_kept run_finished")
        .ends(StopCause::TruncationExhausted)
        .so(|lane| assert_eq!(lane.count("compacted"), 1));
    // A provider that reports that the request is too long, and truncated replies.
    let too_long = || crate::kit::passing(windlass_core::log::input::FailureClass::ContextTooLong);
    let lane = with_history(Lane::new()).prompt("go").fails(too_long());
    let lane = lane.records("model_call_abandoned compacted model_call_started");
    cut(lane.clone(), 4).ends(StopCause::TruncationExhausted);
    lane.fails(too_long()).ends(StopCause::BlockingLimit);
    // A requested compaction is counted separately.
    let lane = with_history(Lane::new()).compact().prompt("go");
    let lane = lane.records("prompt_queued run_started compacted model_call_started");
    lane.so(|lane| assert_eq!(lane.run().counters.reactive_compactions, 0));
}

#[test]
fn the_end_of_the_window_with_calls_runs_them() {
    Lane::new()
        .prompt("hi")
        .reply(calls([call("t1", "read", "/a")]).stop("model_context_window_exceeded"))
        .records("model_replied round_opened permission_decided repeatable_call_started");
}
