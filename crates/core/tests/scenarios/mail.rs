//! Inbox commands: prompts are queued and never replace one another.

use windlass_core::log::ids::RunId;
use windlass_core::log::inbox::InboxCommand;
use windlass_core::stop::StopCause;

use crate::kit::{Lane, call, calls, say, text};

fn prompt(run: &str, words: &str) -> InboxCommand {
    InboxCommand::prompt(RunId::from(run), say(words))
}

fn active(lane: &Lane) -> &str {
    lane.run().id.as_str()
}

// spec: LANES-02, LANES-04
#[test]
fn prompts_wait_their_turn_in_order() {
    Lane::new()
        .prompt("one")
        .prompt("two")
        .records("prompt_queued")
        .prompt("three")
        .so(|lane| assert_eq!((active(lane), lane.live.prompt_queue.len()), ("run-1", 2)))
        .reply(text("1"))
        .records("model_replied reply_kept run_finished run_started model_call_started")
        .ended_for(StopCause::EndTurn)
        .so(|lane| assert_eq!(active(lane), "run-2"))
        .reply(text("2"))
        .so(|lane| assert_eq!(active(lane), "run-3"))
        .reply(text("3"))
        .ends(StopCause::EndTurn)
        .shows([
            "user: one",
            "assistant: 1",
            "user: two",
            "assistant: 2",
            "user: three",
            "assistant: 3",
        ]);
}

// spec: LANES-02
#[test]
fn the_queue_is_bounded() {
    Lane::with(|settings| settings.limits.queued_prompts = 1)
        .prompt("one")
        .prompt("two")
        .prompt("three")
        .command_rejected("too_many_prompts")
        .reply(text("1"))
        .prompt("four")
        .records("prompt_queued");
}

#[test]
fn a_waiting_run_can_be_cancelled() {
    Lane::new()
        .prompt("one")
        .prompt("two")
        .prompt("three")
        .cancel_run("run-2")
        .records("run_finished")
        .ended_for(StopCause::UserCancel)
        .so(|lane| assert_eq!((active(lane), lane.live.prompt_queue.len()), ("run-1", 1)))
        .reply(text("1"))
        .so(|lane| assert_eq!(active(lane), "run-3"));
}

#[test]
fn a_run_that_ends_badly_lets_the_next_in() {
    Lane::new()
        .prompt("one")
        .prompt("two")
        .abort()
        .records(
            "cancel_requested model_call_abandoned run_finished run_started model_call_started",
        )
        .so(|lane| assert_eq!(active(lane), "run-2"))
        .reply(text("2"))
        .shows(["user: one | two", "assistant: 2"]);
}

#[test]
fn a_run_id_is_used_once() {
    let lane = Lane::new().send_command(prompt("a", "one"));
    lane.clone().send_command(prompt("a", "again")).command_rejected("run_id_in_use");
    lane.clone()
        .send_command(prompt("b", "two"))
        .send_command(prompt("b", "again"))
        .command_rejected("run_id_in_use");
    lane.reply(text("1")).send_command(prompt("a", "again")).command_rejected("run_id_in_use");
}

#[test]
fn an_empty_prompt_is_refused() {
    for blocks in [vec![], say(""), say(" \n\t"), vec![call("t1", "read", "/a")]] {
        Lane::new().prompt_blocks(blocks).command_rejected("empty_prompt").phase("idle");
    }
}

#[test]
fn several_mails_in_one_delivery_are_read_in_order() {
    let cancel = InboxCommand::Cancel { run: Some(RunId::from("b")) };
    Lane::new()
        .send_commands(vec![prompt("a", "one"), prompt("b", "two"), prompt("c", "three"), cancel])
        .records(
            "prompt_queued run_started model_call_started prompt_queued prompt_queued run_finished",
        )
        .so(|lane| assert_eq!(lane.live.prompt_queue.len(), 1));
}

// spec: LANES-07
#[test]
fn a_prompt_that_is_cancelled_before_it_is_read_asks_no_model() {
    let cancel = || InboxCommand::Cancel { run: Some(RunId::from("a")) };
    Lane::new()
        .send_commands(vec![prompt("a", "one"), cancel()])
        .records("prompt_queued run_finished command_rejected")
        .phase("idle")
        .ended_for(StopCause::UserCancel);
    Lane::new()
        .send_commands(vec![prompt("a", "one"), prompt("b", "two"), cancel()])
        .records("prompt_queued run_finished prompt_queued run_started model_call_started command_rejected")
        .so(|lane| assert_eq!(active(lane), "b"));
}

#[test]
fn mail_before_the_settings_is_left_in_the_box() {
    Lane::bare().prompt("hi").records_nothing();
}

#[test]
fn a_child_speaks_to_the_run_that_waits_for_it() {
    Lane::new().child("lonely").command_rejected("child_not_awaited");
    Lane::new()
        .prompt("hi")
        .child("the child found it")
        .records("steering_queued")
        .reply(calls([call("t1", "read", "/a")]))
        .returns(0, "A")
        .shows_last("user: <t1 ok: A> | the child found it");
    Lane::new().prompt("hi").cancel().child("late").command_rejected("child_not_awaited");
}

// spec: TRANSCRIPT-11, RESUME-12
#[test]
fn the_context_carries_over_and_the_counters_do_not() {
    Lane::new()
        .prompt("one")
        .reply(calls([call("t1", "read", "/a")]))
        .returns(0, "A")
        .reply(text("1"))
        .prompt("two")
        .so(|lane| {
            assert_eq!(lane.run().counters.tool_rounds, 0);
            assert_eq!(lane.live.usage.total_tokens(), 30);
        })
        .shows_last("user: two")
        .so(|lane| assert_eq!(crate::kit::messages(&lane.live).len(), 5));
}

#[test]
fn settings_change_between_runs_and_not_under_them() {
    let mut other = crate::kit::settings();
    other.limits.tool_rounds = 7;
    Lane::new().configure(crate::kit::settings()).records_nothing();
    Lane::new()
        .prompt("hi")
        .configure(other.clone())
        .records_nothing()
        .reply(text("a"))
        .configure(other)
        .records("configured");
}

#[test]
fn a_fork_begins_only_where_no_round_is_open() {
    let lane = Lane::new().prompt("hi").reply(calls([call("t1", "read", "/a")]));
    lane.clone().fork("conversation:1").records_nothing();
    lane.returns(0, "A")
        .reply(text("done"))
        .fork("conversation:1")
        .records("forked")
        .so(|lane| {
            assert_eq!(lane.live.usage.total_tokens(), 0);
            assert!(lane.live.last_run_end.is_none());
        })
        .prompt("another way")
        .reply(text("ok"))
        .so(|lane| assert_eq!(crate::kit::messages(&lane.live).len(), 6));
    Lane::new().prompt("hi").prompt("two").fork("p").records("forked").phase("idle").wants("");
}
