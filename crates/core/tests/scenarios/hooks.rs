//! Hooks before and after a call.

use std::sync::Arc;

use windlass_core::call::outcome::ToolOutcome;
use windlass_core::log::inbox::HumanAnswer;
use windlass_core::log::input::HookDecision;
use windlass_core::message::content_block::ToolUse;
use windlass_core::message::raw_json::RawJson;
use windlass_core::permission::{HookPreference, HumanAvailability};
use windlass_core::settings::conversation_settings::HookPresence;
use windlass_core::stop::StopCause;

use crate::kit::{Lane, call, calls, facts_for, text};

fn hooked() -> Lane {
    Lane::with(|settings| {
        settings.hooks.before_tool = HookPresence::Present;
        settings.hooks.after_tool = HookPresence::Present;
    })
    .prompt("hi")
}

fn change(tool: &str, input: &str) -> HookDecision {
    let input = RawJson::parse(input).unwrap();
    let changed = ToolUse { id: "t1".into(), name: tool.into(), input: input.clone() };
    HookDecision::Change {
        input,
        facts: Box::new(facts_for(&changed)),
        preference: HookPreference::Neutral,
        reason: None,
    }
}

// spec: ROUNDS-07, HOOKS-04
#[test]
fn a_call_passes_hook_verdict_execution_hook() {
    hooked()
        .reply(calls([call("t1", "write", "/a")]))
        .records("model_replied round_opened")
        .wants("pre-hook 1.0")
        .hook(0, HookDecision::Pass {})
        .records("permission_decided call_started")
        .wants("run 1.0#1")
        .returns(0, "raw result")
        .records("call_returned")
        .wants("post-hook 1.0")
        .hook(0, HookDecision::Pass {})
        .records("result_finalized round_closed model_call_started")
        .shows_last("user: <t1 ok: raw result>");
}

// spec: HOOKS-03
#[test]
fn a_hook_can_say_no_before() {
    hooked()
        .reply(calls([call("t1", "write", "/a")]))
        .hook(0, HookDecision::Deny { reason: Arc::from("policy 7") })
        .records("permission_decided result_finalized round_closed model_call_started")
        .shows_last("user: <t1 denied: policy 7>");
}

