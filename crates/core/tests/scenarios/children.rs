//! Children: sent out, back in any order, recalled, lost, and what they spend.

use std::sync::Arc;

use windlass_core::budget::{Caps, Spent};
use windlass_core::child::{Ending, Parent, Task};
use windlass_core::ids::{CallId, LaneId, RunId};
use windlass_core::mail::MailBody;
use windlass_core::outcome::ToolError;
use windlass_core::record::Record;
use windlass_core::settings::Settings;
use windlass_core::stop::StopCause;
use windlass_core::wanted::waits_for_children;

use crate::kit::{Lane, call, calls, home, price, text};

fn spawned(tasks: &str) -> Lane {
    Lane::new().prompt("go").reply(calls([call("t1", "spawn", tasks)]))
}

/// Which tasks the last entry handed out.
fn sent(lane: &Lane) -> Vec<(u16, u16)> {
    let sent = |record: &Record| match record {
        Record::Spawned { from, to, .. } => Some((*from, *to)),
        _ => None,
    };
    lane.last.iter().filter_map(sent).collect()
}

// spec: CHILDREN-02
#[test]
fn a_call_waits_for_its_child_and_holds_nothing() {
    let lane = spawned("look").settles("replied round_opened judged spawned").calls_are("away");
    let lane = lane.wants("").wakes_at(None).so(|lane| assert!(waits_for_children(&lane.live)));
    lane.not_parked()
        .child_back(0, 0, "found it")
        .settles("child_back settled round_closed asked")
        .shows_last("user: <t1 ok: found it>")
        .so(|lane| assert_eq!(lane.live.spent.tokens, 115));
}

#[test]
fn several_come_back_in_any_order_and_are_told_in_theirs() {
    let lane = spawned("a b c").child_back(0, 2, "C").settles("child_back").calls_are("away");
    let lane = lane.child_back(0, 0, "A").child_back(0, 1, "B");
    lane.shows_last("user: <t1 ok: [1] A\n\n[2] B\n\n[3] C>");
}

// spec: CHILDREN-06
#[test]
fn there_is_room_for_four_and_the_others_wait() {
    let lane = spawned("a b c d e f").so(|lane| assert_eq!(sent(lane), [(0, 4)]));
    // One that was begun by mistake did its work nevertheless, and is not begun again for that.
    let early = lane.clone().child_back(0, 5, "F").settles("child_back");
    early.child_back(0, 5, "F again").refused("no run waits");
    let lane = lane.child_back(0, 9, "?").refused("no run waits");
    let lane = lane.child_back(0, 1, "B").so(|lane| assert_eq!(sent(lane), [(4, 5)]));
    let lane = lane.child_back(0, 4, "E").so(|lane| assert_eq!(sent(lane), [(5, 6)]));
    let lane = lane.child_back(0, 0, "A").child_back(0, 2, "C").child_back(0, 3, "D");
    lane.child_back(0, 5, "F")
        .shows_last("user: <t1 ok: [1] A\n\n[2] B\n\n[3] C\n\n[4] D\n\n[5] E\n\n[6] F>");
    // The room is shared by all calls of the round.
    let two = calls([call("t1", "spawn", "a b c"), call("t2", "spawn", "d e f")]);
    let lane =
        Lane::new().prompt("go").reply(two).so(|lane| assert_eq!(sent(lane), [(0, 3), (0, 1)]));
    lane.child_back(0, 0, "A").so(|lane| assert_eq!(sent(lane), [(1, 2)]));
    let one = Lane::with(|settings| settings.limits.children = 0).prompt("go");
    one.reply(calls([call("t1", "spawn", "a b")])).so(|lane| assert_eq!(sent(lane), [(0, 1)]));
}

#[test]
fn a_second_letter_of_the_same_child_is_refused() {
    let lane = spawned("a b").child_back(0, 0, "A");
    let spent = lane.live.spent;
    lane.child_back(0, 0, "A again").refused("no run waits").so(|lane| {
        assert_eq!(lane.live.spent, spent);
    });
    let unknown = home(CallId { ask: 77, index: 0 }, 0, Ending::Answered);
    spawned("a").child_home(unknown, "who?").refused("no run waits");
    let ask = CallId { ask: 1, index: 0 };
    Lane::new().child_home(home(ask, 0, Ending::Answered), "?").refused("no run waits");
}

