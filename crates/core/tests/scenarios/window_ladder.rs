//! The recovery ladder: summary, deep prune, a human; and everything that may fail on it.

use std::sync::Arc;

use windlass_core::context::{RecoveryStep, Summariser};
use windlass_core::log::inbox::HumanAnswer;
use windlass_core::log::input::FailureClass;
use windlass_core::log::record::{Record, ToolChoice};
use windlass_core::message::reply::TokenUsage;
use windlass_core::run::review::{Review, ReviewResult};
use windlass_core::settings::conversation_settings::{HookPresence, ModelSpec, Settings};
use windlass_core::stop::StopCause;

use crate::kit::{Lane, call, calls, page, paid_only, passing, summed_up, text};

const OVER: &str = "call_returned result_finalized round_closed review_requested";

/// An active lane with a window at just under 70 %.
fn nearly(change: impl FnOnce(&mut Settings)) -> Lane {
    let lane = Lane::with(|settings| {
        summed_up(settings);
        change(settings);
    });
    lane.prompt("go").fills(0..8, 6_000)
}

fn failed() -> ReviewResult {
    ReviewResult::Failed { why: Arc::from("overloaded"), usage: TokenUsage::default() }
}

/// A lane whose last two results alone exceed the window: nothing helps.
fn lost() -> Lane {
    Lane::with(paid_only).prompt("go").fills(0..5, 100).fills(5..7, 27_000)
}

/// Returns the recovery step of the last compaction.
fn rung(lane: &Lane) -> Option<RecoveryStep> {
    let found = lane.last.iter().find_map(|record| match record {
        Record::Compacted { step, .. } => Some(*step),
        _ => None,
    });
    found.flatten()
}

// spec: WINDOW-09
#[test]
fn the_first_crossing_sums_up_all_but_the_last_ten_messages() {
    nearly(|_| {})
        .reads(8, 6_000)
        .records(OVER)
        .consults("summary")
        .wants("review 1")
        .summary("it read nine pages")
        .records("review_completed compacted model_call_started")
        .so(|lane| {
            assert_eq!(rung(lane), Some(RecoveryStep::Compact));
            assert!(lane.share() <= 50, "{}", lane.share());
            // Summary and prompt are one message; then ten unchanged ones.
            assert_eq!(crate::kit::messages(&lane.live).len(), 11);
            let used = lane.run().recoveries;
            assert_eq!((used.compactions, used.prunes, used.total), (1, 0, 1));
            assert_eq!(lane.live.transcript.generation(), 1);
        })
        .tells("[summary of the earlier conversation, which was removed by compaction]")
        .tells("it read nine pages")
        .tells("go");
}

// spec: BUDGETS-09
#[test]
fn what_the_summary_costs_counts() {
    let lane = nearly(|_| {}).reads(8, 6_000);
    let before = lane.live.usage;
    lane.summary("short").so(|lane| {
        assert_eq!(lane.live.usage.input_tokens, before.input_tokens + 100);
        assert_eq!(lane.run().spent.tokens, lane.live.usage.total_tokens());
    });
}

// spec: WINDOW-14
#[test]
fn a_summary_that_fails_is_done_without() {
    for result in [
        failed(),
        ReviewResult::Pass { context: None },
        ReviewResult::Block { reason: Arc::from("no") },
        ReviewResult::ModelText { text: Arc::from("  \n"), usage: TokenUsage::default() },
    ] {
        nearly(|_| {})
            .reads(8, 6_000)
            .review_returned(result)
            .records("review_completed compacted model_call_started")
            .tells("earlier parts of this conversation were removed by compaction")
            .tells("go");
    }
}

#[test]
fn a_summary_that_does_not_fit_is_done_without() {
    nearly(|settings| settings.limits.summary_tokens = 1_000_000)
        .reads(8, 6_000)
        .summary(&page(77, 100_000))
        .hides("page 77")
        .tells("earlier parts of this conversation were removed by compaction")
        .so(|lane| assert!(lane.share() <= 50, "{}", lane.share()));
    // A long summary is truncated to its limit first.
    nearly(|settings| settings.limits.summary_tokens = 100)
        .reads(8, 6_000)
        .summary(&page(77, 100_000))
        .tells("page 77")
        .tells("characters omitted");
}

#[test]
fn a_summary_that_cannot_be_paid_is_done_without() {
    let lane = nearly(|settings| settings.budget.run.tokens = Some(100_000)).reads(8, 6_000);
    // The summary is cheaper than the call, so spend until only the smaller request fits.
    lane.so(|lane| assert!(lane.run().pending_review().is_some()));
    nearly(|settings| {
        let cheap = ModelSpec { price: None, ..settings.model.clone() };
        settings.window.summariser = Summariser::Model(cheap);
        settings.model.price = Some(crate::kit::price());
        settings.budget.run.usd_micros = Some(u64::MAX);
    })
    .reads(8, 6_000)
    .records("call_returned result_finalized round_closed compacted model_call_started");
}