// spec: PERMISSIONS-02
#[test]
fn a_changed_input_is_judged_again() {
    hooked()
        .reply(calls([call("t1", "write", "/a")]))
        .hook(0, change("write", r#"{"on":"/b"}"#))
        .records("call_input_changed permission_decided call_started")
        .so(|lane| {
            let call = &lane.run().round().unwrap().calls[0];
            assert_eq!(call.tool_use.input.text(), r#"{"on":"/b"}"#);
        });
    hooked()
        .reply(calls([call("t1", "write", "/a")]))
        .hook(0, change("write", "[]"))
        .shows_last("user: <t1 invalid_input: the arguments are not a JSON object>");
    // A hook's "allow" never overrides a rule.
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
            .hook(0, HookDecision::Pass {})
            .returns(0, "secret")
    };
    done()
        .hook(0, HookDecision::Deny { reason: Arc::from("holds a key") })
        .shows_last("user: <t1 hook_rejected: holds a key>");
    done().hook(0, change("write", r#""redacted""#)).shows_last("user: <t1 ok: redacted>");
}

#[test]
fn conflicting_calls_do_not_wait_for_the_hook_after() {
    hooked()
        .reply(calls([call("t1", "write", "/a"), call("t2", "write", "/a")]))
        .hook(0, HookDecision::Pass {})
        .hook(1, HookDecision::Pass {})
        .calls_are("running ready")
        .returns(0, "A")
        .calls_are("awaiting-post-hook running");
}

#[test]
fn hooks_are_asked_again_after_a_crash() {
    let asked = hooked().reply(calls([call("t1", "write", "/a")]));
    asked.clone().owner_changes().records("owner_changed").wants("pre-hook 1.0");
    asked.hook(0, HookDecision::Pass {}).returns(0, "A").owner_changes().wants("post-hook 1.0");
}

#[test]
fn an_answer_of_a_hook_nobody_asked_changes_nothing() {
    let lane = Lane::new()
        .prompt("hi")
        .reply(calls([call("t1", "write", "/a"), call("t2", "deploy", "x")]));
    lane.clone().hook(0, HookDecision::Pass {}).records_nothing();
    lane.hook(1, HookDecision::Deny { reason: Arc::from("x") }).records_nothing();
}

#[test]
fn a_cancel_waits_for_the_hook_after_and_not_for_the_one_before() {
    hooked()
        .reply(calls([call("t1", "write", "/a")]))
        .cancel()
        .records("cancel_requested result_finalized round_closed run_finished");
    hooked()
        .reply(calls([call("t1", "write", "/a")]))
        .hook(0, HookDecision::Pass {})
        .comes_back(0, ToolOutcome::Done(RawJson::string("A")))
        .cancel()
        .records("cancel_requested")
        .wants("post-hook 1.0")
        .hook(0, HookDecision::Pass {})
        .records("result_finalized round_closed run_finished")
        .shows_last("user: <t1 ok: A>");
}

// spec: HOOKS-09
#[test]
fn a_hook_after_a_call_ends_the_run_after_the_round() {
    hooked()
        .reply(calls([call("t1", "bash", "a"), call("t2", "bash", "b"), call("t3", "bash", "c")]))
        .hook(0, HookDecision::Pass {})
        .hook(1, HookDecision::Pass {})
        .returns(0, "A")
        .returns(1, "B")
        .hook_stops(0, HookDecision::Pass {}, "enough")
        .calls_are("finished awaiting-post-hook finished")
        .hook(1, HookDecision::Pass {})
        .ends(StopCause::HookStopped)
        .saying("")
        .prompt("again")
        .tells("<t1 ok: A>")
        .tells("a hook ended the run before this call ran");
}

// spec: HOOKS-09
#[test]
fn calls_in_flight_finish_before_a_hook_ends_the_run() {
    hooked()
        .reply(calls([call("t1", "read", "a"), call("t2", "write", "b")]))
        .hook(0, HookDecision::Pass {})
        .hook(1, HookDecision::Pass {})
        .returns(0, "A")
        .hook_stops(0, HookDecision::Pass {}, "enough")
        .calls_are("finished running")
        .owner_changes_with_hash("another prompt")
        .calls_are("finished awaiting-human")
        .answer(HumanAnswer::MarkDone { text: "written".into() })
        .ends(StopCause::HookStopped);
}

// spec: HOOKS-09
#[test]
fn a_hook_before_a_call_ends_the_run_without_it() {
    let one = || hooked().reply(calls([call("t1", "deploy", "a")]));
    one()
        .hook_stops(0, HookDecision::Allow {}, "not today")
        .records("hook_stop_requested result_finalized round_closed run_finished")
        .ends(StopCause::HookStopped);
    one()
        .hook_stops(0, HookDecision::Deny { reason: Arc::from("no") }, "not today")
        .ends(StopCause::HookStopped)
        .prompt("again")
        .tells("denied: no");
}

#[test]
fn a_cancel_names_a_run_that_a_hook_ends_too() {
    hooked()
        .reply(calls([call("t1", "read", "a"), call("t2", "write", "b")]))
        .hook(0, HookDecision::Pass {})
        .hook(1, HookDecision::Pass {})
        .returns(0, "A")
        .hook_stops(0, HookDecision::Pass {}, "enough")
        .cancel()
        .returns(1, "B")
        .hook(1, HookDecision::Pass {})
        .ends(StopCause::UserCancel)
        .also([StopCause::HookStopped]);
}

// spec: HOOKS-10
#[test]
fn a_deferred_call_ends_the_run_and_is_named_by_its_result() {
    hooked()
        .reply(calls([call("t1", "deploy", "prod"), call("t2", "write", "b")]))
        .hook(0, HookDecision::Defer {})
        .ends(StopCause::ToolDeferred)
        .saying("")
        .so(|lane| {
            let deferred = lane.ended().deferred_tool_use.clone().unwrap();
            assert_eq!((&*deferred.id, &*deferred.name), ("t1", "deploy"));
        })
        .prompt("again")
        .tells("deferred: the call was deferred")
        .tells("another call of the same reply was deferred")
        .reply(text("done"))
        .so(|lane| assert_eq!(lane.ended().deferred_tool_use, None));
}

// spec: HOOKS-11
#[test]
fn a_human_reads_why_a_hook_asks() {
    let one = |human| {
        let lane = Lane::with(|settings| {
            settings.hooks.before_tool = HookPresence::Present;
            settings.rules.human = human;
        });
        let lane = lane.prompt("go").reply(calls([call("t1", "write", "/a")]));
        lane.hook(0, HookDecision::Ask { reason: Some(Arc::from("it is Friday")) })
    };
    one(HumanAvailability::Available).parked().so(|lane| {
        let reason = lane.run().round().unwrap().calls[0].ask_reason.clone().unwrap();
        assert!(reason.is_hook());
        assert_eq!(reason.reason.as_deref(), Some("it is Friday"));
    });
    one(HumanAvailability::Absent).tells("denied: it is Friday").phase("calling_model");
}