#[test]
fn children_that_failed_say_so() {
    let failed = |lane: Lane, part| {
        let home = home(lane.call(0), part, Ending::Failed);
        lane.child_home(home, "it was too dark")
    };
    failed(spawned("a"), 0).tells("child_failed: failed: it was too dark");
    failed(spawned("a b").child_back(0, 0, "A"), 1)
        .tells("ok: [1] A\n\n[2] failed: it was too dark");
}

#[test]
fn long_answers_have_their_share_of_the_result() {
    let lane = Lane::with(|settings| settings.limits.result_chars = 400).prompt("go");
    let lane = lane.reply(calls([call("t1", "spawn", "a b")]));
    let lane = lane.child_back(0, 0, &"x".repeat(10_000)).child_back(0, 1, "short");
    lane.tells("[2] short");
}

// spec: CHILDREN-06
#[test]
fn children_of_children_have_an_end() {
    let deep = Lane::with(|settings| settings.depth = 2).prompt("go");
    deep.reply(calls([call("t1", "spawn", "a")])).tells("too_deep: children may stand 2 deep");
    spawned("").tells("no_task");
}

fn task(depth: u8, caps: Caps) -> MailBody {
    let call = CallId { ask: 3, index: 1 };
    let parent = Parent { lane: LaneId::from("p"), call, part: 0, caps, depth };
    let task = Task::new("scout", "look there");
    MailBody::Task { run: RunId::from("run:c"), task, parent }
}

// spec: CHILDREN-02
#[test]
fn a_child_begins_with_its_task_and_nothing_else() {
    let lane = Lane::new().mail(task(1, Caps::default()));
    let lane = lane.settles("employed queued run_started asked").shows(["user: look there"]);
    lane.so(|lane| assert_eq!(lane.live.parent.as_ref().unwrap().depth, 1))
        .reply(text("seen"))
        .ends(StopCause::EndTurn)
        .mail(task(1, Caps::default()))
        .refused("has its task already");
    let mut empty = task(1, Caps::default());
    if let MailBody::Task { task, .. } = &mut empty {
        task.prompt = Arc::from(" ");
    }
    Lane::new().mail(empty).refused("the task is empty");
}

#[test]
fn a_child_stands_as_deep_as_its_parent_says() {
    let lane = Lane::new().mail(task(2, Caps::default()));
    lane.reply(calls([call("t1", "spawn", "a")])).tells("too_deep");
}

// spec: BUDGETS-05
#[test]
fn a_child_never_outspends_what_it_was_granted() {
    let caps = Caps { tokens: Some(3_000), usd_micros: None };
    let lane = Lane::new().mail(task(1, caps)).so(|lane| {
        assert!(lane.run().asking().unwrap().reserved_tokens <= 3_000);
    });
    lane.reply(calls([call("t1", "read", "/a")]).usage(2_500, 10))
        .returns(0, "A")
        .ends(StopCause::BudgetTokens);
    // Dollars without a price are refused here too.
    let caps = Caps { tokens: None, usd_micros: Some(5) };
    Lane::new().mail(task(1, caps)).ends(StopCause::PriceUnknown);
}

fn capped(settings: &mut Settings) {
    settings.model.price = Some(price());
    settings.budget.run = Caps { tokens: Some(30_000), usd_micros: Some(3_000_000) };
}

// spec: BUDGETS-05
#[test]
fn children_draw_equal_shares_and_what_is_lent_is_spent_until_they_are_back() {
    let lane =
        Lane::with(capped).prompt("go").reply(calls([call("t1", "spawn", "a b")]).usage(0, 0));
    let granted = lane.run().round().unwrap().calls[0].away().unwrap().granted;
    assert_eq!(granted, Caps { tokens: Some(10_000), usd_micros: Some(1_000_000) });
    let back = |lane: Lane, part, tokens| {
        let mut home = home(lane.call(0), part, Ending::Answered);
        home.spent = Spent { tokens, usd_micros: 0 };
        lane.child_home(home, "ok")
    };
    let lane = back(back(lane, 0, 9_000), 1, 1_000);
    lane.so(|lane| {
        assert_eq!(lane.run().spent.tokens, 10_000);
        assert_eq!(lane.live.spent.tokens, 10_000);
    });
    // A sibling that classifies or spawns meanwhile sees less: what is out is not there.
    let two = calls([call("t1", "spawn", "a"), call("t2", "spawn", "b")]).usage(0, 0);
    let lane = Lane::with(capped).prompt("go").reply(two);
    let calls = &lane.run().round().unwrap().calls;
    let tokens = |nth: usize| calls[nth].away().unwrap().granted.tokens;
    assert_eq!((tokens(0), tokens(1)), (Some(15_000), Some(7_500)));
}

