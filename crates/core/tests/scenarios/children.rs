//! Child runs: started, returned in any order, cancelled, lost, and what they spend.

use std::sync::Arc;

use windlass_core::budget::spending::{Spending, SpendingCaps};
use windlass_core::call::outcome::ToolError;
use windlass_core::log::ids::{CallId, LaneId, RunId};
use windlass_core::log::inbox::InboxCommand;
use windlass_core::log::record::Record;
use windlass_core::run::child_runs::{
    ChildOutcome, ChildTask, ParentLink, child_lane, notification_run_id,
};
use windlass_core::run::wanted::{is_waiting_for_children, is_waiting_in_background};
use windlass_core::settings::conversation_settings::Settings;
use windlass_core::stop::StopCause;

use crate::kit::{Lane, call, calls, child_result, price, text};

fn spawned(tasks: &str) -> Lane {
    Lane::new().prompt("go").reply(calls([call("t1", "spawn", tasks)]))
}

/// Returns the tasks that the last entry started.
fn sent(lane: &Lane) -> Vec<(u16, u16)> {
    let sent = |record: &Record| match record {
        Record::ChildrenSpawned { from, to, .. } => Some((*from, *to)),
        _ => None,
    };
    lane.last.iter().filter_map(sent).collect()
}

// spec: CHILDREN-02
#[test]
fn a_call_waits_for_its_child_and_holds_nothing() {
    let lane = spawned("look")
        .records("model_replied round_opened permission_decided children_spawned")
        .calls_are("awaiting-children");
    let lane =
        lane.wants("").wakes_at(None).so(|lane| assert!(is_waiting_for_children(&lane.live)));
    lane.not_parked()
        .child_returns(0, 0, "found it")
        .records("child_result_received result_finalized round_closed model_call_started")
        .shows_last("user: <t1 ok: found it>")
        .so(|lane| assert_eq!(lane.live.spent.tokens, 115));
}

#[test]
fn several_come_back_in_any_order_and_are_told_in_theirs() {
    let lane = spawned("a b c")
        .child_returns(0, 2, "C")
        .records("child_result_received")
        .calls_are("awaiting-children");
    let lane = lane.child_returns(0, 0, "A").child_returns(0, 1, "B");
    lane.shows_last("user: <t1 ok: [1] A\n\n[2] B\n\n[3] C>");
}

// spec: CHILDREN-06
#[test]
fn there_is_room_for_four_and_the_others_wait() {
    let lane = spawned("a b c d e f").so(|lane| assert_eq!(sent(lane), [(0, 4)]));
    // A child that was started by mistake still counts when it returns, and is not started again.
    let early = lane.clone().child_returns(0, 5, "F").records("child_result_received");
    early.child_returns(0, 5, "F again").command_rejected("child_not_awaited");
    let lane = lane.child_returns(0, 9, "?").command_rejected("child_not_awaited");
    let lane = lane.child_returns(0, 1, "B").so(|lane| assert_eq!(sent(lane), [(4, 5)]));
    let lane = lane.child_returns(0, 4, "E").so(|lane| assert_eq!(sent(lane), [(5, 6)]));
    let lane = lane.child_returns(0, 0, "A").child_returns(0, 2, "C").child_returns(0, 3, "D");
    lane.child_returns(0, 5, "F")
        .shows_last("user: <t1 ok: [1] A\n\n[2] B\n\n[3] C\n\n[4] D\n\n[5] E\n\n[6] F>");
    // The slots are shared by all calls of the round.
    let two = calls([call("t1", "spawn", "a b c"), call("t2", "spawn", "d e f")]);
    let lane =
        Lane::new().prompt("go").reply(two).so(|lane| assert_eq!(sent(lane), [(0, 3), (0, 1)]));
    lane.child_returns(0, 0, "A").so(|lane| assert_eq!(sent(lane), [(1, 2)]));
    let one = Lane::with(|settings| settings.limits.children = 0).prompt("go");
    one.reply(calls([call("t1", "spawn", "a b")])).so(|lane| assert_eq!(sent(lane), [(0, 1)]));
}

