//! Circles, gates, times and budgets.

use windlass_core::budget::{AtCap, Budget, Caps, Price};
use windlass_core::gate::{Need, Output};
use windlass_core::limits::Times;
use windlass_core::settings::{HookPoints, Listening, Model, Settings, ToolSpec};
use windlass_core::window::Summariser;

use super::one_prompt;
use crate::explore::advice::Advise;
use crate::explore::bounds::Bounds;
use crate::explore::config::Config;
use crate::explore::menu::{Back, Fault};

pub(super) const ALL: &[fn() -> Config] = &[
    circles,
    made_to_ask,
    gate,
    judge,
    judge_unpaid,
    structured,
    times,
    patience,
    counsels_in_time,
    money,
    allowance,
    unpriced,
    fallback,
    provider_wait,
];

fn circles() -> Config {
    let bounds = Bounds { answers: 2, crashes: 1, cancels: 1, drifts: 1, ..one_prompt() };
    let lines = ["end_turn:text", "tool_use:look look look", "tool_use:book"];
    Config::new("circles", "the same call again and again, up to the human", &lines, bounds).with(
        |settings| {
            settings.limits.parallel_calls = 1;
            settings.limits.tool_rounds = 5;
            settings.limits.model_calls = 7;
            settings.guards.lookup_tool = Some("read".into());
        },
    )
}

fn made_to_ask() -> Config {
    let bounds = Bounds { answers: 1, crashes: 1, steers: 1, ..one_prompt() };
    let lines = ["end_turn:text", "tool_use:look look look", "tool_use:ask"];
    Config::new("made-to-ask", "a model that must ask a person, and may not", &lines, bounds).with(
        |settings| {
            settings.limits.parallel_calls = 1;
            settings.limits.early_calls = 0;
            settings.limits.tool_rounds = 5;
            settings.limits.model_calls = 6;
            let offered = settings.tools.first().cloned();
            settings.tools.extend(offered.map(|tool| ToolSpec { name: "ask".into(), ..tool }));
            settings.guards.ask_tool = "ask".into();
        },
    )
}

fn answer_hook(settings: &mut Settings) {
    settings.hooks = HookPoints { answer: Listening::Hooked, ..HookPoints::default() };
}

fn gate() -> Config {
    let bounds = Bounds { steers: 1, crashes: 1, cancels: 1, answers: 1, ..one_prompt() };
    let lines = ["end_turn:text", "tool_use:pay"];
    Config::new("gate", "answers that do not count yet", &lines, bounds)
        .with(|settings| {
            settings.limits.model_calls = 4;
            settings.limits.rejections = 1;
            settings.gate.checklist = vec![Need { tool: "pay".into(), at_least: 1 }];
            answer_hook(settings);
        })
        .advices(&[Advise::Pass, Advise::Block, Advise::Fail])
        .backs(&[Back::Done, Back::Recoverable])
}

const RULINGS: [Advise; 6] =
    [Advise::Pass, Advise::Stop, Advise::Yes, Advise::No, Advise::Blank, Advise::Fail];

fn judge() -> Config {
    let bounds = Bounds { steers: 1, crashes: 1, lapses: 1, ..one_prompt() };
    Config::new("judge", "answers that a judge looks at", &["end_turn:text"], bounds)
        .with(|settings| {
            settings.limits.rejections = 1;
            settings.times = Some(TIMES);
            settings.gate.judge = Some("j".into());
            answer_hook(settings);
        })
        .advices(&RULINGS)
}

/// One ruling can be paid for, and not two.
fn judge_unpaid() -> Config {
    let bounds = Bounds { crashes: 2, outages: 1, cancels: 1, drifts: 1, ..one_prompt() };
    Config::new("judge-unpaid", "a judge there is no money for", &["end_turn:text"], bounds)
        .with(|settings| {
            settings.limits.rejections = 2;
            settings.limits.run_tokens = Some(20_000);
            settings.gate.judge = Some("j".into());
        })
        .advices(&RULINGS)
        .fully_billed()
}

fn structured() -> Config {
    let bounds = Bounds { answers: 1, crashes: 1, drifts: 1, mishaps: 1, ..one_prompt() };
    let lines = ["end_turn:text", "tool_use:give", "tool_use:give!", "tool_use:pay give"];
    Config::new("structured", "answers that must fit a schema", &lines, bounds)
        .with(|settings| {
            settings.output = Some(Output { tool: "give".into() });
            settings.limits.output_retries = 1;
            settings.limits.rejections = 1;
            settings.limits.tool_rounds = 2;
            settings.limits.model_calls = 4;
            answer_hook(settings);
        })
        .advices(&[Advise::Pass, Advise::Block])
        .backs(&[Back::Done, Back::Fatal])
}

pub(super) const TIMES: Times = Times { soft_ms: 100, hard_ms: 200, grace_ms: 30 };

