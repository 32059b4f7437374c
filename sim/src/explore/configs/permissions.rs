//! Configurations about permissions: lists, modes, hooks and classifiers.

use windlass_core::permission::{DefaultDecision, PermissionMode, Permissions};
use windlass_core::run::side_requests::CLASSIFICATION_RESERVED_TOKENS;
use windlass_core::settings::conversation_settings::{HookPoints, HookPresence, Settings};

use super::one_prompt;
use crate::explore::bounds::RemainingChoices;
use crate::explore::choices::{ClassifierChoice, HookChoice};
use crate::explore::config::{ExplorerConfig, rules_of};

pub(super) const ALL: &[fn() -> ExplorerConfig] =
    &[lists, grants, hooked, plan, planning, dont_ask, bypass, auto, short, expiring];

/// Permissions in which every list names a tool, and some name the same.
fn all_lists(mode: PermissionMode) -> Permissions {
    Permissions {
        disallowed: rules_of(&["shell"]),
        deny: rules_of(&["no"]),
        ask: rules_of(&["may_*"]),
        allow: rules_of(&["pay", "may_pay", "no", "shell"]),
        mode,
        default_decision: DefaultDecision::Ask,
        ..Permissions::default()
    }
}

const LINES: [&str; 6] = [
    "end_turn:text",
    "tool_use:send",
    "tool_use:may_pay",
    "tool_use:no read",
    "tool_use:pay shell",
    "tool_use:may_look look",
];

fn lists() -> ExplorerConfig {
    let bounds = RemainingChoices { answers: 2, crashes: 1, cancels: 1, ..one_prompt() };
    ExplorerConfig::new(
        "lists",
        "deny before ask before allow, whatever the lists name",
        &LINES,
        bounds,
    )
    .with(|settings| settings.rules = all_lists(PermissionMode::Default))
}

fn grants() -> ExplorerConfig {
    let bounds = RemainingChoices { answers: 3, crashes: 1, outages: 1, ..one_prompt() };
    let lines = ["end_turn:text", "tool_use:send", "tool_use:may_pay", "tool_use:no"];
    ExplorerConfig::new(
        "grants",
        "what people allow for the rest of the conversation",
        &lines,
        bounds,
    )
    .with(|settings| {
        settings.rules = all_lists(PermissionMode::Default);
        settings.limits.tool_rounds = 2;
        settings.limits.model_calls = 4;
    })
}

fn listen(settings: &mut Settings) {
    settings.hooks = HookPoints { before_tool: HookPresence::Present, ..HookPoints::default() };
}

fn hooked() -> ExplorerConfig {
    let bounds = RemainingChoices { answers: 1, crashes: 1, aborts: 1, blocks: 1, ..one_prompt() };
    ExplorerConfig::new("leaning", "hooks that allow and hooks that want a human", &LINES, bounds)
        .with(|settings| {
            settings.rules = all_lists(PermissionMode::Default);
            listen(settings);
        })
        .says(&[HookChoice::Pass, HookChoice::Allow, HookChoice::Ask, HookChoice::Deny])
}

fn in_mode(name: &'static str, about: &'static str, mode: PermissionMode) -> ExplorerConfig {
    let bounds = RemainingChoices { answers: 1, crashes: 1, blocks: 1, ..one_prompt() };
    ExplorerConfig::new(name, about, &LINES, bounds)
        .with(|settings| {
            settings.rules = all_lists(mode);
            listen(settings);
        })
        .says(&[HookChoice::Pass, HookChoice::Allow])
}

fn plan() -> ExplorerConfig {
    in_mode("plan", "nothing is changed", PermissionMode::Plan)
}

/// A plan that is presented again and again, and calls that must wait for its approval.
fn planning() -> ExplorerConfig {
    let bounds = RemainingChoices { answers: 2, crashes: 1, cancels: 1, ..one_prompt() };
    let lines = ["end_turn:text", "tool_use:plan", "tool_use:pay plan"];
    ExplorerConfig::new("planning", "a plan that a person approves, or not", &lines, bounds).with(
        |settings| {
            settings.rules.mode = PermissionMode::Plan;
            settings.rules.default_decision = DefaultDecision::Allow;
            settings.limits.tool_rounds = 3;
            settings.limits.model_calls = 4;
        },
    )
}

fn dont_ask() -> ExplorerConfig {
    in_mode("dont-ask", "what no rule allows is denied", PermissionMode::DontAsk)
}

fn bypass() -> ExplorerConfig {
    in_mode("bypass", "everything runs that no rule holds back", PermissionMode::BypassPermissions)
}

fn auto() -> ExplorerConfig {
    let bounds = RemainingChoices { answers: 1, crashes: 1, outages: 1, aborts: 1, ..one_prompt() };
    let lines = [
        "end_turn:text",
        "tool_use:send look",
        "tool_use:may_pay",
        "tool_use:no put",
        "tool_use:send put",
    ];
    ExplorerConfig::new("auto", "a classifier decides what would be asked", &lines, bounds)
        .with(|settings| settings.rules = all_lists(PermissionMode::Auto))
        .thoughts(&[ClassifierChoice::Allow, ClassifierChoice::Deny, ClassifierChoice::Unsure])
}

fn short() -> ExplorerConfig {
    let bounds = RemainingChoices { answers: 1, crashes: 1, cancels: 1, ..one_prompt() };
    let lines = ["end_turn:text", "tool_use:send put", "tool_use:put"];
    ExplorerConfig::new(
        "short",
        "a budget that pays for one classifier and not for two",
        &lines,
        bounds,
    )
    .with(|settings| {
        settings.rules = all_lists(PermissionMode::Auto);
        settings.limits.run_tokens = Some(CLASSIFICATION_RESERVED_TOKENS * 3 / 2);
    })
    .thoughts(&[ClassifierChoice::Allow, ClassifierChoice::Unsure])
    .fully_billed()
}

fn expiring() -> ExplorerConfig {
    let bounds = RemainingChoices {
        answers: 2,
        crashes: 1,
        cancels: 1,
        lapses: 1,
        drifts: 1,
        ..one_prompt()
    };
    let lines = ["end_turn:text", "tool_use:may_pay", "tool_use:may_look may_pay", "tool_use:ask"];
    ExplorerConfig::new("expiring", "approval that comes too late, or never", &lines, bounds)
        .with(|settings| settings.limits.approval_ms = Some(50))
}
