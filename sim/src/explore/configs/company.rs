//! Journal, children, being a child, and hooks that see prompts.

use windlass_core::settings::{HookPoints, Listening};

use super::one_prompt;
use crate::explore::advice::Advise;
use crate::explore::bounds::Bounds;
use crate::explore::config::Config;
use crate::explore::menu::{Back, Say};

pub(super) const ALL: &[fn() -> Config] =
    &[journal, children, crews, lending, child, prompt_hooks, context];

fn journal() -> Config {
    let bounds = Bounds { prompts: 2, crashes: 1, outages: 2, cancels: 1, ..one_prompt() };
    let lines =
        ["end_turn:text", "tool_use:note read", "tool_use:recall note", "tool_use:pay note"];
    Config::new("journal", "what the model writes down on purpose", &lines, bounds)
}

fn children() -> Config {
    let bounds =
        Bounds { prompts: 2, strays: 1, crashes: 1, outages: 1, aborts: 1, ..one_prompt() };
    let lines = ["end_turn:text", "tool_use:hire", "tool_use:hire read"];
    Config::new("children", "calls that children answer, late or twice", &lines, bounds)
}

fn crews() -> Config {
    let bounds = Bounds { strays: 1, crashes: 1, cancels: 1, mishaps: 1, ..one_prompt() };
    let lines = ["end_turn:text", "tool_use:crew hire", "tool_use:crew crew look"];
    Config::new("crews", "more children than may work at once", &lines, bounds)
        .with(|settings| settings.limits.children = 3)
        .backs(&[Back::Done, Back::Fatal])
}

fn lending() -> Config {
    let bounds = Bounds { prompts: 2, crashes: 1, cancels: 1, aborts: 1, ..one_prompt() };
    let lines = ["end_turn:text", "tool_use:hire hire", "tool_use:crew"];
    Config::new("lending", "children who spend all that they are lent", &lines, bounds)
        .with(|settings| {
            settings.limits.run_tokens = Some(220);
            settings.budget.conversation.tokens = Some(260);
        })
        .fully_billed()
}

fn child() -> Config {
    let bounds = Bounds { tasks: 2, strays: 1, crashes: 1, cancels: 1, ..Bounds::default() };
    let lines = ["end_turn:text", "tool_use:hire", "tool_use:read", "max_tokens:text"];
    Config::new("child", "a conversation that works for another", &lines, bounds)
        .with(|settings| settings.limits.child_depth = 1)
        .fully_billed()
}

fn prompt_hooks() -> Config {
    let bounds = Bounds {
        prompts: 2,
        steers: 1,
        crashes: 1,
        drifts: 1,
        forks: 1,
        answers: 1,
        ..one_prompt()
    };
    let lines = ["end_turn:text"];
    let says = [Advise::Pass, Advise::Tell, Advise::Block, Advise::Stop, Advise::Fail];
    Config::new("prompt-hooks", "hooks that look at prompts", &lines, bounds)
        .with(|settings| {
            settings.hooks = HookPoints { prompt: Listening::Hooked, ..HookPoints::default() };
        })
        .advices(&says)
}

fn context() -> Config {
    let bounds = Bounds { crashes: 1, cancels: 1, answers: 1, ..one_prompt() };
    let lines = ["end_turn:text", "tool_use:look pay", "tool_use:may_look"];
    Config::new("context", "hooks that have something to say to the model", &lines, bounds)
        .with(|settings| {
            settings.hooks = HookPoints {
                before_tool: Listening::Hooked,
                after_tool: Listening::Hooked,
                ..HookPoints::default()
            };
        })
        .says(&[Say::Pass, Say::Tell])
}
