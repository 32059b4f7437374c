//! Loop detection: hint, directive, human; and what is not a loop.

use std::sync::Arc;

use windlass_core::guard::loop_detection::{EscalationLevel, LoopDetectorTier};
use windlass_core::log::inbox::HumanAnswer;
use windlass_core::log::input::FailureClass;
use windlass_core::log::record::{Record, ToolChoice};
use windlass_core::settings::conversation_settings::ToolForcing;
use windlass_core::stop::StopCause;

use crate::kit::{Lane, call, calls, text};

/// A round of one call with this result.
fn round(lane: Lane, tool: &str, on: &str, result: &str) -> Lane {
    let id = format!("t{}", lane.live.model_call_count);
    lane.reply(calls([call(&id, tool, on)])).returns(0, result)
}

/// The same call with the same result, so often.
fn circles(lane: Lane, times: usize) -> Lane {
    (0..times).fold(lane, |lane, _| round(lane, "read", "/a", "the same"))
}

fn level(lane: &Lane) -> EscalationLevel {
    lane.run().loop_guard.level()
}

/// Returns the loop that the last entry detected.
fn found(lane: &Lane) -> Option<(LoopDetectorTier, String)> {
    lane.last.iter().find_map(|record| match record {
        Record::LoopDetectionUpdated { finding: Some(found), .. } => {
            Some((found.tier, found.tool.to_string()))
        }
        _ => None,
    })
}

fn choice(lane: &Lane) -> ToolChoice {
    lane.run().pending_model_call().unwrap().choice.clone()
}

// spec: GUARDS-02, GUARDS-05
#[test]
fn the_same_call_three_times_in_six_is_hinted_at() {
    let lane = circles(Lane::new().prompt("go"), 2);
    let lane = lane.records("call_returned result_finalized round_closed model_call_started");
    circles(lane, 1)
        .records("call_returned result_finalized round_closed loop_detection_updated note_added model_call_started")
        .so(|lane| {
            assert_eq!(found(lane), Some((LoopDetectorTier::Identical, "read".to_owned())));
            assert_eq!(level(lane), EscalationLevel::Nudge);
        })
        .tells("try a different approach or a different tool");
}

// spec: GUARDS-02
#[test]
fn the_same_tool_four_times_without_anything_new_is_hinted_at() {
    let lane = Lane::new().prompt("go");
    let lane = ["/a", "/b", "/c"].iter().fold(lane, |lane, on| round(lane, "read", on, ""));
    let lane = lane.so(|lane| assert_eq!(level(lane), EscalationLevel::Calm));
    round(lane, "read", "/d", "").so(|lane| {
        assert_eq!(found(lane), Some((LoopDetectorTier::Pattern, "read".to_owned())));
        assert_eq!(level(lane), EscalationLevel::Nudge);
    });
}

#[test]
fn a_circle_in_company_is_found_too() {
    let pair = |lane: Lane, nth: usize| {
        let (a, b) = (format!("a{nth}"), format!("b{nth}"));
        let other = format!("/other{nth}");
        lane.reply(calls([call(&a, "read", "/a"), call(&b, "fetch", &other)]))
            .returns(0, "same")
            .returns(1, "")
    };
    (0..3).fold(Lane::new().prompt("go"), pair).so(|lane| {
        assert_eq!(found(lane), Some((LoopDetectorTier::Identical, "read".to_owned())));
    });
}

// spec: GUARDS-06
#[test]
fn hint_directive_human_in_this_order() {
    let lane = Lane::with(|settings| settings.guards.lookup_tool = Some(Arc::from("send")));
    let lane = circles(lane.prompt("go"), 3).so(|lane| assert_eq!(choice(lane), ToolChoice::Auto));
    let lane = circles(lane, 1).records("call_returned result_finalized round_closed loop_detection_updated note_added model_call_started");
    let lane = lane.tells("stop repeating these calls").so(|lane| {
        assert_eq!(level(lane), EscalationLevel::Directive);
        assert_eq!(choice(lane), ToolChoice::Tool(Arc::from("send")));
    });
    circles(lane, 1)
        .records(
            "call_returned result_finalized round_closed loop_detection_updated question_asked",
        )
        .asks("I keep calling read without getting anywhere")
        .parked()
        .answer(HumanAnswer::Text { text: Arc::from("look in /b") })
        .records("question_answered guidance_given model_call_started")
        .tells("look in /b")
        .so(|lane| assert_eq!(level(lane), EscalationLevel::Calm));
}