#[test]
fn a_second_letter_of_the_same_child_is_refused() {
    let lane = spawned("a b").child_returns(0, 0, "A");
    let spent = lane.live.spent;
    lane.child_returns(0, 0, "A again").command_rejected("child_not_awaited").so(|lane| {
        assert_eq!(lane.live.spent, spent);
    });
    let unknown = child_result(CallId { model_call: 77, index: 0 }, 0, ChildOutcome::Answered);
    spawned("a").deliver_child_result(unknown, "who?").command_rejected("child_not_awaited");
    let ask = CallId { model_call: 1, index: 0 };
    Lane::new()
        .deliver_child_result(child_result(ask, 0, ChildOutcome::Answered), "?")
        .command_rejected("child_not_awaited");
}

#[test]
fn children_that_failed_say_so() {
    let failed = |lane: Lane, part| {
        let result = child_result(lane.call(0), part, ChildOutcome::Failed);
        lane.deliver_child_result(result, "it was too dark")
    };
    failed(spawned("a"), 0).tells("child_failed: failed: it was too dark");
    failed(spawned("a b").child_returns(0, 0, "A"), 1)
        .tells("ok: [1] A\n\n[2] failed: it was too dark");
}

#[test]
fn long_answers_have_their_share_of_the_result() {
    let lane = Lane::with(|settings| settings.limits.result_chars = 400).prompt("go");
    let lane = lane.reply(calls([call("t1", "spawn", "a b")]));
    let lane = lane.child_returns(0, 0, &"x".repeat(10_000)).child_returns(0, 1, "short");
    lane.tells("[2] short");
}

// spec: CHILDREN-06
#[test]
fn children_of_children_have_an_end() {
    let deep = Lane::with(|settings| settings.depth = 2).prompt("go");
    deep.reply(calls([call("t1", "spawn", "a")]))
        .tells("too_deep: sub-agents may be nested at most 2 levels deep");
    spawned("").tells("no_task");
}

fn task(depth: u8, caps: SpendingCaps) -> InboxCommand {
    let call = CallId { model_call: 3, index: 1 };
    let parent =
        ParentLink { lane: LaneId::from("p"), call, part: 0, caps, depth, untrusted: false };
    let task = ChildTask::new("scout", "look there");
    InboxCommand::Task { run: RunId::from("run:c"), task, parent }
}

// spec: CHILDREN-02
#[test]
fn a_child_begins_with_its_task_and_nothing_else() {
    let lane = Lane::new().send_command(task(1, SpendingCaps::default()));
    let lane = lane
        .records("parent_assigned prompt_queued run_started model_call_started")
        .shows(["user: look there"]);
    lane.so(|lane| assert_eq!(lane.live.parent.as_ref().unwrap().depth, 1))
        .reply(text("seen"))
        .ends(StopCause::EndTurn)
        .send_command(task(1, SpendingCaps::default()))
        .command_rejected("task_already_assigned");
    let mut empty = task(1, SpendingCaps::default());
    if let InboxCommand::Task { task, .. } = &mut empty {
        task.prompt = Arc::from(" ");
    }
    Lane::new().send_command(empty).command_rejected("empty_task");
}

#[test]
fn a_child_stands_as_deep_as_its_parent_says() {
    let lane = Lane::new().send_command(task(2, SpendingCaps::default()));
    lane.reply(calls([call("t1", "spawn", "a")])).tells("too_deep");
}

// spec: BUDGETS-05
#[test]
fn a_child_never_outspends_what_it_was_granted() {
    let caps = SpendingCaps { tokens: Some(3_000), usd_micros: None };
    let lane = Lane::new().send_command(task(1, caps)).so(|lane| {
        assert!(lane.run().pending_model_call().unwrap().reserved_tokens <= 3_000);
    });
    lane.reply(calls([call("t1", "read", "/a")]).usage(2_500, 10))
        .returns(0, "A")
        .ends(StopCause::BudgetTokens);
    // A dollar cap without a price is refused here too.
    let caps = SpendingCaps { tokens: None, usd_micros: Some(5) };
    Lane::new().send_command(task(1, caps)).ends(StopCause::PriceUnknown);
}

fn capped(settings: &mut Settings) {
    settings.model.price = Some(price());
    settings.budget.run = SpendingCaps { tokens: Some(30_000), usd_micros: Some(3_000_000) };
}