fn times() -> Config {
    let bounds = Bounds { lapses: 1, crashes: 1, failures: 1, ..one_prompt() };
    let lines = [
        "end_turn:text",
        "end_turn:",
        "tool_use:send",
        "tool_use:pay look",
        "max_tokens:text",
        "pause_turn:text",
        "stop_sequence:text #user",
    ];
    Config::new("times", "a soft time, a grace, a hard time", &lines, bounds)
        .with(|settings| settings.times = Some(TIMES))
        .faults(&[Fault::Passing, Fault::TooLong])
}

fn patience() -> Config {
    let bounds = Bounds { lapses: 1, answers: 1, aborts: 1, crashes: 1, ..one_prompt() };
    let lines = ["end_turn:text", "tool_use:may_pay read", "tool_use:hire send", "tool_use:book"];
    let about = "time that does not pass while people and children are waited for";
    Config::new("patience", about, &lines, bounds).with(|settings| settings.times = Some(TIMES))
}

fn counsels_in_time() -> Config {
    let bounds = Bounds { lapses: 1, compactions: 1, crashes: 1, ..one_prompt() };
    let lines = ["end_turn:text", "tool_use:read"];
    let says = [Advise::Pass, Advise::Block, Advise::Summary, Advise::Fail];
    let about = "hooks and summaries that take all the time there is";
    Config::new("slow-counsel", about, &lines, bounds)
        .with(|settings| {
            settings.times = Some(TIMES);
            settings.window.summariser = Summariser::Own;
            settings.hooks = HookPoints {
                answer: Listening::Hooked,
                compaction: Listening::Hooked,
                ..HookPoints::default()
            };
        })
        .advices(&says)
}

/// A micro-dollar for a token that goes in, two for one that comes out.
const PRICE: Price = Price {
    input_usd_micros: 1_000_000,
    output_usd_micros: 2_000_000,
    cache_read_usd_micros: 0,
    cache_write_usd_micros: 0,
    above: None,
};

fn money() -> Config {
    let bounds = Bounds { prompts: 2, answers: 2, crashes: 1, failures: 1, ..one_prompt() };
    let lines = ["end_turn:text", "tool_use:read", "max_tokens:text", "pause_turn:text"];
    Config::new("money", "a cap in dollars, and a human who is asked for more", &lines, bounds)
        .with(|settings| {
            settings.model.price = Some(PRICE);
            settings.limits.tool_rounds = 2;
            settings.limits.model_calls = 5;
            settings.budget = Budget {
                run: Caps { tokens: None, usd_micros: Some(75) },
                conversation: Caps { tokens: None, usd_micros: Some(260) },
                at_cap: AtCap::Ask,
                ..Budget::default()
            };
        })
        .faults(&[Fault::Cut])
        .fully_billed()
}

fn allowance() -> Config {
    let bounds = Bounds { prompts: 2, crashes: 1, failures: 1, cancels: 1, ..one_prompt() };
    let lines = ["end_turn:text", "tool_use:read", "max_tokens:text", "tool_use:read look"];
    Config::new(
        "allowance",
        "caps of one call, of the conversation, of all of them",
        &lines,
        bounds,
    )
    .with(|settings| {
        settings.limits.tool_rounds = 2;
        settings.limits.model_calls = 4;
        settings.budget.call.tokens = Some(60);
        settings.budget.conversation.tokens = Some(150);
        settings.budget.profile.caps.tokens = Some(1_000);
        settings.budget.profile.spent.tokens = 870;
    })
    .faults(&[Fault::Cut])
    .fully_billed()
}

fn unpriced() -> Config {
    let bounds = Bounds { prompts: 2, crashes: 1, cancels: 1, ..one_prompt() };
    Config::new("unpriced", "a cap in dollars and no price", &["end_turn:text"], bounds)
        .with(|settings| settings.budget.run.usd_micros = Some(100))
}

fn fallback() -> Config {
    // Two failures of each model, in both ways, are all that it takes.
    let bounds = Bounds { failures: 4, ..one_prompt() };
    let lines = ["end_turn:text", "tool_use:thought read", "max_tokens:text"];
    Config::new("fallback", "a provider that stays down, and another model", &lines, bounds)
        .with(|settings| {
            settings.fallback =
                Some(Model { max_tokens: 8, most_output_tokens: 16, ..Model::named("f") });
            settings.limits.provider_wait_ms = 30;
            settings.limits.model_calls = 7;
        })
        .faults(&[Fault::Passing, Fault::Cut])
}

fn provider_wait() -> Config {
    let bounds = Bounds { failures: 4, crashes: 1, cancels: 1, ..one_prompt() };
    let lines = ["end_turn:text", "tool_use:read"];
    Config::new("provider-wait", "a provider that is waited for, and not for ever", &lines, bounds)
        .with(|settings| {
            settings.limits.provider_wait_ms = 15;
            settings.limits.model_calls = 6;
        })
        .faults(&[Fault::Passing, Fault::PassingLater])
}