#[test]
fn after_guidance_the_past_is_past() {
    let asked = circles(Lane::new().prompt("go"), 5).parked();
    let lane = asked.clone().answer(HumanAnswer::Continue {}).wants("model 6");
    circles(lane, 2).so(|lane| assert_eq!(level(lane), EscalationLevel::Calm));
    asked.answer(HumanAnswer::Abandon {}).ends(StopCause::UserCancel);
}

#[test]
fn without_a_lookup_tool_the_directive_is_words_alone() {
    circles(Lane::new().prompt("go"), 4).so(|lane| assert_eq!(choice(lane), ToolChoice::Auto));
    // A tool that is not offered cannot be forced.
    let lane = Lane::with(|settings| settings.guards.lookup_tool = Some(Arc::from("oracle")));
    circles(lane.prompt("go"), 4).so(|lane| assert_eq!(choice(lane), ToolChoice::Auto));
}

// spec: GUARDS-07
#[test]
fn a_model_that_cannot_be_forced_is_offered_nothing_else() {
    let lane = Lane::with(|settings| {
        settings.guards.lookup_tool = Some(Arc::from("send"));
        settings.model.forcing = ToolForcing::Unsupported;
    });
    let lane = circles(lane.prompt("go"), 4);
    let lane = lane.so(|lane| assert_eq!(choice(lane), ToolChoice::Tool(Arc::from("send"))));
    // If the loop continues, the runtime asks by itself.
    circles(lane, 1).parked();
}

// spec: GUARDS-03, GUARDS-04
#[test]
fn progress_holds_the_level_and_says_nothing() {
    // Reading twenty files is work.
    let lane = (0..20).fold(Lane::new().prompt("go"), |lane, nth| {
        round(lane, "read", &format!("/{nth}"), &format!("text {nth}"))
    });
    lane.so(|lane| {
        assert_eq!(level(lane), EscalationLevel::Calm);
        assert!(found(lane).is_some(), "every detection is told");
        assert_eq!(lane.count("note_added"), 0);
    });
    // A level that falls adds no hint.
    let lane = circles(Lane::new().prompt("go"), 4);
    let noted = lane.count("note_added");
    round(lane, "read", "/new", "something new").so(|lane| {
        assert_eq!(level(lane), EscalationLevel::Nudge);
        assert_eq!(lane.count("note_added"), noted);
    });
}

// spec: GUARDS-04
#[test]
fn failed_denied_and_empty_results_are_no_progress() {
    let lane = Lane::new().prompt("go");
    let denied = |lane: Lane, nth: usize| {
        lane.reply(calls([call(&format!("t{nth}"), "rm", &format!("/{nth}"))]))
    };
    (0..4).fold(lane, denied).so(|lane| assert_eq!(level(lane), EscalationLevel::Nudge));
    let lane = Lane::new().prompt("go");
    let failing = |lane: Lane, nth: usize| {
        let lane = lane.reply(calls([call(&format!("t{nth}"), "write", &format!("/{nth}"))]));
        lane.errs(0, windlass_core::call::outcome::ToolError::new("no", "no", "no"))
    };
    (0..6).fold(lane, failing).parked();
}

#[test]
fn looking_again_after_a_change_is_careful_work() {
    let edit_and_test = |lane: Lane, nth: usize| {
        let lane = round(lane, "write", &format!("/src{nth}"), "written");
        round(lane, "bash", "make test", "1 failed")
    };
    (0..8).fold(Lane::new().prompt("go"), edit_and_test).so(|lane| {
        assert!(level(lane) < EscalationLevel::Directive, "{:?}", level(lane));
    });
}

// spec: GUARDS-01, GUARDS-04
#[test]
fn exempting_every_tool_leaves_the_same_call_counted() {
    let all = ["read", "write", "bash", "send", "fetch"];
    let exempt = || Lane::with(|s| s.guards.exempt = all.map(Arc::from).to_vec());
    let lane =
        (0..8).fold(exempt().prompt("go"), |lane, nth| round(lane, "read", &format!("/{nth}"), ""));
    lane.so(|lane| assert_eq!(lane.count("loop_detection_updated"), 0));
    circles(exempt().prompt("go"), 5)
        .records(
            "call_returned result_finalized round_closed loop_detection_updated question_asked",
        )
        .asks("I keep calling read without getting anywhere");
}

// spec: GUARDS-01
#[test]
fn the_numbers_of_loop_detection_are_limits() {
    let lane = Lane::with(|s| s.limits.loop_identical_calls = 2);
    circles(lane.prompt("go"), 2).so(|lane| assert_eq!(level(lane), EscalationLevel::Nudge));
    let lane = Lane::with(|s| s.limits.loop_window_calls = 2);
    circles(lane.prompt("go"), 12).so(|lane| assert_eq!(level(lane), EscalationLevel::Calm));
}