// spec: BUDGETS-05
#[test]
fn children_draw_equal_shares_and_what_is_lent_is_spent_until_they_are_back() {
    let lane =
        Lane::with(capped).prompt("go").reply(calls([call("t1", "spawn", "a b")]).usage(0, 0));
    let granted = lane.run().round().unwrap().calls[0].pending_children().unwrap().granted;
    assert_eq!(granted, SpendingCaps { tokens: Some(10_000), usd_micros: Some(1_000_000) });
    let back = |lane: Lane, part, tokens| {
        let mut result = child_result(lane.call(0), part, ChildOutcome::Answered);
        result.spent = Spending { tokens, usd_micros: 0 };
        lane.deliver_child_result(result, "ok")
    };
    let lane = back(back(lane, 0, 9_000), 1, 1_000);
    lane.so(|lane| {
        assert_eq!(lane.run().spent.tokens, 10_000);
        assert_eq!(lane.live.spent.tokens, 10_000);
    });
    // A sibling that classifies or spawns meanwhile has less: what is reserved for others is not
    // available.
    let two = calls([call("t1", "spawn", "a"), call("t2", "spawn", "b")]).usage(0, 0);
    let lane = Lane::with(capped).prompt("go").reply(two);
    let calls = &lane.run().round().unwrap().calls;
    let tokens = |nth: usize| calls[nth].pending_children().unwrap().granted.tokens;
    assert_eq!((tokens(0), tokens(1)), (Some(15_000), Some(7_500)));
}

#[test]
fn a_cancel_recalls_children_and_waits_for_them() {
    let lane = spawned("a b")
        .cancel()
        .records("cancel_requested children_cancelled")
        .calls_are("awaiting-children");
    let lane = lane.wakes_in(180_000);
    let back = lane.clone().child_returns(0, 0, "half").child_returns(0, 1, "other half");
    back.ends(StopCause::UserCancel).shows_last("user: <t1 ok: [1] half\n\n[2] other half>");
    // The wait is bounded.
    let given_up = lane
        .wake()
        .records("result_finalized round_closed run_finished")
        .ends(StopCause::UserCancel);
    given_up.tells("2 of its sub-agents did not return in time");
    // What the other children returned is reported.
    let half = spawned("a b").cancel().child_returns(0, 0, "half").wake();
    half.tells("1 of its sub-agents did not return in time\n\n[1] half\n\n[2] did not return");
}

#[test]
fn children_that_wait_for_room_are_not_sent_out_by_a_cancelled_run() {
    let lane = spawned("a b c d e f").cancel().child_returns(0, 0, "A");
    let lane = lane.so(|lane| assert_eq!(sent(lane), []));
    // Tasks that were never started are not waited for.
    let lane = lane.child_returns(0, 1, "B").child_returns(0, 2, "C").child_returns(0, 3, "D");
    lane.ends(StopCause::UserCancel).tells("[4] D\n\n[5] was not started\n\n[6] was not started");
}

#[test]
fn an_abort_does_not_wait_and_what_children_spent_still_counts() {
    let lane = spawned("a b");
    let id = lane.call(0);
    let lane = lane
        .abort()
        .records("cancel_requested children_cancelled result_finalized round_closed run_finished");
    let before = lane.live.spent.tokens;
    let lane = lane
        .deliver_child_result(child_result(id, 1, ChildOutcome::Failed), "cancelled")
        .records("child_result_received");
    let lane = lane.so(|lane| assert_eq!(lane.live.spent.tokens, before + 100));
    let lane = lane
        .deliver_child_result(child_result(id, 1, ChildOutcome::Failed), "again")
        .command_rejected("child_not_awaited");
    // Also while another run is active, which is not charged for it.
    lane.prompt("next").deliver_child_result(child_result(id, 0, ChildOutcome::Failed), "late").so(
        |lane| {
            assert_eq!(lane.live.spent.tokens, before + 200);
            assert_eq!(lane.run().spent.tokens, 0);
        },
    );
}

