//! Permissions: lists, modes, hooks and classifiers.

use windlass_core::aside::OPINION_RESERVED_TOKENS;
use windlass_core::permission::{Mode, Otherwise, Permissions};
use windlass_core::settings::{HookPoints, Listening, Settings};

use super::one_prompt;
use crate::explore::bounds::Bounds;
use crate::explore::config::{Config, rules_of};
use crate::explore::menu::{Say, Think};

pub(super) const ALL: &[fn() -> Config] =
    &[lists, grants, hooked, plan, planning, dont_ask, bypass, auto, short, expiring];

/// Every list names something, and some name the same.
fn all_lists(mode: Mode) -> Permissions {
    Permissions {
        disallowed: rules_of(&["shell"]),
        deny: rules_of(&["no"]),
        ask: rules_of(&["may_*"]),
        allow: rules_of(&["pay", "may_pay", "no", "shell"]),
        mode,
        otherwise: Otherwise::Ask,
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

fn lists() -> Config {
    let bounds = Bounds { answers: 2, crashes: 1, cancels: 1, ..one_prompt() };
    Config::new("lists", "deny before ask before allow, whatever the lists name", &LINES, bounds)
        .with(|settings| settings.rules = all_lists(Mode::Default))
}

fn grants() -> Config {
    let bounds = Bounds { answers: 3, crashes: 1, outages: 1, ..one_prompt() };
    let lines = ["end_turn:text", "tool_use:send", "tool_use:may_pay", "tool_use:no"];
    Config::new("grants", "what people allow for the rest of the conversation", &lines, bounds)
        .with(|settings| {
            settings.rules = all_lists(Mode::Default);
            settings.limits.tool_rounds = 2;
            settings.limits.model_calls = 4;
        })
}

fn listen(settings: &mut Settings) {
    settings.hooks = HookPoints { before_tool: Listening::Hooked, ..HookPoints::default() };
}

fn hooked() -> Config {
    let bounds = Bounds { answers: 1, crashes: 1, aborts: 1, blocks: 1, ..one_prompt() };
    Config::new("leaning", "hooks that allow and hooks that want a human", &LINES, bounds)
        .with(|settings| {
            settings.rules = all_lists(Mode::Default);
            listen(settings);
        })
        .says(&[Say::Pass, Say::Allow, Say::Ask, Say::Deny])
}

fn in_mode(name: &'static str, about: &'static str, mode: Mode) -> Config {
    let bounds = Bounds { answers: 1, crashes: 1, blocks: 1, ..one_prompt() };
    Config::new(name, about, &LINES, bounds)
        .with(|settings| {
            settings.rules = all_lists(mode);
            listen(settings);
        })
        .says(&[Say::Pass, Say::Allow])
}

fn plan() -> Config {
    in_mode("plan", "nothing is changed", Mode::Plan)
}

/// A plan that is presented again and again, and calls that must wait for its approval.
fn planning() -> Config {
    let bounds = Bounds { answers: 2, crashes: 1, cancels: 1, ..one_prompt() };
    let lines = ["end_turn:text", "tool_use:plan", "tool_use:pay plan"];
    Config::new("planning", "a plan that a person approves, or not", &lines, bounds).with(
        |settings| {
            settings.rules.mode = Mode::Plan;
            settings.rules.otherwise = Otherwise::Allow;
            settings.limits.tool_rounds = 3;
            settings.limits.model_calls = 4;
        },
    )
}

fn dont_ask() -> Config {
    in_mode("dont-ask", "what no rule allows is denied", Mode::DontAsk)
}

fn bypass() -> Config {
    in_mode("bypass", "everything runs that no rule holds back", Mode::BypassPermissions)
}

fn auto() -> Config {
    let bounds = Bounds { answers: 1, crashes: 1, outages: 1, aborts: 1, ..one_prompt() };
    let lines = [
        "end_turn:text",
        "tool_use:send look",
        "tool_use:may_pay",
        "tool_use:no put",
        "tool_use:send put",
    ];
    Config::new("auto", "a classifier decides what would be asked", &lines, bounds)
        .with(|settings| settings.rules = all_lists(Mode::Auto))
        .thoughts(&[Think::Allow, Think::Deny, Think::Unsure])
}

fn short() -> Config {
    let bounds = Bounds { answers: 1, crashes: 1, cancels: 1, ..one_prompt() };
    let lines = ["end_turn:text", "tool_use:send put", "tool_use:put"];
    Config::new("short", "a budget that pays for one classifier and not for two", &lines, bounds)
        .with(|settings| {
            settings.rules = all_lists(Mode::Auto);
            settings.limits.run_tokens = Some(OPINION_RESERVED_TOKENS * 3 / 2);
        })
        .thoughts(&[Think::Allow, Think::Unsure])
        .fully_billed()
}

fn expiring() -> Config {
    let bounds =
        Bounds { answers: 2, crashes: 1, cancels: 1, lapses: 1, drifts: 1, ..one_prompt() };
    let lines = ["end_turn:text", "tool_use:may_pay", "tool_use:may_look may_pay", "tool_use:ask"];
    Config::new("expiring", "leave that is given too late, or never", &lines, bounds)
        .with(|settings| settings.limits.approval_ms = Some(50))
}
