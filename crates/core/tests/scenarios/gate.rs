//! The completion gate: checklists, hooks, a schema.

use std::sync::Arc;

use windlass_core::guard::completion_gate::{ChecklistItem, StructuredOutputTool};
use windlass_core::guard::loop_detection::EscalationLevel;
use windlass_core::log::inbox::HumanAnswer;
use windlass_core::log::record::{Record, RejectionSource, ToolChoice};
use windlass_core::message::content_block::ContentBlock;
use windlass_core::message::prompt_texts;
use windlass_core::message::raw_json::RawJson;
use windlass_core::message::reply::TokenUsage;
use windlass_core::permission::HumanAvailability;
use windlass_core::run::review::ReviewResult;
use windlass_core::settings::conversation_settings::{HookPresence, Settings, ToolSpec};
use windlass_core::stop::StopCause;

use crate::kit::{Lane, call, calls, rule, text};

fn need(tool: &str, at_least: u32) -> ChecklistItem {
    ChecklistItem { tool: Arc::from(tool), at_least }
}

/// A lane with the checklist `write ≥ 3, send ≥ 1`.
fn gated() -> Lane {
    Lane::with(|settings| settings.gate.checklist = vec![need("write", 3), need("send", 1)])
}

fn hooked() -> Lane {
    Lane::with(|settings| settings.hooks.answer = HookPresence::Present)
}

fn block(reason: &str) -> ReviewResult {
    ReviewResult::Block { reason: Arc::from(reason) }
}

fn failed() -> ReviewResult {
    ReviewResult::Failed { why: Arc::from("timed out"), usage: TokenUsage::default() }
}

#[test]
fn an_answer_before_the_work_is_sent_back_with_what_is_missing() {
    let lane = gated().prompt("build it").reply(text("done"));
    let lane =
        lane.records("model_replied reply_kept answer_rejected note_added model_call_started");
    let lane =
        lane.shows_last("user: the work is not complete: write must succeed at least 3 times (so far never), send must succeed at least once (so far never)");
    let three =
        calls([call("w1", "write", "/a"), call("w2", "write", "/b"), call("w3", "write", "/c")]);
    let lane = lane.reply(three).returns(0, "a").returns(1, "b").returns(2, "c");
    let lane = lane.reply(text("really done"));
    let lane = lane.shows_last(&format!(
        "user: {}",
        prompt_texts::repeat_rejection(
            "the work is not complete: send must succeed at least once (so far never)"
        )
    ));
    lane.reply(calls([call("s", "send", "it")]))
        .returns(0, "sent")
        .reply(text("now"))
        .ends(StopCause::EndTurn)
        .saying("now")
        .so(|lane| assert_eq!(lane.ended().suspect_reason, None));
}

#[test]
fn failed_calls_do_not_fulfil_a_checklist() {
    let lane = Lane::with(|settings| settings.gate.checklist = vec![need("write", 1)]);
    let no = windlass_core::call::outcome::ToolError::new("no", "no", "no");
    let lane = lane.prompt("go").reply(calls([call("w", "write", "/a")])).errs(0, no);
    lane.reply(text("done"))
        .records("model_replied reply_kept answer_rejected note_added model_call_started");
}

/// A lane where no human is available.
fn alone(change: impl FnOnce(&mut Settings)) -> Lane {
    Lane::with(|settings| {
        settings.rules.human = HumanAvailability::Absent;
        change(settings);
    })
}

fn checklist(settings: &mut Settings) {
    settings.gate.checklist = vec![need("write", 3), need("send", 1)];
}

/// Returns the escalation levels of the rejections of a run.
fn levels(lane: &Lane) -> Vec<(RejectionSource, EscalationLevel)> {
    let records = lane.log.iter().flat_map(|entry| &entry.records);
    let rejected = records.filter_map(|record| match record {
        Record::AnswerRejected { by, level, .. } => Some((*by, *level)),
        _ => None,
    });
    rejected.collect()
}

