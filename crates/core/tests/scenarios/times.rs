//! Time limits of a run: the wrap-up turn, the grace period, the end, and what does not count.

use windlass_core::call::outcome::ToolError;
use windlass_core::log::input::FailureClass;
use windlass_core::log::record::ToolChoice;
use windlass_core::settings::conversation_settings::{HookPresence, Settings};
use windlass_core::settings::limits::RunTimeLimits;
use windlass_core::stop::StopCause;

use crate::kit::{Lane, call, calls, passing, small, text};

const MINUTE: u64 = 60_000;

fn timed(settings: &mut Settings) {
    settings.times = Some(RunTimeLimits::default());
}

fn lane() -> Lane {
    Lane::with(timed).prompt("go")
}

fn choice(lane: &Lane) -> ToolChoice {
    lane.run().pending_model_call().unwrap().choice.clone()
}

// spec: GUARDS-11
#[test]
fn at_the_soft_limit_the_run_sums_up_without_tools() {
    let lane = lane().wakes_in(15 * MINUTE).wake().records("time_limit_reached").wants("model 1");
    let lane = lane.reply(calls([call("t1", "read", "/a")]).text("let me look"));
    let lane = lane.records("model_replied reply_kept note_added model_call_started").so(|lane| {
        assert_eq!(choice(lane), ToolChoice::NoTools);
        assert_eq!(lane.count("round_opened"), 0);
    });
    let lane = lane.tells("the time limit of this task is reached; do not call tools");
    lane.reply(text("I found the leak"))
        .records("model_replied reply_kept run_finished")
        .ends(StopCause::SoftTime)
        .saying("I found the leak");
}

#[test]
fn an_answer_that_comes_at_the_soft_limit_is_the_answer() {
    lane().wake().reply(text("done")).ends(StopCause::EndTurn).saying("done");
}

#[test]
fn whatever_the_last_turn_says_is_the_result() {
    let last = || {
        lane()
            .later(15 * MINUTE)
            .reply(calls([call("t1", "read", "/a")]))
            .records("model_replied time_limit_reached reply_kept note_added model_call_started")
    };
    last()
        .reply(calls([call("t2", "read", "/b")]).text("half"))
        .ends(StopCause::SoftTime)
        .saying("half");
    last().reply(text("cut").stop("max_tokens")).ends(StopCause::SoftTime).saying("cut");
    let nothing = "The time limit was reached before there was an answer.";
    last().reply(crate::kit::nothing()).ends(StopCause::SoftTime).saying(nothing);
    last().fails(passing(FailureClass::Transient)).ends(StopCause::SoftTime).saying(nothing);
    last()
        .cancel()
        .reply(text("summed up"))
        .ends(StopCause::SoftTime)
        .also([StopCause::UserCancel]);
}

#[test]
fn a_cut_reply_is_not_asked_for_again_with_tools_when_the_time_is_up() {
    let lane = lane().wake().reply(text("x").stop("max_tokens"));
    lane.so(|lane| assert_eq!(choice(lane), ToolChoice::NoTools));
}

// spec: GUARDS-11
#[test]
fn calls_in_the_air_have_a_grace_and_the_rest_do_not_run() {
    let reply =
        calls([call("t1", "sleep", "/s"), call("t2", "write", "/a"), call("t3", "write", "/a")]);
    let lane = lane().reply(reply).calls_are("running running ready").wake();
    let lane =
        lane.records("time_limit_reached result_finalized").calls_are("running running finished");
    let lane = lane.wakes_in(30_000).wake().calls_are("finished running finished");
    let lane = lane
        .returns(1, "written")
        .records("call_returned result_finalized round_closed note_added model_call_started");
    lane.so(|lane| assert_eq!(choice(lane), ToolChoice::NoTools))
        .tells("interrupted after 929.9 s; it changes nothing")
        .tells("skipped: the time limit was reached before this call ran");
}