#[test]
fn a_fatal_sibling_does_not_wait_for_children() {
    let both = calls([call("t1", "spawn", "a"), call("t2", "fetch", "/x")]);
    let lane = Lane::new().prompt("go").reply(both);
    lane.errs(1, ToolError::new("disk_gone", "the disk is gone", "stop").into_fatal())
        .records("call_returned fatal_tool_error result_finalized children_cancelled result_finalized round_closed run_finished")
        .ends(StopCause::ToolFatal);
}

#[test]
fn a_crash_while_children_are_away_changes_nothing() {
    let lane = spawned("a b")
        .child_returns(0, 0, "A")
        .owner_changes()
        .records("owner_changed")
        .calls_are("awaiting-children");
    lane.child_returns(0, 1, "B").shows_last("user: <t1 ok: [1] A\n\n[2] B>");
    let recalled = spawned("a").cancel().owner_changes().records("owner_changed");
    recalled.child_returns(0, 0, "A").ends(StopCause::UserCancel);
}

#[test]
fn time_that_is_up_recalls_children_too() {
    let lane = Lane::with(|settings| {
        settings.times = Some(windlass_core::settings::limits::RunTimeLimits::default());
    });
    let both = calls([call("t1", "spawn", "a"), call("t2", "write", "/x")]);
    let lane =
        lane.prompt("go").reply(both).wake().records("time_limit_reached children_cancelled");
    let lane = lane.returns(1, "X").calls_are("awaiting-children finished").wakes_in(180_000);
    lane.wake().records("result_finalized round_closed note_added model_call_started");
}

#[test]
fn a_child_without_a_call_speaks_to_the_run() {
    Lane::new().prompt("go").child("by the way").records("steering_queued");
    Lane::new().child("by the way").command_rejected("child_not_awaited");
}

fn spawned_in_background(task: &str) -> Lane {
    Lane::new().prompt("go").reply(calls([call("t1", "spawn_background", task)]))
}

#[test]
fn a_child_in_the_background_answers_its_call_at_once_and_starts_a_run_later() {
    let lane = spawned_in_background("look").records(
        "model_replied round_opened permission_decided children_spawned result_finalized round_closed \
         model_call_started",
    );
    let call = lane.so(|lane| assert_eq!(sent(lane), [(0, 1)]));
    let lane = call.reply(text("started"));
    let id = CallId { model_call: 1, index: 0 };
    let home = child_result(id, 0, ChildOutcome::Answered);
    let lane = lane
        .so(|lane| {
            assert!(lane.live.run.is_none() && is_waiting_in_background(&lane.live));
        })
        .deliver_child_result(home.clone(), "found it")
        .records("child_result_received prompt_queued run_started model_call_started")
        .so(|lane| {
            let child = child_lane(&LaneId::from("conversation:1"), id, 0);
            let run = lane.live.run.as_ref().map(|run| run.id.clone());
            assert_eq!(run, Some(notification_run_id(&child)));
            assert_eq!(lane.live.background_children().count(), 0);
        });
    lane.deliver_child_result(home, "again").command_rejected("child_not_awaited");
}

#[test]
fn the_result_of_a_child_in_the_background_waits_for_the_run() {
    let lane = spawned_in_background("look");
    let id = CallId { model_call: 1, index: 0 };
    let lane = lane
        .deliver_child_result(child_result(id, 0, ChildOutcome::Failed), "no luck")
        .records("child_result_received prompt_queued");
    lane.reply(text("started"))
        .records("model_replied reply_kept run_finished run_started model_call_started");
}

#[test]
fn children_in_the_background_take_slots_and_survive_the_end_of_the_run() {
    let full = Lane::with(|settings| settings.limits.children = 1).prompt("go");
    let two = calls([call("t1", "spawn_background", "a"), call("t2", "spawn_background", "b")]);
    let lane = full.reply(two).so(|lane| {
        assert_eq!(sent(lane), [(0, 1)]);
        assert_eq!(lane.live.background_children().count(), 1);
    });
    let lane = lane.cancel();
    let cancels = |record: &Record| matches!(record, Record::ChildrenCancelled { .. });
    lane.so(|lane| {
        assert!(!lane.last.iter().any(cancels));
        assert_eq!(lane.live.background_children().count(), 1);
    });
}
