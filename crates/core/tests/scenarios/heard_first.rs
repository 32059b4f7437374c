//! Hooks see the whole transcript before anything of it is left out, by whatever stage.

use std::sync::Arc;

use windlass_core::counsel::Advice;
use windlass_core::reply::Usage;
use windlass_core::settings::{Listening, Settings};
use windlass_core::stop::StopCause;
use windlass_core::window::Switch;

use crate::kit::{Lane, small};

fn listening(change: impl FnOnce(&mut Settings)) -> Lane {
    let lane = Lane::with(|settings| {
        small(settings);
        settings.hooks.compaction = Listening::Hooked;
        change(settings);
    });
    lane.prompt("go")
}

fn pass() -> Advice {
    Advice::Pass { context: None }
}

fn block() -> Advice {
    Advice::Block { reason: Arc::from("not now") }
}

/// The first file that was read stands in the transcript in full.
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
    for advice in [pass(), Advice::Failed { why: Arc::from("hangs"), usage: Usage::default() }] {
        lane.clone().advise(advice).settles("counsel_heard pruned asked");
    }
    lane.clone().advise(Advice::Stop { reason: Arc::from("x") }).ends(StopCause::HookStopped);
    lane.clone().adopted().wants("consult 1").advise(pass()).settles("counsel_heard pruned asked");
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
        lane = lane.advise(block()).fills_up(6_500);
    }
    assert!(said_no > 1, "the window was not full at the first no");
    assert!(lane.run().consulting().is_some(), "the run goes on");
}

// spec: HOOKS-06
#[test]
fn the_last_means_is_told_too() {
    // No rung is left, and the cheap stages free enough for a call only.
    let lane = listening(|settings| {
        settings.limits.recoveries = 0;
        settings.window.thresholds.gain = 1;
    });
    let lane = lane.fills_up(9_000).consults("pruning");
    assert_eq!(lane.count("pruned"), 0);
    lane.clone().advise(pass()).settles("counsel_heard pruned asked");
    lane.advise(block()).settles("counsel_heard pruned asked");
}

#[test]
fn without_cheap_stages_hooks_hear_of_the_summary_alone() {
    let lane = listening(|settings| {
        settings.window.snip = Switch::Off;
        settings.window.micro = Switch::Off;
        settings.window.collapse = Switch::Off;
    });
    lane.fills_up(6_500)
        .consults("compaction")
        .advise(pass())
        .settles("counsel_heard compacted asked");
}
