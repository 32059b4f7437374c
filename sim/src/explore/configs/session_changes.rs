//! Configurations about what changes while a conversation goes on: permissions, the model, and runs
//! that hooks end.

use windlass_core::permission::{DefaultDecision, PermissionMode, RuleBehavior};
use windlass_core::settings::conversation_settings::{HookPoints, HookPresence};

use super::one_prompt;
use crate::explore::bounds::RemainingChoices;
use crate::explore::choices::{HookChoice, ModelFaultChoice, ToolReturnChoice};
use crate::explore::config::ExplorerConfig;
use crate::explore::moves::UpdateChoice;

pub(super) const ALL: &[fn() -> ExplorerConfig] =
    &[rich_answers, modes, rules, models, hook_stops, deferrals, replies, servers];

fn rich_answers() -> ExplorerConfig {
    let bounds = RemainingChoices { answers: 2, crashes: 1, cancels: 1, ..one_prompt() };
    let lines =
        ["end_turn:text", "tool_use:may_look may_pay", "tool_use:may_look send", "tool_use:ask"];
    ExplorerConfig::new(
        "rich-answers",
        "approvals that change arguments and rules, denials that end the run",
        &lines,
        bounds,
    )
    .with_rich_answers()
}

fn modes() -> ExplorerConfig {
    let bounds = RemainingChoices { updates: 2, answers: 1, crashes: 1, ..one_prompt() };
    let lines = ["end_turn:text", "tool_use:pay send", "tool_use:look send put"];
    let modes = [
        PermissionMode::Default,
        PermissionMode::Plan,
        PermissionMode::DontAsk,
        PermissionMode::BypassPermissions,
    ];
    ExplorerConfig::new("modes", "a mode that changes in the middle of a round", &lines, bounds)
        .with(|settings| settings.rules.default_decision = DefaultDecision::Ask)
        .with_updates(&modes.map(UpdateChoice::Mode))
}

fn rules() -> ExplorerConfig {
    let bounds =
        RemainingChoices { prompts: 2, updates: 2, answers: 1, crashes: 1, ..one_prompt() };
    let lines = ["end_turn:text", "tool_use:pay send", "tool_use:send"];
    let updates = [
        UpdateChoice::Rule(RuleBehavior::Allow),
        UpdateChoice::Rule(RuleBehavior::Deny),
        UpdateChoice::Rule(RuleBehavior::Ask),
        UpdateChoice::NoRule(RuleBehavior::Deny),
    ];
    ExplorerConfig::new("session-rules", "rules that come and go with commands", &lines, bounds)
        .with(|settings| settings.rules.default_decision = DefaultDecision::Ask)
        .with_updates(&updates)
}

fn models() -> ExplorerConfig {
    let bounds =
        RemainingChoices { models: 2, failures: 1, crashes: 1, cancels: 1, ..one_prompt() };
    let lines = ["end_turn:text", "tool_use:read", "max_tokens:text"];
    ExplorerConfig::new("models", "a model that changes between two calls", &lines, bounds)
        .faults(&[ModelFaultChoice::Passing, ModelFaultChoice::Cut])
        .with(|settings| settings.limits.model_calls = 4)
}

fn hook_stops() -> ExplorerConfig {
    let bounds = RemainingChoices { answers: 1, crashes: 1, cancels: 1, drifts: 1, ..one_prompt() };
    let lines = ["end_turn:text", "tool_use:pay look", "tool_use:may_pay send"];
    ExplorerConfig::new("hook-stops", "hooks that end the run", &lines, bounds)
        .with(|settings| {
            let present = HookPresence::Present;
            settings.hooks =
                HookPoints { before_tool: present, after_tool: present, ..HookPoints::default() };
        })
        .says(&[HookChoice::Pass, HookChoice::Stop, HookChoice::DenyAndStop])
}

fn deferrals() -> ExplorerConfig {
    let bounds = RemainingChoices { prompts: 2, answers: 1, crashes: 1, aborts: 1, ..one_prompt() };
    let lines = ["end_turn:text", "tool_use:pay look", "tool_use:may_pay send"];
    ExplorerConfig::new("deferrals", "hooks that defer a call, or say why they ask", &lines, bounds)
        .with(|settings| {
            settings.hooks.before_tool = HookPresence::Present;
        })
        .says(&[HookChoice::Pass, HookChoice::Defer, HookChoice::AskWhy])
}

fn replies() -> ExplorerConfig {
    let bounds = RemainingChoices { steers: 1, failures: 1, crashes: 1, ..one_prompt() };
    let lines = ["end_turn:text", "tool_use:read", "pause_turn:text", "max_tokens:text"];
    ExplorerConfig::new("replies", "a limit on replies", &lines, bounds)
        .faults(&[ModelFaultChoice::Passing])
        .with(|settings| {
            settings.limits.model_replies = Some(2);
            settings.limits.tool_rounds = 5;
            settings.limits.model_calls = 9;
        })
}

/// Servers whose tools change, that ask the user in a call, and that die in one: then its outcome is
/// an error, and nothing is repeated.
fn servers() -> ExplorerConfig {
    let bounds = RemainingChoices {
        tool_lists: 2,
        mishaps: 1,
        failures: 1,
        answers: 1,
        crashes: 1,
        cancels: 1,
        ..one_prompt()
    };
    let lines = ["end_turn:text", "tool_use:pay send", "tool_use:may_pay"];
    ExplorerConfig::new("servers", "tool lists that change, and servers that die", &lines, bounds)
        .faults(&[ModelFaultChoice::Passing])
        .with_tool_returns(&[
            ToolReturnChoice::Done,
            ToolReturnChoice::Recoverable,
            ToolReturnChoice::Asks,
        ])
}