#[test]
fn a_call_that_fails_in_passing_is_not_tried_again_when_the_time_is_up() {
    let down = ToolError::new("http_503", "down", "later").into_transient();
    let lane = lane().reply(calls([call("t1", "fetch", "/a")])).wake().errs(0, down);
    lane.records("call_returned result_finalized round_closed note_added model_call_started")
        .tells("http_503");
}

// spec: GUARDS-13
#[test]
fn at_the_hard_limit_whatever_is_in_the_air_is_given_up() {
    let lane = lane().wake().wakes_in(5 * MINUTE);
    lane.wake()
        .records("time_limit_reached model_call_abandoned run_finished")
        .ends(StopCause::HardTime)
        .so(|lane| {
            assert_eq!(
                lane.ended().cause.run_state(lane.ended().text_presence()),
                windlass_core::stop::RunState::TimedOut
            );
            assert!(lane.live.usage.total_tokens() > 0, "charged in full");
        });
    let acting = super::times::lane().reply(calls([call("t1", "write", "/a")])).wake().wake();
    acting
        .records("time_limit_reached result_finalized round_closed run_finished")
        .ends(StopCause::HardTime)
        .shows_last("user: <t1 interrupted: interrupted after 1199.9 s; effects unknown>");
}

#[test]
fn the_hard_limit_ends_a_counsel_and_never_loses_an_answer() {
    let looked_at = Lane::with(|settings| {
        timed(settings);
        settings.hooks.answer = HookPresence::Present;
        settings.hooks.prompt = HookPresence::Present;
    });
    looked_at.clone().prompt("go").consults("prompt").wake().wake().ends(StopCause::HardTime);
    let pass = windlass_core::run::review::ReviewResult::Pass { context: None };
    let lane = looked_at.prompt("go").review_returned(pass).reply(text("done")).consults("answer");
    lane.wake().wake().ends(StopCause::EndTurn).also([StopCause::HardTime]).saying("done");
}

// spec: GUARDS-14
#[test]
fn waiting_for_a_human_a_provider_or_children_does_not_count() {
    let hour = 60 * MINUTE;
    let human = lane().reply(calls([call("t1", "deploy", "x")])).parked().wakes_at(None);
    human.wait(hour).records_nothing().allow().so(|lane| assert!(lane.run().active_ms < MINUTE));
    let provider = Lane::with(|settings| {
        timed(settings);
        settings.limits.provider_wait_ms = u64::MAX;
    });
    let lane = (0..40)
        .fold(provider.prompt("go"), |lane, _| lane.fails(passing(FailureClass::Transient)).wake());
    let lane = lane.so(|lane| assert!(lane.run().active_ms < MINUTE, "{}", lane.run().active_ms));
    // A long provider outage does not count as active time either.
    lane.reply(text("up again")).ends(StopCause::EndTurn);
    let child = super::times::lane().reply(calls([call("t1", "spawn", "a b c d e f")]));
    let child = child.wakes_at(None).later(hour).child_returns(0, 0, "A");
    child.wakes_at(None).later(hour).child_returns(0, 1, "B").so(|lane| {
        assert!(lane.run().active_ms < MINUTE, "{}", lane.run().active_ms);
    });
}

#[test]
fn a_crash_does_not_count_the_time_nobody_worked() {
    let lane = lane().later(10 * MINUTE).owner_changes().wants("model 2");
    lane.so(|lane| assert!(lane.run().active_ms < MINUTE)).wakes_in(15 * MINUTE);
    let known = super::times::lane().reply(calls([call("t1", "read", "/a")])).later(5 * MINUTE);
    let known = known.returns(0, "A").later(60 * MINUTE).owner_changes();
    known.so(|lane| assert!((5 * MINUTE..6 * MINUTE).contains(&lane.run().active_ms)));
}