#[test]
fn the_summary_is_asked_of_the_cheap_model_with_what_must_be_kept() {
    let lane = nearly(|settings| {
        let cheap = ModelSpec::with_defaults("haiku");
        settings.window.summariser = Summariser::Model(cheap);
        settings.window.preserve = Some(Arc::from("always keep the port number"));
        settings.user_context = Arc::from("# Summing up\nNever lose the rhyme.");
    });
    let lane = lane.reads(8, 6_000);
    let request = lane.live.summary_request().unwrap();
    assert_eq!(&*request.settings.model.name, "haiku");
    assert!(request.settings.tools.is_empty());
    let output = format!("{:?}", request.transcript);
    assert!(output.contains("always keep the port number") && output.contains("page 0"));
    assert!(
        output.contains("should keep or omit:") && output.contains("Never lose the rhyme."),
        "{output}"
    );
    assert!(!output.contains("page 8 page 8"), "what stays is not summed up");
    assert!(
        lane.live.model_request().is_none() && lane.live.classify_request(lane_call()).is_none()
    );
}

fn lane_call() -> windlass_core::log::ids::CallId {
    windlass_core::log::ids::CallId { model_call: 1, index: 0 }
}

// spec: WINDOW-10, WINDOW-11, WINDOW-12
#[test]
fn filling_up_again_soon_prunes_deep_and_then_asks_a_human() {
    let lane = nearly(|_| {}).reads(8, 6_000).summary("one").fills(9..13, 6_000);
    let lane = lane.records(OVER).summary("two").so(|lane| {
        assert_eq!(rung(lane), Some(RecoveryStep::DeepPrune));
        assert_eq!(crate::kit::messages(&lane.live).len(), 5);
    });
    let lane = lane.tells("[deep prune: summary of the earlier").fills(13..20, 6_000);
    lane.records("call_returned result_finalized round_closed recovery_step_used question_asked")
        .asks("I've made progress but I'm losing context faster than I can recover. Keep going, change direction, or stop?")
        .parked()
        .answer(HumanAnswer::Continue {})
        .records("question_answered guidance_given review_requested")
        .summary("three")
        .so(|lane| {
            assert_eq!(rung(lane), Some(RecoveryStep::Compact));
            assert_eq!(lane.run().recoveries.total, 4);
        })
        // Four recoveries: then the run is left to its other limits.
        .fills(20..27, 6_000)
        .ends(StopCause::BlockingLimit);
}

/// Where the model can ask the user, the last step requires it to do so.
// spec: WINDOW-10
#[test]
fn at_the_last_rung_the_model_is_made_to_ask_a_person() {
    let asking = |settings: &mut Settings| {
        settings.guards.ask_tool = Arc::from("ask_human");
        let mut tool = settings.tools[0].clone();
        tool.name = Arc::from("ask_human");
        settings.tools.push(tool);
    };
    let lane = nearly(asking).reads(8, 6_000).summary("one").fills(9..13, 6_000);
    let lane = lane.records(OVER).summary("two").fills(13..20, 6_000);
    let choice = |lane: &Lane| lane.run().pending_model_call().map(|asking| asking.choice.clone());
    let due = lane
        .records("call_returned result_finalized round_closed recovery_step_used note_added question_required model_call_started")
        .tells("call ask_human now and ask the user how to continue")
        .so(|lane| assert_eq!(choice(lane), Some(ToolChoice::Tool(Arc::from("ask_human")))));
    due.reply(calls([call("q", "ask_human", "?")]))
        .records("model_replied round_opened permission_decided question_asked")
        .parked();
}

#[test]
fn filling_up_again_late_is_an_ordinary_compaction() {
    let lane = nearly(|_| {}).reads(8, 6_000).summary("one");
    let lane = (9..31).fold(lane, |lane, nth| lane.reads(nth, 100));
    lane.fills(31..34, 6_000).records(OVER).summary("two").so(|lane| {
        assert_eq!(rung(lane), Some(RecoveryStep::Compact));
        assert_eq!(lane.run().recoveries.compactions, 2);
    });
}

#[test]
fn a_compaction_that_frees_too_little_goes_one_rung_further_at_once() {
    // Ten messages of 8,000 characters are more than half of the window; four are not.
    let lane = Lane::with(paid_only).prompt("go").fills(0..7, 8_000);
    lane.records(
        "call_returned result_finalized round_closed compacted compacted model_call_started",
    )
    .so(|lane| {
        assert_eq!(lane.run().recoveries.total, 2);
        assert!(lane.share() <= 50);
    });
    // When four are too many as well, a human decides.
    lost().records("call_returned result_finalized round_closed compacted compacted recovery_step_used question_asked");
}

