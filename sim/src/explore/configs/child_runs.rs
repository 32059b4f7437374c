//! Configurations about the journal, child runs, being a child run, and prompt hooks.

use windlass_core::settings::conversation_settings::{HookPoints, HookPresence};

use super::one_prompt;
use crate::explore::bounds::RemainingChoices;
use crate::explore::choices::{HookChoice, ToolReturnChoice};
use crate::explore::config::ExplorerConfig;
use crate::explore::review_choices::ReviewChoice;

pub(super) const ALL: &[fn() -> ExplorerConfig] =
    &[journal, children, crews, lending, child, prompt_hooks, context];

fn journal() -> ExplorerConfig {
    let bounds =
        RemainingChoices { prompts: 2, crashes: 1, outages: 2, cancels: 1, ..one_prompt() };
    let lines =
        ["end_turn:text", "tool_use:note read", "tool_use:recall note", "tool_use:pay note"];
    ExplorerConfig::new("journal", "the model writes to the journal", &lines, bounds)
}

fn children() -> ExplorerConfig {
    let bounds = RemainingChoices {
        prompts: 2,
        strays: 1,
        crashes: 1,
        outages: 1,
        aborts: 1,
        ..one_prompt()
    };
    let lines = ["end_turn:text", "tool_use:hire", "tool_use:hire read"];
    ExplorerConfig::new("children", "calls that child runs answer, late or twice", &lines, bounds)
}

fn crews() -> ExplorerConfig {
    let bounds = RemainingChoices { strays: 1, crashes: 1, cancels: 1, mishaps: 1, ..one_prompt() };
    let lines = ["end_turn:text", "tool_use:crew hire", "tool_use:crew crew look"];
    ExplorerConfig::new("crews", "more child runs than may work at once", &lines, bounds)
        .with(|settings| settings.limits.children = 3)
        .with_tool_returns(&[ToolReturnChoice::Done, ToolReturnChoice::Fatal])
}

fn lending() -> ExplorerConfig {
    let bounds = RemainingChoices { prompts: 2, crashes: 1, cancels: 1, aborts: 1, ..one_prompt() };
    let lines = ["end_turn:text", "tool_use:hire hire", "tool_use:crew"];
    ExplorerConfig::new("lending", "child runs that spend all of their budget", &lines, bounds)
        .with(|settings| {
            settings.limits.run_tokens = Some(220);
            settings.budget.conversation.tokens = Some(260);
        })
        .fully_billed()
}

fn child() -> ExplorerConfig {
    let bounds = RemainingChoices {
        tasks: 2,
        strays: 1,
        crashes: 1,
        cancels: 1,
        ..RemainingChoices::default()
    };
    let lines = ["end_turn:text", "tool_use:hire", "tool_use:read", "max_tokens:text"];
    ExplorerConfig::new("child", "a conversation that is a child run", &lines, bounds)
        .with(|settings| settings.limits.child_depth = 1)
        .fully_billed()
}

fn prompt_hooks() -> ExplorerConfig {
    let bounds = RemainingChoices {
        prompts: 2,
        steers: 1,
        crashes: 1,
        drifts: 1,
        forks: 1,
        answers: 1,
        ..one_prompt()
    };
    let lines = ["end_turn:text"];
    let says = [
        ReviewChoice::Pass,
        ReviewChoice::PassWithContext,
        ReviewChoice::Block,
        ReviewChoice::Stop,
        ReviewChoice::Fail,
    ];
    ExplorerConfig::new("prompt-hooks", "hooks that review prompts", &lines, bounds)
        .with(|settings| {
            settings.hooks = HookPoints { prompt: HookPresence::Present, ..HookPoints::default() };
        })
        .with_reviews(&says)
}

fn context() -> ExplorerConfig {
    let bounds = RemainingChoices { crashes: 1, cancels: 1, answers: 1, ..one_prompt() };
    let lines = ["end_turn:text", "tool_use:look pay", "tool_use:may_look"];
    ExplorerConfig::new("context", "hooks that have something to say to the model", &lines, bounds)
        .with(|settings| {
            settings.hooks = HookPoints {
                before_tool: HookPresence::Present,
                after_tool: HookPresence::Present,
                ..HookPoints::default()
            };
        })
        .says(&[HookChoice::Pass, HookChoice::Tell])
}
