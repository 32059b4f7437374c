//! Reviews: hooks with a preference about calls, and hooks that see a prompt before the model does.

use std::sync::Arc;

use windlass_core::log::input::HookDecision;
use windlass_core::message::content_block::ToolUse;
use windlass_core::message::raw_json::RawJson;
use windlass_core::message::reply::TokenUsage;
use windlass_core::permission::{DefaultDecision, HookPreference, HumanAvailability};
use windlass_core::run::review::ReviewResult;
use windlass_core::settings::conversation_settings::HookPresence;
use windlass_core::stop::StopCause;

use crate::kit::{Lane, call, calls, facts_for, text};

fn prompted() -> Lane {
    Lane::with(|settings| settings.hooks.prompt = HookPresence::Present).prompt("hi")
}

#[test]
fn hooks_see_a_prompt_before_the_model_does() {
    let lane = prompted().records("prompt_queued run_started review_requested").consults("prompt");
    let lane = lane.wants("review 1");
    lane.clone()
        .review_returned(ReviewResult::Pass { context: None })
        .records("review_completed model_call_started")
        .shows(["user: hi"]);
    lane.review_returned(ReviewResult::Pass { context: Some(Arc::from("it is Friday")) })
        .records("review_completed note_added model_call_started")
        .shows(["user: hi | it is Friday"]);
}

#[test]
fn a_prompt_that_is_blocked_is_taken_back() {
    for result in [
        ReviewResult::Block { reason: Arc::from("holds a secret") },
        ReviewResult::Stop { reason: Arc::from("holds a secret") },
    ] {
        let lane = prompted().review_returned(result);
        let lane = lane.records("review_completed prompt_withdrawn run_finished").shows([]);
        lane.ends(StopCause::HookStopped)
            .saying("holds a secret")
            .prompt("again")
            .consults("prompt");
    }
    // Only the prompt is withdrawn: earlier messages stay.
    let lane = Lane::with(|settings| settings.hooks.prompt = HookPresence::Present).prompt("one");
    let lane =
        lane.review_returned(ReviewResult::Pass { context: None }).reply(text("1")).prompt("two");
    lane.review_returned(ReviewResult::Block { reason: Arc::from("no") })
        .shows(["user: one", "assistant: 1"]);
}

#[test]
fn a_prompt_hook_that_fails_stands_in_nobodys_way() {
    let failed = ReviewResult::Failed { why: Arc::from("timed out"), usage: TokenUsage::default() };
    prompted().review_returned(failed).records("review_completed model_call_started");
    let odd = ReviewResult::ModelText { text: Arc::from("?"), usage: TokenUsage::default() };
    prompted().review_returned(odd).wants("model 1");
}

#[test]
fn a_prompt_hook_is_asked_again_after_a_crash_and_ended_by_a_cancel() {
    prompted().owner_changes().records("owner_changed").wants("review 1");
    prompted()
        .cancel()
        .records("cancel_requested review_completed run_finished")
        .ends(StopCause::UserCancel);
    prompted()
        .review_returned(ReviewResult::Pass { context: None })
        .review_returned(ReviewResult::Pass { context: None })
        .records_nothing();
    let drifted = prompted().owner_changes_with_hash("other").parked();
    let mut changed = crate::kit::settings();
    changed.hooks.prompt = HookPresence::Present;
    drifted
        .answer(windlass_core::log::inbox::HumanAnswer::Continue {})
        .configure(changed)
        .consults("prompt");
}

fn hooked() -> Lane {
    Lane::with(|settings| {
        settings.hooks.before_tool = HookPresence::Present;
        settings.hooks.after_tool = HookPresence::Present;
    })
    .prompt("hi")
}

fn change(tool: &str, preference: HookPreference) -> HookDecision {
    let input = RawJson::parse(r#"{"on":"/b"}"#).unwrap();
    let changed = ToolUse { id: "t1".into(), name: tool.into(), input: input.clone() };
    HookDecision::Change { input, facts: Box::new(facts_for(&changed)), preference, reason: None }
}

// spec: PERMISSIONS-01, PERMISSIONS-02, HOOKS-03
#[test]
fn a_hook_may_let_run_what_no_rule_holds_back_and_nothing_else() {
    let one = |tool: &str| hooked().reply(calls([call("t1", tool, "/a")]));
    one("write").hook(0, HookDecision::Allow {}).calls_are("running");
    one("write").hook(0, HookDecision::Ask { reason: None }).calls_are("awaiting-human").parked();
    one("deploy").hook(0, HookDecision::Allow {}).calls_are("awaiting-human");
    one("rm").hook(0, HookDecision::Allow {}).tells("the rule rm denies it");
    one("rm").hook(0, change("rm", HookPreference::Allow)).tells("the rule rm denies it");
    one("write").hook(0, change("write", HookPreference::Ask)).calls_are("awaiting-human");
    let open = Lane::with(|settings| {
        settings.hooks.before_tool = HookPresence::Present;
        settings.rules.ask.clear();
        settings.rules.default_decision = DefaultDecision::Deny;
    });
    let open = open.prompt("hi").reply(calls([call("t1", "deploy", "x")]));
    open.clone().hook(0, HookDecision::Allow {}).calls_are("running");
    open.clone().hook(0, change("deploy", HookPreference::Allow)).calls_are("running");
    open.hook(0, HookDecision::Pass {}).tells("no permission rule allows deploy");
    let absent = Lane::with(|settings| {
        settings.hooks.before_tool = HookPresence::Present;
        settings.rules.human = HumanAvailability::Absent;
    });
    let absent = absent.prompt("hi").reply(calls([call("t1", "write", "/a")]));
    absent.hook(0, HookDecision::Ask { reason: None }).tells("no one is available to approve it");
}

#[test]
fn what_a_hook_says_is_told_after_the_results() {
    let lane = hooked().reply(calls([call("t1", "write", "/a"), call("t2", "write", "/b")]));
    let lane = lane.hook_saying(0, HookDecision::Pass {}, "mind the lock");
    let lane = lane
        .records("permission_decided hook_context_added call_started")
        .hook(1, HookDecision::Pass {});
    let lane = lane.returns(0, "A").hook_saying(0, HookDecision::Pass {}, "formatted");
    let lane = lane.returns(1, "B").hook(1, HookDecision::Pass {});
    lane.shows_last("user: <t1 ok: A> | <t2 ok: B> | mind the lock\nformatted");
    let denied = hooked().reply(calls([call("t1", "write", "/a")]));
    denied
        .hook_saying(0, HookDecision::Deny { reason: Arc::from("no") }, "ask the boss")
        .shows_last("user: <t1 denied: no> | ask the boss");
}

// spec: HOOKS-03
#[test]
fn hooks_are_not_asked_about_calls_that_cannot_run() {
    let lane = hooked().reply(calls([call("t1", "teleport", "/moon"), call("t2", "write", "/a")]));
    lane.records("model_replied round_opened result_finalized")
        .wants("pre-hook 1.1")
        .shows(["user: hi"]);
}
