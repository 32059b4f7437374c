//! Hooks before and after a call.

use std::sync::Arc;

use windlass_core::block::ToolUse;
use windlass_core::input::HookAnswer;
use windlass_core::outcome::Outcome;
use windlass_core::permission::Lean;
use windlass_core::raw::Raw;
use windlass_core::settings::Listening;

use crate::kit::{Lane, call, calls, facts_for};

fn hooked() -> Lane {
    Lane::with(|settings| {
        settings.hooks.before_tool = Listening::Hooked;
        settings.hooks.after_tool = Listening::Hooked;
    })
    .prompt("hi")
}

fn change(tool: &str, input: &str) -> HookAnswer {
    let input = Raw::parse(input).unwrap();
    let changed = ToolUse { id: "t1".into(), name: tool.into(), input: input.clone() };
    HookAnswer::Change { input, facts: Box::new(facts_for(&changed)), lean: Lean::Neutral }
}

// spec: ROUNDS-07, HOOKS-04
#[test]
fn a_call_passes_hook_verdict_execution_hook() {
    hooked()
        .reply(calls([call("t1", "write", "/a")]))
        .settles("replied round_opened")
        .wants("before 1.0")
        .hook(0, HookAnswer::Pass {})
        .settles("judged started")
        .wants("run 1.0#1")
        .returns(0, "raw result")
        .settles("completed")
        .wants("after 1.0")
        .hook(0, HookAnswer::Pass {})
        .settles("settled round_closed asked")
        .shows_last("user: <t1 ok: raw result>");
}

// spec: HOOKS-03
#[test]
fn a_hook_can_say_no_before() {
    hooked()
        .reply(calls([call("t1", "write", "/a")]))
        .hook(0, HookAnswer::Deny { reason: Arc::from("policy 7") })
        .settles("judged settled round_closed asked")
        .shows_last("user: <t1 denied: policy 7>");
}

// spec: PERMISSIONS-02
#[test]
fn a_changed_input_is_judged_again() {
    hooked()
        .reply(calls([call("t1", "write", "/a")]))
        .hook(0, change("write", r#"{"on":"/b"}"#))
        .settles("input_changed judged started")
        .so(|lane| {
            let call = &lane.run().round().unwrap().calls[0];
            assert_eq!(call.tool_use.input.text(), r#"{"on":"/b"}"#);
        });
    hooked()
        .reply(calls([call("t1", "write", "/a")]))
        .hook(0, change("write", "[]"))
        .shows_last("user: <t1 invalid_input: the arguments are not a JSON object>");
    // A hook's leave never overrides a rule.
    hooked()
        .reply(calls([call("t1", "rm", "/a")]))
        .hook(0, change("rm", r#"{"on":"/b"}"#))
        .shows_last("user: <t1 denied: the rule rm denies it>");
}

#[test]
fn a_hook_can_reject_or_change_a_result() {
    let done = || {
        hooked()
            .reply(calls([call("t1", "write", "/a")]))
            .hook(0, HookAnswer::Pass {})
            .returns(0, "secret")
    };
    done()
        .hook(0, HookAnswer::Deny { reason: Arc::from("holds a key") })
        .shows_last("user: <t1 hook_rejected: holds a key>");
    done().hook(0, change("write", r#""redacted""#)).shows_last("user: <t1 ok: redacted>");
}

#[test]
fn conflicting_calls_do_not_wait_for_the_hook_after() {
    hooked()
        .reply(calls([call("t1", "write", "/a"), call("t2", "write", "/a")]))
        .hook(0, HookAnswer::Pass {})
        .hook(1, HookAnswer::Pass {})
        .calls_are("running ready")
        .returns(0, "A")
        .calls_are("after-hook running");
}

#[test]
fn hooks_are_asked_again_after_a_crash() {
    let asked = hooked().reply(calls([call("t1", "write", "/a")]));
    asked.clone().adopted().settles("adopted").wants("before 1.0");
    asked.hook(0, HookAnswer::Pass {}).returns(0, "A").adopted().wants("after 1.0");
}

#[test]
fn an_answer_of_a_hook_nobody_asked_changes_nothing() {
    let lane = Lane::new()
        .prompt("hi")
        .reply(calls([call("t1", "write", "/a"), call("t2", "deploy", "x")]));
    lane.clone().hook(0, HookAnswer::Pass {}).ignored();
    lane.hook(1, HookAnswer::Deny { reason: Arc::from("x") }).ignored();
}

#[test]
fn a_cancel_waits_for_the_hook_after_and_not_for_the_one_before() {
    hooked()
        .reply(calls([call("t1", "write", "/a")]))
        .cancel()
        .settles("cancel_requested settled round_closed finished");
    hooked()
        .reply(calls([call("t1", "write", "/a")]))
        .hook(0, HookAnswer::Pass {})
        .comes_back(0, Outcome::Done(Raw::string("A")))
        .cancel()
        .settles("cancel_requested")
        .wants("after 1.0")
        .hook(0, HookAnswer::Pass {})
        .settles("settled round_closed finished")
        .shows_last("user: <t1 ok: A>");
}