#[test]
fn guidance_from_a_human_is_theirs_and_is_kept() {
    lost()
        .answer(HumanAnswer::Text { text: Arc::from("only the first page matters") })
        .tells("only the first page matters")
        .so(|lane| assert_eq!(lane.run().user_message_count, 2));
    lost().answer(HumanAnswer::Abandon {}).ends(StopCause::UserCancel);
}

// spec: WINDOW-15
#[test]
fn every_run_begins_at_the_foot_of_the_ladder() {
    let lane = nearly(|_| {}).reads(8, 6_000).summary("one").says(text("done"));
    lane.prompt("more").so(|lane| assert_eq!(lane.run().recoveries.total, 0));
}

#[test]
fn hooks_hear_of_a_compaction_and_may_put_it_off() {
    let lane = nearly(|settings| settings.hooks.compaction = HookPresence::Present).reads(8, 6_000);
    let lane = lane.records(OVER).consults("compaction");
    lane.clone()
        .review_returned(ReviewResult::Pass { context: Some(Arc::from("keep the names")) })
        .records("review_completed review_requested")
        .so(|lane| {
            let output = format!("{:?}", lane.live.summary_request().unwrap().transcript);
            assert!(output.contains("keep the names"));
        });
    lane.clone().review_returned(failed()).consults("summary");
    // Postponed: the model is called with the history as it is, and the next step is considered
    // with the next call.
    lane.clone()
        .review_returned(ReviewResult::Block { reason: Arc::from("not now") })
        .records("review_completed recovery_step_used model_call_started")
        .reads(9, 3_000)
        .consults("compaction")
        .so(|lane| {
            let review = &lane.run().pending_review().unwrap().review;
            assert!(matches!(review, Review::Compaction { compaction } if compaction.step == RecoveryStep::DeepPrune));
        });
    lane.review_returned(ReviewResult::Stop { reason: Arc::from("enough") })
        .ends(StopCause::HookStopped);
}

#[test]
fn a_hook_cannot_put_a_compaction_off_for_ever() {
    let block = || ReviewResult::Block { reason: Arc::from("never") };
    let lane = nearly(|settings| settings.hooks.compaction = HookPresence::Present);
    lane.reads(8, 6_000)
        .review_returned(block())
        .reads(9, 3_000)
        .review_returned(block())
        .reads(10, 3_000)
        .parked();
    // A compaction is never postponed over the blocking limit.
    let lane = nearly(|settings| settings.hooks.compaction = HookPresence::Present);
    lane.reads(8, 25_000).review_returned(block()).ends(StopCause::BlockingLimit);
}

// spec: WINDOW-07, FAULT-12
#[test]
fn a_crash_while_somebody_sums_up_charges_it_and_does_without() {
    let lane = nearly(|_| {}).reads(8, 6_000);
    let reserved = match &lane.run().pending_review().unwrap().review {
        Review::Summary { reserved_tokens, .. } => *reserved_tokens,
        about => panic!("{about:?}"),
    };
    let before = lane.live.usage.total_tokens();
    lane.owner_changes()
        .records("owner_changed review_completed compacted model_call_started")
        .so(|lane| assert_eq!(lane.live.usage.total_tokens(), before + reserved))
        // A late result of the dead process changes nothing.
        .summary("late")
        .records_nothing();
    let lane = nearly(|settings| settings.hooks.compaction = HookPresence::Present).reads(8, 6_000);
    lane.owner_changes().records("owner_changed").wants("review 1");
}

#[test]
fn a_cancel_does_not_wait_for_a_summary() {
    nearly(|_| {})
        .reads(8, 6_000)
        .cancel()
        .records("cancel_requested review_completed run_finished")
        .ends(StopCause::UserCancel);
}

#[test]
fn a_provider_that_says_too_long_is_believed() {
    let lane = Lane::with(summed_up).prompt("go").fills(0..6, 100);
    lane.fails(passing(FailureClass::ContextTooLong))
        .records("model_call_abandoned review_requested")
        .summary("short")
        .records("review_completed compacted model_call_started")
        .so(|lane| assert_eq!(lane.run().counters.reactive_compactions, 1))
        .fails(passing(FailureClass::ContextTooLong))
        .ends(StopCause::BlockingLimit);
    Lane::new()
        .prompt("hi")
        .fails(passing(FailureClass::ContextTooLong))
        .ends(StopCause::BlockingLimit);
}