#[test]
fn a_cancel_recalls_children_and_waits_for_them() {
    let lane =
        spawned("a b").cancel().settles("cancel_requested children_recalled").calls_are("away");
    let lane = lane.wakes_in(180_000);
    let back = lane.clone().child_back(0, 0, "half").child_back(0, 1, "other half");
    back.ends(StopCause::UserCancel).shows_last("user: <t1 ok: [1] half\n\n[2] other half>");
    // Not for ever.
    let given_up = lane.wake().settles("settled round_closed finished").ends(StopCause::UserCancel);
    given_up.tells("2 of its children did not come back in time");
    // What the others brought back is told.
    let half = spawned("a b").cancel().child_back(0, 0, "half").wake();
    half.tells("1 of its children did not come back in time\n\n[1] half\n\n[2] did not come back");
}

#[test]
fn children_that_wait_for_room_are_not_sent_out_by_a_cancelled_run() {
    let lane = spawned("a b c d e f").cancel().child_back(0, 0, "A");
    let lane = lane.so(|lane| assert_eq!(sent(lane), []));
    // Nobody waits for those who were never begun.
    let lane = lane.child_back(0, 1, "B").child_back(0, 2, "C").child_back(0, 3, "D");
    lane.ends(StopCause::UserCancel).tells("[4] D\n\n[5] was not begun\n\n[6] was not begun");
}

#[test]
fn an_abort_does_not_wait_and_what_children_spent_still_counts() {
    let lane = spawned("a b");
    let id = lane.call(0);
    let lane =
        lane.abort().settles("cancel_requested children_recalled settled round_closed finished");
    let before = lane.live.spent.tokens;
    let lane = lane.child_home(home(id, 1, Ending::Failed), "cancelled").settles("child_back");
    let lane = lane.so(|lane| assert_eq!(lane.live.spent.tokens, before + 100));
    let lane = lane.child_home(home(id, 1, Ending::Failed), "again").refused("no run waits");
    // Also while another run is at work, which is not charged for it.
    lane.prompt("next").child_home(home(id, 0, Ending::Failed), "late").so(|lane| {
        assert_eq!(lane.live.spent.tokens, before + 200);
        assert_eq!(lane.run().spent.tokens, 0);
    });
}

#[test]
fn a_fatal_sibling_does_not_wait_for_children() {
    let both = calls([call("t1", "spawn", "a"), call("t2", "fetch", "/x")]);
    let lane = Lane::new().prompt("go").reply(both);
    lane.errs(1, ToolError::new("disk_gone", "the disk is gone", "stop").fatal())
        .settles("completed turned_fatal settled children_recalled settled round_closed finished")
        .ends(StopCause::ToolFatal);
}

#[test]
fn a_crash_while_children_are_away_changes_nothing() {
    let lane = spawned("a b").child_back(0, 0, "A").adopted().settles("adopted").calls_are("away");
    lane.child_back(0, 1, "B").shows_last("user: <t1 ok: [1] A\n\n[2] B>");
    let recalled = spawned("a").cancel().adopted().settles("adopted");
    recalled.child_back(0, 0, "A").ends(StopCause::UserCancel);
}

#[test]
fn time_that_is_up_recalls_children_too() {
    let lane = Lane::with(|settings| {
        settings.times = Some(windlass_core::limits::Times::default());
    });
    let both = calls([call("t1", "spawn", "a"), call("t2", "write", "/x")]);
    let lane = lane.prompt("go").reply(both).wake().settles("time_up children_recalled");
    let lane = lane.returns(1, "X").calls_are("away settled").wakes_in(180_000);
    lane.wake().settles("settled round_closed noted asked");
}

#[test]
fn a_child_without_a_call_speaks_to_the_run() {
    Lane::new().prompt("go").child("by the way").settles("steered");
    Lane::new().child("by the way").refused("no run waits");
}