// spec: GUARDS-10
#[test]
fn a_gate_hints_then_insists_then_asks_a_person() {
    let asked = gated()
        .prompt("go")
        .reply(text("one"))
        .reply(text("two"))
        .tells("This was already rejected before;")
        .reply(text("three"))
        .records("model_replied reply_kept answer_rejected note_added question_asked")
        .asks("My answer was rejected 3 times: the work is not complete: write must succeed at least 3 times (so far never)")
        .parked()
        .so(|lane| {
            use EscalationLevel::{Directive, Human, Nudge};
            assert_eq!(levels(lane), [Nudge, Directive, Human].map(|l| (RejectionSource::Checklist, l)));
        });
    // Stop: the answer is kept, and marked as suspect.
    let stopped = asked
        .clone()
        .answer(HumanAnswer::Abandon {})
        .records("question_answered answer_marked_suspect run_finished");
    stopped.ends(StopCause::EndTurn).saying("three").so(|lane| {
        assert!(
            lane.ended()
                .suspect_reason
                .as_ref()
                .unwrap()
                .contains("write must succeed at least 3 times")
        );
    });
    asked.clone().cancel().ends(StopCause::EndTurn).also([StopCause::UserCancel]).saying("three");
    asked.clone().owner_changes().parked();
    asked.clone().owner_changes_with_hash("other").ends(StopCause::EndTurn).saying("three");
    // Continue: the counts start again, and the rejected text is not part of the answer.
    let lane = asked
        .clone()
        .answer(HumanAnswer::Continue {})
        .records("question_answered guidance_given model_call_started");
    let lane = lane
        .reply(text("four"))
        .records("model_replied reply_kept answer_rejected note_added model_call_started");
    lane.so(|lane| {
        assert_eq!(levels(lane)[3], (RejectionSource::Checklist, EscalationLevel::Nudge));
    });
    let lane = asked.answer(HumanAnswer::Text { text: Arc::from("never mind the files") });
    lane.tells("never mind the files").cancel().reply(text("five")).saying("five");
}

// spec: GUARDS-10
#[test]
fn a_schema_and_a_stop_string_take_the_same_steps() {
    use EscalationLevel::{Directive, Human, Nudge};
    let unfit = |lane: Lane, nth: usize| {
        lane.reply(calls([call(&format!("t{nth}"), "answer", "")])).so(|_| {})
    };
    let lane = (0..3).fold(Lane::with(structured).prompt("go"), unfit);
    let lane = lane.asks("I gave 3 answers that did not fit the schema").parked();
    let lane = lane.so(|lane| {
        assert_eq!(levels(lane), [Nudge, Directive, Human].map(|l| (RejectionSource::Schema, l)));
    });
    lane.clone().answer(HumanAnswer::Abandon {}).ends(StopCause::UserCancel);
    lane.answer(HumanAnswer::Continue {})
        .reply(calls([call("t9", "answer", "42")]))
        .returns(0, "ok")
        .ends(StopCause::EndTurn);
    let drift = |lane: Lane, _| lane.reply(text("and so on").matched("\nUser:"));
    let lane = (0..3).fold(Lane::new().prompt("go"), drift);
    lane.asks("I wrote the user's turn instead of ending my own 3 times").parked().so(|lane| {
        assert_eq!(levels(lane), [Nudge, Directive, Human].map(|l| (RejectionSource::Drift, l)));
    });
}

// spec: GUARDS-09
#[test]
fn where_nobody_can_be_asked_the_answer_counts_after_two_rejections_and_is_suspect() {
    alone(checklist)
        .prompt("go")
        .reply(text("one"))
        .reply(text("two"))
        .so(|lane| assert_eq!(lane.run().counters.rejections, 2))
        .reply(text("three"))
        .records("model_replied reply_kept answer_marked_suspect run_finished")
        .ends(StopCause::EndTurn)
        .saying("three")
        .so(|lane| {
            let suspect = lane.ended().suspect_reason.clone().unwrap();
            assert!(suspect.contains("write must succeed at least 3 times"), "{suspect}");
        });
    let none = alone(|settings| {
        settings.gate.checklist = vec![need("write", 1)];
        settings.limits.rejections = 0;
    });
    none.prompt("go").reply(text("one")).ends(StopCause::EndTurn);
}

// spec: GUARDS-09
#[test]
fn a_hook_and_the_checklist_share_the_limit() {
    let lane = alone(|settings| {
        settings.gate.checklist = vec![need("write", 1)];
        settings.hooks.answer = HookPresence::Present;
    });
    let lane = lane.prompt("go").reply(text("one")).reply(calls([call("w", "write", "/a")]));
    lane.returns(0, "a")
        .reply(text("two"))
        .consults("answer")
        .review_returned(block("there is no test"))
        .records("review_completed answer_rejected note_added model_call_started")
        .tells("there is no test\nThis was already rejected before;")
        .reply(text("three"))
        .review_returned(block("still none"))
        .records("review_completed answer_marked_suspect run_finished")
        .ends(StopCause::EndTurn)
        .so(|lane| assert_eq!(lane.ended().suspect_reason.as_deref(), Some("still none")));
}

