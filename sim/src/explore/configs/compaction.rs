//! Configurations with windows that fill: pruning stages, recovery ladder, summaries, hooks.

use windlass_core::context::{StageSwitch, Summariser};
use windlass_core::settings::conversation_settings::{HookPoints, HookPresence, Settings};

use super::limits::TIMES;
use super::one_prompt;
use crate::explore::bounds::RemainingChoices;
use crate::explore::choices::{ModelFaultChoice, ToolReturnChoice};
use crate::explore::config::ExplorerConfig;
use crate::explore::review_choices::ReviewChoice;

pub(super) const ALL: &[fn() -> ExplorerConfig] =
    &[window, deep, summaries, put_off, heard_first, on_request, no_window, too_long];

/// A window that two large results fill. A round is some 170 tokens then, a note some 60.
fn tiny(settings: &mut Settings) {
    settings.model.window_tokens = 500;
    settings.limits.result_chars = 1_000;
    settings.limits.kept_messages = 2;
    settings.limits.tool_rounds = 4;
    settings.limits.model_calls = 6;
    settings.limits.summary_tokens = 40;
}

const LINES: [&str; 3] = ["end_turn:text", "tool_use:read", "tool_use:look"];

fn window() -> ExplorerConfig {
    let bounds = RemainingChoices { answers: 1, memories: 1, ..one_prompt() };
    ExplorerConfig::new("window", "results that fill a small window", &LINES, bounds)
        .with(tiny)
        .with_tool_returns(&[ToolReturnChoice::Done, ToolReturnChoice::Big])
        .honestly_billed()
}

fn deep() -> ExplorerConfig {
    let bounds =
        RemainingChoices { answers: 2, crashes: 1, cancels: 1, memories: 1, ..one_prompt() };
    let lines = ["end_turn:text", "tool_use:thought look"];
    ExplorerConfig::new(
        "deep",
        "a window that fills again and again, up to the human",
        &lines,
        bounds,
    )
    .with(|settings| {
        tiny(settings);
        settings.model.window_tokens = 1_100;
        settings.window.collapse = StageSwitch::Off;
        settings.limits.kept_messages = 10;
        settings.limits.sliding_messages = 12;
        settings.limits.tool_rounds = 9;
        settings.limits.model_calls = 12;
        settings.guards.exempt = vec!["read".into(), "look".into()];
    })
    .with_tool_returns(&[ToolReturnChoice::Big])
    .honestly_billed()
}

const SUMMARIES: [ReviewChoice; 4] = [
    ReviewChoice::Summary,
    ReviewChoice::LongSummary,
    ReviewChoice::BlankSummary,
    ReviewChoice::Fail,
];

fn summaries() -> ExplorerConfig {
    let bounds = RemainingChoices { answers: 1, crashes: 1, cancels: 1, aborts: 1, ..one_prompt() };
    ExplorerConfig::new(
        "summaries",
        "summaries that are made, too long, empty, or fail",
        &LINES,
        bounds,
    )
    .with(|settings| {
        tiny(settings);
        settings.window.summariser = Summariser::OwnModel;
        settings.window.collapse = StageSwitch::Off;
    })
    .with_tool_returns(&[ToolReturnChoice::Big])
    .with_reviews(&SUMMARIES)
    .honestly_billed()
}

fn put_off() -> ExplorerConfig {
    let bounds = RemainingChoices { answers: 1, crashes: 1, cancels: 1, drifts: 1, ..one_prompt() };
    let says = [
        ReviewChoice::Pass,
        ReviewChoice::PassWithContext,
        ReviewChoice::Block,
        ReviewChoice::Stop,
        ReviewChoice::Fail,
    ];
    let says: Vec<ReviewChoice> = says.into_iter().chain([ReviewChoice::Summary]).collect();
    let lines = ["end_turn:text", "tool_use:read"];
    ExplorerConfig::new("put-off", "hooks before a compaction", &lines, bounds)
        .with(|settings| {
            tiny(settings);
            settings.window.summariser = Summariser::OwnModel;
            settings.window.collapse = StageSwitch::Off;
            settings.hooks =
                HookPoints { compaction: HookPresence::Present, ..HookPoints::default() };
        })
        .with_tool_returns(&[ToolReturnChoice::Big])
        .with_reviews(&says)
        .honestly_billed()
}

fn heard_first() -> ExplorerConfig {
    let bounds = RemainingChoices { crashes: 1, cancels: 1, lapses: 1, ..one_prompt() };
    let says = [ReviewChoice::Pass, ReviewChoice::Block, ReviewChoice::Stop, ReviewChoice::Fail];
    let lines = ["end_turn:text", "tool_use:read"];
    ExplorerConfig::new("heard-first", "hooks that see results before they are cut", &lines, bounds)
        .with(|settings| {
            tiny(settings);
            settings.times = Some(TIMES);
            settings.limits.recoveries = 1;
            settings.guards.exempt = vec!["read".into()];
            settings.hooks =
                HookPoints { compaction: HookPresence::Present, ..HookPoints::default() };
        })
        .with_tool_returns(&[ToolReturnChoice::Big])
        .with_reviews(&says)
        .honestly_billed()
}

fn on_request() -> ExplorerConfig {
    let bounds = RemainingChoices {
        prompts: 2,
        compactions: 2,
        memories: 1,
        steers: 1,
        answers: 1,
        ..one_prompt()
    };
    let lines = ["end_turn:text", "tool_use:note"];
    ExplorerConfig::new(
        "on-request",
        "users who request a compaction, with a journal to keep",
        &lines,
        bounds,
    )
    .with(|settings| settings.limits.kept_messages = 1)
    .honestly_billed()
}

fn no_window() -> ExplorerConfig {
    let bounds = RemainingChoices { prompts: 2, crashes: 1, cancels: 1, ..one_prompt() };
    ExplorerConfig::new("no-window", "a window that is too small for anything", &LINES, bounds)
        .with(|settings| settings.model.window_tokens = 0)
}

fn too_long() -> ExplorerConfig {
    let bounds =
        RemainingChoices { failures: 3, answers: 2, crashes: 1, cancels: 1, ..one_prompt() };
    let lines = ["end_turn:text", "tool_use:read", "max_tokens:text"];
    ExplorerConfig::new("too-long", "a provider that says the window is full", &lines, bounds)
        .with(|settings| {
            settings.limits.tool_rounds = 3;
            settings.limits.model_calls = 7;
            settings.limits.recoveries = 2;
            settings.window.summariser = Summariser::OwnModel;
        })
        .faults(&[ModelFaultChoice::TooLong])
        .with_reviews(&[ReviewChoice::Summary, ReviewChoice::Fail])
}