#[test]
fn somebody_may_ask_for_room_before_it_is_tight() {
    let lane = Lane::with(summed_up).prompt("go").fills(0..7, 500);
    lane.compact()
        .records("compaction_requested")
        .reads(7, 500)
        .consults("summary")
        .summary("seven pages")
        .tells("seven pages")
        // Once; and a second request is as ordinary as the first.
        .reads(8, 500)
        .records("call_returned result_finalized round_closed model_call_started")
        .compact()
        .reads(9, 500)
        .summary("again")
        .so(|lane| assert_eq!(rung(lane), Some(RecoveryStep::Compact)));
    // Between two runs the request waits for the next one.
    let lane = Lane::with(summed_up).prompt("go").fills(0..7, 500).says(text("done"));
    lane.compact().prompt("more").consults("summary");
}

// spec: WINDOW-20
#[test]
fn whoever_asks_for_room_may_say_what_the_summary_keeps() {
    let asked = |lane: &Lane| format!("{:?}", lane.live.summary_request().unwrap().transcript);
    let lane = Lane::with(summed_up).prompt("go").fills(0..7, 500);
    let lane = lane.compact_with_instructions("the names").compact().reads(7, 500);
    let lane = lane.so(|lane| assert!(asked(lane).contains("must keep:\\nthe names")));
    // The instructions were for this compaction only.
    lane.summary("seven pages")
        .compact()
        .reads(8, 500)
        .so(|lane| assert!(!asked(lane).contains("the names")));
    // The instructions of a hook are added to it.
    let hooked = |settings: &mut Settings| {
        summed_up(settings);
        settings.hooks.compaction = HookPresence::Present;
    };
    let lane =
        Lane::with(hooked).prompt("go").fills(0..7, 500).compact_with_instructions("the names");
    let result = ReviewResult::Pass { context: Some(Arc::from("the dates")) };
    lane.reads(7, 500).review_returned(result).so(|lane| {
        let asked = asked(lane);
        assert!(asked.contains("the names") && asked.contains("the dates"), "{asked}");
    });
}

#[test]
fn asking_for_room_where_nothing_is_old_is_refused() {
    Lane::with(summed_up)
        .compact()
        .command_rejected("nothing_to_compact")
        .prompt("hi")
        .wants("model 1");
    Lane::new().prompt("hi").says(text("hello")).compact().command_rejected("nothing_to_compact");
}

/// A lane between two runs.
fn rested(change: impl FnOnce(&mut Settings)) -> Lane {
    let lane = Lane::with(|settings| {
        summed_up(settings);
        change(settings);
    });
    lane.prompt("go").reply(text("done"))
}

// spec: WINDOW-24
#[test]
fn a_compaction_run_sums_up_everything_and_ends() {
    rested(|_| {})
        .compact_now("the names")
        .records("prompt_queued run_started review_requested")
        .wants("review 1")
        .summary("they greeted")
        .records("review_completed compacted run_finished")
        .ends(StopCause::EndTurn)
        .so(|lane| assert_eq!(crate::kit::messages(&lane.live).len(), 1))
        .prompt("more")
        .records("prompt_queued run_started model_call_started")
        .tells("they greeted");
}

#[test]
fn a_compaction_run_waits_its_turn() {
    let waits = nearly(|_| {}).compact_now("").records("prompt_queued");
    waits
        .clone()
        .reply(text("done"))
        .records("model_replied reply_kept run_finished run_started review_requested");
    // A message for the run in progress is not for the compaction, and waits for it.
    rested(|_| {})
        .compact_now("")
        .steer("and then this")
        .records("prompt_queued")
        .summary("they greeted")
        .records("review_completed compacted run_finished run_started model_call_started");
}

#[test]
fn a_compaction_run_that_is_stopped_or_cut_off_ends() {
    let running = rested(|_| {}).compact_now("");
    running.clone().cancel().ends(StopCause::UserCancel);
    // Without its summary, as after any owner change.
    running.owner_changes().ends(StopCause::EndTurn);
}

#[test]
fn a_compaction_run_without_a_summary_keeps_the_last_messages() {
    let off = |settings: &mut Settings| settings.window.summariser = Summariser::Off;
    rested(off).compact_now("").command_rejected("nothing_to_compact");
    Lane::with(paid_only).compact_now("").command_rejected("nothing_to_compact");
}

#[test]
fn a_hook_that_blocks_a_compaction_run_ends_it() {
    let hooked = rested(|settings| settings.hooks.compaction = HookPresence::Present);
    let asked = hooked.compact_now("").consults("compaction");
    asked
        .clone()
        .review_returned(ReviewResult::Block { reason: Arc::from("not now") })
        .ends(StopCause::HookStopped)
        .so(|lane| assert_eq!(&*lane.ended().text, "not now"));
    asked
        .review_returned(ReviewResult::Pass { context: None })
        .records("review_completed review_requested")
        .consults("summary");
}