#[test]
fn a_hook_that_has_nothing_against_it_or_fails_lets_the_answer_count() {
    for result in
        [ReviewResult::Pass { context: None }, failed(), ReviewResult::Stop { reason: "x".into() }]
    {
        let lane = hooked().prompt("go").reply(text("done")).wants("review 1");
        lane.review_returned(result).ends(StopCause::EndTurn).saying("done").so(|lane| {
            assert_eq!(lane.ended().suspect_reason, None);
        });
    }
}

#[test]
fn a_command_that_could_not_be_run_leaves_a_doubt() {
    let lane = Lane::with(|settings| settings.gate.command = Some(Arc::from("make check")));
    let lane = lane.prompt("go").reply(text("done")).consults("answer");
    lane.clone().review_returned(block("make check failed")).wants("model 2");
    lane.review_returned(failed())
        .records("review_completed answer_marked_suspect run_finished")
        .so(|lane| {
            assert_eq!(lane.ended().suspect_reason.as_deref(), Some("timed out"));
        });
}

#[test]
fn a_reason_of_any_length_is_told_in_a_sentence() {
    let lane =
        hooked().prompt("go").reply(text("done")).review_returned(block(&"x".repeat(100_000)));
    lane.tells("characters omitted").so(|lane| assert!(lane.live.transcript.byte_count() < 5_000));
}

#[test]
fn a_complete_answer_is_never_lost_while_somebody_looks_at_it() {
    let looking = || hooked().prompt("go").reply(text("done"));
    looking()
        .cancel()
        .records("cancel_requested review_completed run_finished")
        .ended_for(StopCause::EndTurn)
        .saying("done");
    looking().abort().ends(StopCause::EndTurn).also([StopCause::UserCancel]);
    looking().owner_changes().records("owner_changed").wants("review 1");
    looking().owner_changes_with_hash("other").ends(StopCause::EndTurn).saying("done");
    looking().review_returned(failed()).ends(StopCause::EndTurn);
    // A result for an abandoned review is ignored.
    looking().cancel().review_returned(block("late")).records_nothing();
}

#[test]
fn somebody_who_says_more_comes_before_the_gate() {
    gated()
        .prompt("go")
        .steer("and this")
        .reply(text("one"))
        .records("model_replied reply_kept model_call_started");
    let lane = hooked().prompt("go").reply(text("one")).steer("and this");
    lane.review_returned(ReviewResult::Pass { context: None })
        .records("review_completed model_call_started")
        .tells("and this");
}

#[test]
fn a_gate_never_holds_up_a_run_that_must_end() {
    gated().prompt("go").cancel().reply(text("done")).ends(StopCause::EndTurn);
    let poor = Lane::with(|settings| {
        settings.gate.checklist = vec![need("write", 1)];
        settings.limits.model_calls = 1;
    });
    poor.prompt("go").reply(text("done")).ends(StopCause::EndTurn).so(|lane| {
        assert!(lane.ended().suspect_reason.is_some());
    });
}

