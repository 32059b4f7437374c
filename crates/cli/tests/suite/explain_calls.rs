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

fn assert_explains(home: &TestHome, conversation: &str, expected: &str) {
    let ran = home.run(&["explain", conversation]);
    let out = ran.out.replace("\n  ", " ");
    assert!(out.contains(expected), "{expected:?} is missing in\n{}", ran.out);
    let calls = &out[out.find(expected).unwrap()..];
    assert!(calls[expected.len()..].starts_with(" [entry "), "evidence: {out}");
}

// spec: CLI-07
#[test]
fn who_said_no_to_a_call_is_named() {
    let home = TestHome::new(CALL);
    let wipe = "Wipe {\"what\": \"disk\"}";

    play_prompts(&home, "rule", &["go"], |b| b.tool(ScriptedTool::mutating("Wipe")).deny("Wipe"));
    assert_explains(
        &home,
        "rule",
        &format!("{wipe} was denied by a deny rule: the rule Wipe denies it."),
    );

    play_prompts(&home, "hook", &["go"], |b| {
        b.tool(ScriptedTool::mutating("Wipe"))
            .hooks(GuardingHooks)
            .settings(|settings| settings.hooks.before_tool = HookPresence::Present)
    });
    assert_explains(&home, "hook", &format!("{wipe} was denied by a hook: not on a Friday."));

    play_prompts(&home, "classifier", &["go"], |b| {
        b.tool(ScriptedTool::mutating("Wipe"))
            .settings(|settings| settings.rules.mode = PermissionMode::Auto)
    });
    let reason = "the classifier found it too dangerous";
    assert_explains(
        &home,
        "classifier",
        &format!("{wipe} was denied by the classifier: {reason}."),
    );

    play_prompts(&home, "mode", &["go"], |b| {
        b.tool(ScriptedTool::mutating("Wipe"))
            .settings(|settings| settings.rules.mode = PermissionMode::Plan)
    });
    let reason = "permission mode plan: nothing may be changed";
    assert_explains(&home, "mode", &format!("{wipe} was denied by the permission mode: {reason}."));

    play_prompts(&home, "nobody", &["go"], |b| {
        b.tool(ScriptedTool::mutating("Wipe")).deny_when_unattended()
    });
    let reason = "Wipe requires approval, and no one is available to approve it";
    assert_explains(&home, "nobody", &format!("{wipe} was denied by the permissions: {reason}."));
}

#[test]
fn leave_that_was_asked_for_and_refused_and_calls_that_fit_no_tool_are_told() {
    let home = TestHome::new(
        "when results 0\n  call Bash {\"command\": \"rm -r x\"}\n  call Nope {}\n\
         when any\n  say \"done\"\n",
    );
    home.run_prompt("go", &["--conversation", "c"]);
    let asked =
        "Bash {\"command\": \"rm -r x\"} required approval (question 1): no rule allows it.";
    assert_explains(&home, "c", asked);
    assert_explains(&home, "c", "Nope {} was invalid: there is no tool named \"Nope\".");
    home.run(&["answer", "c", "1", "deny", "not today", "--script", "a.script"]);
    let denied = "Bash {\"command\": \"rm -r x\"} was denied by a person: not today.";
    assert_explains(&home, "c", denied);
}
