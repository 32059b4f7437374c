//! Windows that fill: stages, ladder, summaries, hooks.

use windlass_core::settings::{HookPoints, Listening, Settings};
use windlass_core::window::{Summariser, Switch};

use super::limits::TIMES;
use super::one_prompt;
use crate::explore::advice::Advise;
use crate::explore::bounds::Bounds;
use crate::explore::config::Config;
use crate::explore::menu::{Back, Fault};

pub(super) const ALL: &[fn() -> Config] =
    &[window, deep, summaries, put_off, heard_first, on_request, no_window, too_long];

/// A window that two big results fill. A round is some 170 tokens then, a note some 60.
fn tiny(settings: &mut Settings) {
    settings.model.window_tokens = 500;
    settings.limits.result_chars = 1_000;
    settings.limits.kept_messages = 2;
    settings.limits.tool_rounds = 4;
    settings.limits.model_calls = 6;
    settings.limits.summary_tokens = 40;
}

const LINES: [&str; 3] = ["end_turn:text", "tool_use:read", "tool_use:look"];

fn window() -> Config {
    let bounds = Bounds { answers: 1, memories: 1, ..one_prompt() };
    Config::new("window", "results that fill a small window", &LINES, bounds)
        .with(tiny)
        .backs(&[Back::Done, Back::Big])
        .honestly_billed()
}

fn deep() -> Config {
    let bounds = Bounds { answers: 2, crashes: 1, cancels: 1, memories: 1, ..one_prompt() };
    let lines = ["end_turn:text", "tool_use:thought look"];
    Config::new("deep", "a window that fills again and again, up to the human", &lines, bounds)
        .with(|settings| {
            tiny(settings);
            settings.model.window_tokens = 1_100;
            settings.window.collapse = Switch::Off;
            settings.limits.kept_messages = 10;
            settings.limits.sliding_messages = 12;
            settings.limits.tool_rounds = 9;
            settings.limits.model_calls = 12;
            settings.guards.exempt = vec!["read".into(), "look".into()];
        })
        .backs(&[Back::Big])
        .honestly_billed()
}

const SUMMARIES: [Advise; 4] = [Advise::Summary, Advise::Long, Advise::Blank, Advise::Fail];

fn summaries() -> Config {
    let bounds = Bounds { answers: 1, crashes: 1, cancels: 1, aborts: 1, ..one_prompt() };
    Config::new("summaries", "summaries that are made, too long, empty, or fail", &LINES, bounds)
        .with(|settings| {
            tiny(settings);
            settings.window.summariser = Summariser::Own;
            settings.window.collapse = Switch::Off;
        })
        .backs(&[Back::Big])
        .advices(&SUMMARIES)
        .honestly_billed()
}

fn put_off() -> Config {
    let bounds = Bounds { answers: 1, crashes: 1, cancels: 1, drifts: 1, ..one_prompt() };
    let says = [Advise::Pass, Advise::Tell, Advise::Block, Advise::Stop, Advise::Fail];
    let says: Vec<Advise> = says.into_iter().chain([Advise::Summary]).collect();
    let lines = ["end_turn:text", "tool_use:read"];
    Config::new("put-off", "hooks that hear that room is to be made", &lines, bounds)
        .with(|settings| {
            tiny(settings);
            settings.window.summariser = Summariser::Own;
            settings.window.collapse = Switch::Off;
            settings.hooks = HookPoints { compaction: Listening::Hooked, ..HookPoints::default() };
        })
        .backs(&[Back::Big])
        .advices(&says)
        .honestly_billed()
}

fn heard_first() -> Config {
    let bounds = Bounds { crashes: 1, cancels: 1, lapses: 1, ..one_prompt() };
    let says = [Advise::Pass, Advise::Block, Advise::Stop, Advise::Fail];
    let lines = ["end_turn:text", "tool_use:read"];
    Config::new("heard-first", "hooks that see results before they are cut", &lines, bounds)
        .with(|settings| {
            tiny(settings);
            settings.times = Some(TIMES);
            settings.limits.recoveries = 1;
            settings.guards.exempt = vec!["read".into()];
            settings.hooks = HookPoints { compaction: Listening::Hooked, ..HookPoints::default() };
        })
        .backs(&[Back::Big])
        .advices(&says)
        .honestly_billed()
}

fn on_request() -> Config {
    let bounds =
        Bounds { prompts: 2, compactions: 2, memories: 1, steers: 1, answers: 1, ..one_prompt() };
    let lines = ["end_turn:text", "tool_use:note"];
    Config::new("on-request", "people who want room, with a journal to keep", &lines, bounds)
        .with(|settings| settings.limits.kept_messages = 1)
        .honestly_billed()
}

fn no_window() -> Config {
    let bounds = Bounds { prompts: 2, crashes: 1, cancels: 1, ..one_prompt() };
    Config::new("no-window", "a window in which there is no room at all", &LINES, bounds)
        .with(|settings| settings.model.window_tokens = 0)
}

fn too_long() -> Config {
    let bounds = Bounds { failures: 3, answers: 2, crashes: 1, cancels: 1, ..one_prompt() };
    let lines = ["end_turn:text", "tool_use:read", "max_tokens:text"];
    Config::new("too-long", "a provider that says the window is full", &lines, bounds)
        .with(|settings| {
            settings.limits.tool_rounds = 3;
            settings.limits.model_calls = 7;
            settings.limits.recoveries = 2;
            settings.window.summariser = Summariser::Own;
        })
        .faults(&[Fault::TooLong])
        .advices(&[Advise::Summary, Advise::Fail])
}