fn structured(settings: &mut Settings) {
    let spec = ToolSpec {
        name: Arc::from("answer"),
        description: Arc::from("gives the answer"),
        input_schema: RawJson::parse(r#"{"type":"object"}"#).unwrap(),
    };
    settings.tools.push(spec);
    settings.rules.allow.push(rule("answer"));
    settings.output = Some(StructuredOutputTool { tool: Arc::from("answer") });
    settings.limits.output_retries = 2;
}

#[test]
fn an_answer_that_fits_its_schema_ends_the_run() {
    Lane::with(structured)
        .prompt("go")
        .reply(calls([call("t1", "answer", "42")]))
        .returns(0, "ok")
        .records("call_returned result_finalized structured_output_given round_closed run_finished")
        .ends(StopCause::EndTurn)
        .saying(r#"{"on":"42"}"#)
        .so(|lane| {
            assert_eq!(lane.ended().structured_output.as_ref().unwrap().text(), r#"{"on":"42"}"#);
        });
}

#[test]
fn an_answer_in_words_is_asked_for_by_call() {
    let lane = alone(structured).prompt("go").reply(text("it is 42"));
    let lane =
        lane.records("model_replied reply_kept answer_rejected note_added model_call_started");
    let lane = lane.shows_last(
        "user: give your answer by calling answer with arguments that match its schema",
    );
    lane.so(|lane| {
        assert_eq!(
            lane.run().pending_model_call().unwrap().choice,
            ToolChoice::Tool(Arc::from("answer"))
        );
    })
    .reply(text("42"))
    .reply(text("42!"))
    .records("model_replied reply_kept run_finished")
    .ends(StopCause::StructuredOutputRetries)
    .saying("");
}

#[test]
fn answers_that_do_not_fit_are_counted_and_bounded() {
    let unfit =
        |lane: Lane, nth: usize| lane.reply(calls([call(&format!("t{nth}"), "answer", "")]));
    let lane = unfit(alone(structured).prompt("go"), 0);
    let lane = lane.records("model_replied round_opened result_finalized round_closed answer_rejected model_call_started");
    let lane = lane.tells("on must not be empty");
    let lane = unfit(lane, 1).so(|lane| assert_eq!(lane.run().counters.output_retries, 2));
    // A later answer that matches counts.
    lane.clone()
        .reply(calls([call("t9", "answer", "42")]))
        .returns(0, "ok")
        .ends(StopCause::EndTurn);
    unfit(lane, 2)
        .records("model_replied round_opened result_finalized round_closed run_finished")
        .ends(StopCause::StructuredOutputRetries);
}

#[test]
fn an_answer_by_call_is_not_lost_to_a_cap_it_crosses() {
    let capped = |settings: &mut Settings| {
        structured(settings);
        settings.limits.tool_rounds = 0;
        settings.limits.run_tokens = Some(8_000);
    };
    Lane::with(capped)
        .prompt("go")
        .reply(calls([call("t1", "answer", "42")]).usage(20_000, 10))
        .returns(0, "ok")
        .ends(StopCause::EndTurn)
        .also([StopCause::BudgetTokens])
        .saying(r#"{"on":"42"}"#);
    // Any other call still reaches the cap.
    Lane::with(capped)
        .prompt("go")
        .reply(calls([call("t1", "read", "/a")]))
        .ends(StopCause::MaxToolRounds);
}

#[test]
fn an_answer_that_was_rejected_or_steered_past_is_not_the_answer() {
    let given = |lane: Lane| lane.reply(calls([call("t1", "answer", "old")])).returns(0, "ok");
    let lane = Lane::with(|settings| {
        structured(settings);
        settings.gate.checklist = vec![need("write", 1)];
    });
    let lane = given(lane.prompt("go")).so(|lane| assert!(lane.run().structured_output.is_none()));
    let lane = lane.reply(calls([call("w", "write", "/a")])).returns(0, "written");
    let lane = lane.wants("model 3").reply(text("done"));
    lane.records("model_replied reply_kept answer_rejected note_added model_call_started");
    let lane = Lane::with(structured).prompt("go").steer("in French");
    let lane = given(lane).records(
        "call_returned result_finalized structured_output_given round_closed model_call_started",
    );
    let lane = lane.so(|lane| assert!(lane.run().structured_output.is_none()));
    lane.reply(calls([call("t2", "answer", "nouveau")]))
        .returns(0, "ok")
        .saying(r#"{"on":"nouveau"}"#);
}

#[test]
fn siblings_of_the_answer_run_too_and_the_last_answer_counts() {
    let reply =
        calls([call("a", "answer", "1"), call("r", "read", "/x"), call("b", "answer", "2")]);
    let lane = Lane::with(structured).prompt("go").reply(reply).returns(0, "ok").returns(1, "x");
    lane.returns(2, "ok").ends(StopCause::EndTurn).saying(r#"{"on":"2"}"#);
    let broken = ContentBlock::new(
        RawJson::parse(r#"{"type":"tool_use","id":"t","name":"answer","input":[1]}"#).unwrap(),
    );
    let lane = Lane::with(structured).prompt("go").reply(calls([broken]));
    lane.records("model_replied round_opened result_finalized round_closed answer_rejected model_call_started");
}