/// Loop detection with a tool to ask the user.
fn asking() -> Lane {
    Lane::with(|settings| {
        settings.guards.ask_tool = Arc::from("ask_human");
        let mut tool = settings.tools[0].clone();
        tool.name = Arc::from("ask_human");
        settings.tools.push(tool);
    })
}

// spec: GUARDS-06
#[test]
fn at_level_three_the_model_is_made_to_ask_a_person() {
    let due = circles(asking().prompt("go"), 5)
        .records("call_returned result_finalized round_closed loop_detection_updated note_added question_required model_call_started")
        .tells("call ask_human now and ask the user how to continue")
        .so(|lane| assert_eq!(choice(lane), ToolChoice::Tool(Arc::from("ask_human"))));
    due.reply(calls([call("q", "ask_human", "which file?")]))
        .records("model_replied round_opened permission_decided question_asked")
        .parked()
        .answer(HumanAnswer::Text { text: Arc::from("/b") })
        .tells("/b")
        .so(|lane| {
            assert_eq!(level(lane), EscalationLevel::Calm);
            assert_eq!(lane.run().required_question, None);
        });
}

// spec: GUARDS-07
#[test]
fn a_model_that_does_not_ask_is_not_asked_again() {
    let due = || circles(asking().prompt("go"), 5);
    let question = "I keep calling read without getting anywhere";
    // Another call, a truncated call, a provider that fails, a process that dies.
    round(due(), "read", "/z", "new").asks(question).parked();
    circles(due(), 1).asks(question).parked();
    due().reply(text("ha").stop("max_tokens")).asks(question).parked();
    due().fails(crate::kit::passing(FailureClass::Transient)).wake().asks(question).parked();
    due().owner_changes().asks(question).parked();
    // Text instead of the call: it is kept, and a human says whether it is the answer.
    let answered = due().reply(text("it is 42")).asks(question).parked();
    answered
        .clone()
        .answer(HumanAnswer::Abandon {})
        .ends(StopCause::EndTurn)
        .saying("it is 42")
        .so(|lane| {
            assert!(
                lane.ended()
                    .suspect_reason
                    .as_ref()
                    .unwrap()
                    .contains("instead of asking the user")
            );
        });
    let lane = answered.answer(HumanAnswer::Text { text: Arc::from("no: look in /b") });
    lane.reply(text("it is 43")).ends(StopCause::EndTurn).saying("it is 43");
    // After a new message of the user no question is needed.
    due()
        .steer("look in /b")
        .reply(text("hm"))
        .records("model_replied reply_kept model_call_started")
        .tells("/b");
}

#[test]
fn a_person_is_asked_by_the_runtime_where_no_call_can_be_made() {
    let lane = Lane::with(|settings| settings.guards.ask_tool = Arc::from("oracle"));
    circles(lane.prompt("go"), 5).records(
        "call_returned result_finalized round_closed loop_detection_updated question_asked",
    );
    let denied = asking().prompt("go");
    let mut settings = (**denied.live.settings.as_ref().unwrap()).clone();
    settings.rules.deny.push(crate::kit::rule("ask_human"));
    let lane = circles(Lane::bare().configure(settings).prompt("go"), 5);
    lane.reply(calls([call("q", "ask_human", "?")]))
        .records("model_replied round_opened permission_decided result_finalized round_closed question_asked")
        .asks("I keep calling read without getting anywhere");
}

#[test]
fn a_run_that_ends_here_needs_no_advice() {
    let lane = Lane::with(|settings| settings.limits.model_calls = 3);
    circles(lane.prompt("go"), 3)
        .records("call_returned result_finalized round_closed loop_detection_updated run_finished")
        .ends(StopCause::MaxModelCalls);
    let asked = circles(Lane::new().prompt("go"), 5);
    asked.cancel().ends(StopCause::UserCancel);
}

#[test]
fn the_watch_begins_anew_with_every_run() {
    let lane = circles(Lane::new().prompt("go"), 4).reply(text("done")).prompt("again");
    lane.so(|lane| assert_eq!(level(lane), EscalationLevel::Calm));
}

#[test]
fn a_level_survives_a_crash() {
    circles(Lane::new().prompt("go"), 4).owner_changes().so(|lane| {
        assert_eq!(level(lane), EscalationLevel::Directive);
    });
}