// spec: LOG-10
#[test]
fn a_machine_that_slept_did_not_work() {
    let lane = lane().later(8 * 60 * MINUTE).wait(0).records("sleep_detected").wants("model 1");
    let lane = lane.so(|lane| assert!(lane.run().active_ms < MINUTE)).wakes_in(15 * MINUTE);
    // The first input records the sleep, and the record holds on every machine.
    let lane = lane.later(8 * 60 * MINUTE).reply(calls([call("t1", "read", "/a")]));
    lane.records(
        "sleep_detected model_replied round_opened permission_decided repeatable_call_started",
    )
    .so(|lane| {
        assert!(lane.run().active_ms < MINUTE);
    });
}

// spec: LOG-10
#[test]
fn a_clock_that_goes_back_moves_no_limit() {
    let lane = lane().later(10 * MINUTE).reply(calls([call("t1", "read", "/a")]));
    let before = lane.run().active_ms;
    let mut lane = lane;
    lane.now = windlass_core::log::ids::UnixMillis(5);
    lane.returns(0, "A").so(|lane| assert_eq!(lane.run().active_ms, before));
}

#[test]
fn a_conversation_without_times_has_none() {
    Lane::new().prompt("go").wakes_at(None).wait(u64::MAX / 4).records_nothing().wants("model 1");
}

#[test]
fn absurd_times_still_end_the_run() {
    let with = |soft_ms, hard_ms| {
        Lane::with(move |settings| {
            settings.times = Some(RunTimeLimits { soft_ms, hard_ms, grace_ms: 0 });
        })
        .prompt("go")
    };
    with(0, 0).ends(StopCause::HardTime);
    with(0, 10).so(|lane| assert_eq!(choice(lane), ToolChoice::NoTools));
    with(10, 5).wait(5).ends(StopCause::HardTime);
    with(u64::MAX, u64::MAX)
        .wants("model 1")
        .wakes_at(Some(windlass_core::log::ids::UnixMillis(u64::MAX)));
}

#[test]
fn the_last_turn_is_said_once_however_often_it_is_begun() {
    let lane = lane()
        .later(15 * MINUTE)
        .reply(calls([call("t1", "read", "/a")]))
        .owner_changes()
        .owner_changes();
    lane.so(|lane| {
        let output = crate::kit::messages(&lane.live).join("\n");
        assert_eq!(output.matches("the time limit of this task is reached").count(), 1);
    });
}

#[test]
fn the_last_turn_makes_room_and_is_not_made_over_the_blocking_limit() {
    let full = || {
        Lane::with(|settings| {
            small(settings);
            timed(settings);
        })
        .prompt("go")
    };
    let reads = |lane: Lane, chars: usize| {
        let lane = lane.says(calls([call("last", "read", "/last")])).later(15 * MINUTE);
        lane.returns(0, &crate::kit::page(99, chars))
    };
    let lane = reads(full().fills(0..8, 6_000), 6_000);
    lane.so(|lane| {
        assert!(lane.count("pruned") > 0);
        assert_eq!(choice(lane), ToolChoice::NoTools);
    });
    let lane = Lane::with(|settings| {
        crate::kit::paid_only(settings);
        timed(settings);
        settings.limits.recoveries = 0;
    });
    let lane = reads(lane.prompt("go").fills(0..2, 30_000), 30_000);
    lane.ends(StopCause::SoftTime).saying("The time limit was reached before there was an answer.");
}

#[test]
fn hooks_that_were_slow_to_put_a_compaction_off_leave_the_last_turn() {
    let lane = Lane::with(|settings| {
        crate::kit::paid_only(settings);
        timed(settings);
        settings.hooks.compaction = HookPresence::Present;
    });
    let lane = lane.prompt("go").fills(0..9, 6_000).consults("compaction");
    let block =
        windlass_core::run::review::ReviewResult::Block { reason: std::sync::Arc::from("not now") };
    let lane = lane.wake().records("time_limit_reached").review_returned(block);
    lane.records("review_completed recovery_step_used note_added model_call_started")
        .tells("the time limit of this task is reached; do not call tools")
        .so(|lane| assert_eq!(choice(lane), ToolChoice::NoTools));
}
