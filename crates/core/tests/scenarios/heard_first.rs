//! Hooks see the whole transcript before anything of it is removed, by whatever stage.

use std::sync::Arc;

use windlass_core::context::StageSwitch;
use windlass_core::message::reply::TokenUsage;
use windlass_core::run::review::ReviewResult;
use windlass_core::settings::conversation_settings::{HookPresence, Settings};
use windlass_core::stop::StopCause;

use crate::kit::{Lane, small};

fn listening(change: impl FnOnce(&mut Settings)) -> Lane {
    let lane = Lane::with(|settings| {
        small(settings);
        settings.hooks.compaction = HookPresence::Present;
        change(settings);
    });
    lane.prompt("go")
}

fn pass() -> ReviewResult {
    ReviewResult::Pass { context: None }
}

fn block() -> ReviewResult {
    ReviewResult::Block { reason: Arc::from("not now") }
}

/// Whether the first file that was read is in the transcript in full.
fn is_whole(lane: &Lane) -> bool {
    let segments = lane.live.transcript.segments();
    let mut blocks = segments.iter().flat_map(|segment| segment.blocks.iter());
    blocks.any(|block| block.raw().text().len() > 6_000)
}

// spec: HOOKS-06
#[test]
fn hooks_see_results_before_the_cheap_stages_cut_them() {
    let lane = listening(|_| {}).fills_up(6_500).consults("pruning");
    assert!(is_whole(&lane));
    assert_eq!(lane.count("pruned"), 0);
    for advice in
        [pass(), ReviewResult::Failed { why: Arc::from("hangs"), usage: TokenUsage::default() }]
    {
        lane.clone().review_returned(advice).records("review_completed pruned model_call_started");
    }
    lane.clone()
        .review_returned(ReviewResult::Stop { reason: Arc::from("x") })
        .ends(StopCause::HookStopped);
    lane.clone()
        .owner_changes()
        .wants("review 1")
        .review_returned(pass())
        .records("review_completed pruned model_call_started");
    lane.cancel().ends(StopCause::UserCancel);
}

// spec: HOOKS-06
#[test]
fn a_hook_can_put_the_cheap_stages_off_until_the_window_is_full() {
    let mut lane = listening(|settings| settings.limits.kept_messages = 4).fills_up(6_500);
    let mut said_no = 0;
    while lane.count("pruned") == 0 {
        assert!(said_no < 10, "a hook that always says no does not stop the run");
        said_no += 1;
        lane = lane.review_returned(block()).fills_up(6_500);
    }
    assert!(said_no > 1, "the window was not full at the first no");
    assert!(lane.run().pending_review().is_some(), "the run goes on");
}

// spec: HOOKS-06
#[test]
fn the_last_means_is_told_too() {
    // No recovery step is left, and the pruning stages free enough for one call only.
    let lane = listening(|settings| {
        settings.limits.recoveries = 0;
        settings.window.thresholds.gain = 1;
    });
    let lane = lane.fills_up(9_000).consults("pruning");
    assert_eq!(lane.count("pruned"), 0);
    lane.clone().review_returned(pass()).records("review_completed pruned model_call_started");
    lane.review_returned(block()).records("review_completed pruned model_call_started");
}

#[test]
fn without_cheap_stages_hooks_hear_of_the_summary_alone() {
    let lane = listening(|settings| {
        settings.window.snip = StageSwitch::Off;
        settings.window.micro = StageSwitch::Off;
        settings.window.collapse = StageSwitch::Off;
    });
    lane.fills_up(6_500)
        .consults("compaction")
        .review_returned(pass())
        .records("review_completed compacted model_call_started");
}
