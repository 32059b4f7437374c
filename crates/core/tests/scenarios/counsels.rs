//! Hooks around calls that lean, and hooks that see a prompt before the model does.

use std::sync::Arc;

use windlass_core::block::ToolUse;
use windlass_core::counsel::Advice;
use windlass_core::input::HookAnswer;
use windlass_core::permission::{Human, Lean, Otherwise};
use windlass_core::raw::Raw;
use windlass_core::reply::Usage;
use windlass_core::settings::Listening;
use windlass_core::stop::StopCause;

use crate::kit::{Lane, call, calls, facts_for, text};

fn prompted() -> Lane {
    Lane::with(|settings| settings.hooks.prompt = Listening::Hooked).prompt("hi")
}

#[test]
fn hooks_see_a_prompt_before_the_model_does() {
    let lane = prompted().settles("queued run_started counsel_sought").consults("prompt");
    let lane = lane.wants("consult 1");
    lane.clone()
        .advise(Advice::Pass { context: None })
        .settles("counsel_heard asked")
        .shows(["user: hi"]);
    lane.advise(Advice::Pass { context: Some(Arc::from("it is Friday")) })
        .settles("counsel_heard noted asked")
        .shows(["user: hi | it is Friday"]);
}

#[test]
fn a_prompt_that_is_blocked_is_taken_back() {
    for advice in [
        Advice::Block { reason: Arc::from("holds a secret") },
        Advice::Stop { reason: Arc::from("holds a secret") },
    ] {
        let lane = prompted().advise(advice);
        let lane = lane.settles("counsel_heard prompt_withdrawn finished").shows([]);
        lane.ends(StopCause::HookStopped)
            .saying("holds a secret")
            .prompt("again")
            .consults("prompt");
    }
    // Only the prompt: what was said before stays.
    let lane = Lane::with(|settings| settings.hooks.prompt = Listening::Hooked).prompt("one");
    let lane = lane.advise(Advice::Pass { context: None }).reply(text("1")).prompt("two");
    lane.advise(Advice::Block { reason: Arc::from("no") }).shows(["user: one", "assistant: 1"]);
}

#[test]
fn a_prompt_hook_that_fails_stands_in_nobodys_way() {
    let failed = Advice::Failed { why: Arc::from("timed out"), usage: Usage::default() };
    prompted().advise(failed).settles("counsel_heard asked");
    let odd = Advice::Summary { text: Arc::from("?"), usage: Usage::default() };
    prompted().advise(odd).wants("ask 1");
}

#[test]
fn a_prompt_hook_is_asked_again_after_a_crash_and_ended_by_a_cancel() {
    prompted().adopted().settles("adopted").wants("consult 1");
    prompted()
        .cancel()
        .settles("cancel_requested counsel_heard finished")
        .ends(StopCause::UserCancel);
    prompted()
        .advise(Advice::Pass { context: None })
        .advise(Advice::Pass { context: None })
        .ignored();
    let drifted = prompted().adopted_with("other").parked();
    let mut changed = crate::kit::settings();
    changed.hooks.prompt = Listening::Hooked;
    drifted.answer(windlass_core::mail::Answer::Continue {}).configure(changed).consults("prompt");
}

fn hooked() -> Lane {
    Lane::with(|settings| {
        settings.hooks.before_tool = Listening::Hooked;
        settings.hooks.after_tool = Listening::Hooked;
    })
    .prompt("hi")
}

fn change(tool: &str, lean: Lean) -> HookAnswer {
    let input = Raw::parse(r#"{"on":"/b"}"#).unwrap();
    let changed = ToolUse { id: "t1".into(), name: tool.into(), input: input.clone() };
    HookAnswer::Change { input, facts: Box::new(facts_for(&changed)), lean }
}

// spec: PERMISSIONS-01, PERMISSIONS-02, HOOKS-03
#[test]
fn a_hook_may_let_run_what_no_rule_holds_back_and_nothing_else() {
    let one = |tool: &str| hooked().reply(calls([call("t1", tool, "/a")]));
    one("write").hook(0, HookAnswer::Allow {}).calls_are("running");
    one("write").hook(0, HookAnswer::Ask {}).calls_are("questioned").parked();
    one("deploy").hook(0, HookAnswer::Allow {}).calls_are("questioned");
    one("rm").hook(0, HookAnswer::Allow {}).tells("the rule rm denies it");
    one("rm").hook(0, change("rm", Lean::Allow)).tells("the rule rm denies it");
    one("write").hook(0, change("write", Lean::Ask)).calls_are("questioned");
    let open = Lane::with(|settings| {
        settings.hooks.before_tool = Listening::Hooked;
        settings.rules.ask.clear();
        settings.rules.otherwise = Otherwise::Deny;
    });
    let open = open.prompt("hi").reply(calls([call("t1", "deploy", "x")]));
    open.clone().hook(0, HookAnswer::Allow {}).calls_are("running");
    open.clone().hook(0, change("deploy", Lean::Allow)).calls_are("running");
    open.hook(0, HookAnswer::Pass {}).tells("no rule allows deploy");
    let absent = Lane::with(|settings| {
        settings.hooks.before_tool = Listening::Hooked;
        settings.rules.human = Human::Absent;
    });
    let absent = absent.prompt("hi").reply(calls([call("t1", "write", "/a")]));
    absent.hook(0, HookAnswer::Ask {}).tells("no one is available to approve it");
}

#[test]
fn what_a_hook_says_is_told_after_the_results() {
    let lane = hooked().reply(calls([call("t1", "write", "/a"), call("t2", "write", "/b")]));
    let lane = lane.hook_saying(0, HookAnswer::Pass {}, "mind the lock");
    let lane = lane.settles("judged context_added started").hook(1, HookAnswer::Pass {});
    let lane = lane.returns(0, "A").hook_saying(0, HookAnswer::Pass {}, "formatted");
    let lane = lane.returns(1, "B").hook(1, HookAnswer::Pass {});
    lane.shows_last("user: <t1 ok: A> | <t2 ok: B> | mind the lock\nformatted");
    let denied = hooked().reply(calls([call("t1", "write", "/a")]));
    denied
        .hook_saying(0, HookAnswer::Deny { reason: Arc::from("no") }, "ask the boss")
        .shows_last("user: <t1 denied: no> | ask the boss");
}

// spec: HOOKS-03
#[test]
fn hooks_are_not_asked_about_calls_that_cannot_run() {
    let lane = hooked().reply(calls([call("t1", "teleport", "/moon"), call("t2", "write", "/a")]));
    lane.settles("replied round_opened settled").wants("before 1.1").shows(["user: hi"]);
}
