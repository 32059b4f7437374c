//! `windlass explain`: why a call did not run.

use windlass::core::call::call_state::Call;
use windlass::core::call::outcome::ToolOutcome;
use windlass::core::log::input::HookDecision;
use windlass::core::permission::PermissionMode;
use windlass::core::settings::conversation_settings::HookPresence;
use windlass::ports::{BoxFuture, HookContext, HookResponse, Hooks};

use crate::scripted_runs::{ScriptedTool, play_prompts};
use crate::test_home::TestHome;

const CALL: &str = "when user contains \"Tool call:\"\n  say \"deny\"\n\
     when results 0\n  call Wipe {\"what\": \"disk\"}\nwhen any\n  say \"done\"\n";

struct GuardingHooks;

impl Hooks for GuardingHooks {
    fn before_tool_call(&self, _scene: HookContext, _call: Call) -> BoxFuture<'_, HookResponse> {
        let answer = HookDecision::Deny { reason: "not on a Friday".into() };
        Box::pin(std::future::ready(answer.into()))
    }

    fn after_tool_call(
        &self,
        _scene: HookContext,
        _call: Call,
        _outcome: ToolOutcome,
    ) -> BoxFuture<'_, HookResponse> {
        Box::pin(std::future::ready(HookDecision::Pass {}.into()))
    }
}

fn assert_explains(place: &TestHome, conversation: &str, expected: &str) {
    let ran = place.run(&["explain", conversation]);
    let out = ran.out.replace("\n  ", " ");
    assert!(out.contains(expected), "{expected:?} is missing in\n{}", ran.out);
    let calls = &out[out.find(expected).unwrap()..];
    assert!(calls[expected.len()..].starts_with(" [entry "), "evidence: {out}");
}

// spec: CLI-07
#[test]
fn who_said_no_to_a_call_is_named() {
    let place = TestHome::new(CALL);
    let wipe = "Wipe {\"what\": \"disk\"}";

    play_prompts(&place, "rule", &["go"], |b| b.tool(ScriptedTool::mutating("Wipe")).deny("Wipe"));
    assert_explains(
        &place,
        "rule",
        &format!("{wipe} was denied by a deny rule: the rule Wipe denies it."),
    );

    play_prompts(&place, "hook", &["go"], |b| {
        b.tool(ScriptedTool::mutating("Wipe"))
            .hooks(GuardingHooks)
            .settings(|settings| settings.hooks.before_tool = HookPresence::Present)
    });
    assert_explains(&place, "hook", &format!("{wipe} was denied by a hook: not on a Friday."));

    play_prompts(&place, "classifier", &["go"], |b| {
        b.tool(ScriptedTool::mutating("Wipe"))
            .settings(|settings| settings.rules.mode = PermissionMode::Auto)
    });
    let why = "the classifier found it too dangerous";
    assert_explains(&place, "classifier", &format!("{wipe} was denied by the classifier: {why}."));

    play_prompts(&place, "mode", &["go"], |b| {
        b.tool(ScriptedTool::mutating("Wipe"))
            .settings(|settings| settings.rules.mode = PermissionMode::Plan)
    });
    let why = "permission mode plan: nothing may be changed";
    assert_explains(&place, "mode", &format!("{wipe} was denied by the permission mode: {why}."));

    play_prompts(&place, "nobody", &["go"], |b| {
        b.tool(ScriptedTool::mutating("Wipe")).deny_when_unattended()
    });
    let why = "Wipe requires approval, and no one is available to approve it";
    assert_explains(&place, "nobody", &format!("{wipe} was denied by the permissions: {why}."));
}

#[test]
fn leave_that_was_asked_for_and_refused_and_calls_that_fit_no_tool_are_told() {
    let place = TestHome::new(
        "when results 0\n  call Bash {\"command\": \"rm -r x\"}\n  call Nope {}\n\
         when any\n  say \"done\"\n",
    );
    place.run_prompt("go", &["--conversation", "c"]);
    let asked =
        "Bash {\"command\": \"rm -r x\"} required approval (question 1): no rule allows it.";
    assert_explains(&place, "c", asked);
    assert_explains(&place, "c", "Nope {} was invalid: there is no tool named \"Nope\".");
    place.run(&["answer", "c", "1", "deny", "not today", "--script", "a.script"]);
    let denied = "Bash {\"command\": \"rm -r x\"} was denied by a person: not today.";
    assert_explains(&place, "c", denied);
}
