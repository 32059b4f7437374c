//! Configurations about loop detection, gates, time limits and budgets.

use windlass_core::budget::spending::{Budget, CapAction, ModelPrice, SpendingCaps};
use windlass_core::context::Summariser;
use windlass_core::guard::completion_gate::{ChecklistItem, StructuredOutputTool};
use windlass_core::settings::conversation_settings::{
    HookPoints, HookPresence, ModelSpec, Settings, ToolSpec,
};
use windlass_core::settings::limits::RunTimeLimits;

use super::one_prompt;
use crate::explore::bounds::RemainingChoices;
use crate::explore::choices::{ModelFaultChoice, ToolReturnChoice};
use crate::explore::config::ExplorerConfig;
use crate::explore::review_choices::ReviewChoice;

pub(super) const ALL: &[fn() -> ExplorerConfig] = &[
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

fn circles() -> ExplorerConfig {
    let bounds = RemainingChoices { answers: 2, crashes: 1, cancels: 1, drifts: 1, ..one_prompt() };
    let lines = ["end_turn:text", "tool_use:look look look", "tool_use:book"];
    ExplorerConfig::new("circles", "the same call again and again, up to the human", &lines, bounds)
        .with(|settings| {
            settings.limits.parallel_calls = 1;
            settings.limits.tool_rounds = 5;
            settings.limits.model_calls = 7;
            settings.guards.lookup_tool = Some("read".into());
        })
}

fn made_to_ask() -> ExplorerConfig {
    let bounds = RemainingChoices { answers: 1, crashes: 1, steers: 1, ..one_prompt() };
    let lines = ["end_turn:text", "tool_use:look look look", "tool_use:ask"];
    ExplorerConfig::new(
        "made-to-ask",
        "a model that must ask a person, and may not",
        &lines,
        bounds,
    )
    .with(|settings| {
        settings.limits.parallel_calls = 1;
        settings.limits.early_calls = 0;
        settings.limits.tool_rounds = 5;
        settings.limits.model_calls = 6;
        let offered = settings.tools.first().cloned();
        settings.tools.extend(offered.map(|tool| ToolSpec { name: "ask".into(), ..tool }));
        settings.guards.ask_tool = "ask".into();
    })
}

fn answer_hook(settings: &mut Settings) {
    settings.hooks = HookPoints { answer: HookPresence::Present, ..HookPoints::default() };
}

fn gate() -> ExplorerConfig {
    let bounds = RemainingChoices { steers: 1, crashes: 1, cancels: 1, answers: 1, ..one_prompt() };
    let lines = ["end_turn:text", "tool_use:pay"];
    ExplorerConfig::new("gate", "answers that the completion gate rejects", &lines, bounds)
        .with(|settings| {
            settings.limits.model_calls = 4;
            settings.limits.rejections = 1;
            settings.gate.checklist = vec![ChecklistItem { tool: "pay".into(), at_least: 1 }];
            answer_hook(settings);
        })
        .with_reviews(&[ReviewChoice::Pass, ReviewChoice::Block, ReviewChoice::Fail])
        .with_tool_returns(&[ToolReturnChoice::Done, ToolReturnChoice::Recoverable])
}

const RULINGS: [ReviewChoice; 6] = [
    ReviewChoice::Pass,
    ReviewChoice::Stop,
    ReviewChoice::Yes,
    ReviewChoice::No,
    ReviewChoice::BlankSummary,
    ReviewChoice::Fail,
];

fn judge() -> ExplorerConfig {
    let bounds = RemainingChoices { steers: 1, crashes: 1, lapses: 1, ..one_prompt() };
    ExplorerConfig::new("judge", "answers that a judge reviews", &["end_turn:text"], bounds)
        .with(|settings| {
            settings.limits.rejections = 1;
            settings.times = Some(TIMES);
            settings.gate.judge = Some("j".into());
            answer_hook(settings);
        })
        .with_reviews(&RULINGS)
}

/// The budget covers one ruling of the judge, and not two.
fn judge_unpaid() -> ExplorerConfig {
    let bounds = RemainingChoices { crashes: 2, outages: 1, cancels: 1, drifts: 1, ..one_prompt() };
    ExplorerConfig::new(
        "judge-unpaid",
        "a judge that the budget does not cover",
        &["end_turn:text"],
        bounds,
    )
    .with(|settings| {
        settings.limits.rejections = 2;
        settings.limits.run_tokens = Some(20_000);
        settings.gate.judge = Some("j".into());
    })
    .with_reviews(&RULINGS)
    .fully_billed()
}

fn structured() -> ExplorerConfig {
    let bounds = RemainingChoices { answers: 1, crashes: 1, drifts: 1, mishaps: 1, ..one_prompt() };
    let lines = ["end_turn:text", "tool_use:give", "tool_use:give!", "tool_use:pay give"];
    ExplorerConfig::new("structured", "answers that must fit a schema", &lines, bounds)
        .with(|settings| {
            settings.output = Some(StructuredOutputTool { tool: "give".into() });
            settings.limits.output_retries = 1;
            settings.limits.rejections = 1;
            settings.limits.tool_rounds = 2;
            settings.limits.model_calls = 4;
            answer_hook(settings);
        })
        .with_reviews(&[ReviewChoice::Pass, ReviewChoice::Block])
        .with_tool_returns(&[ToolReturnChoice::Done, ToolReturnChoice::Fatal])
}

pub(super) const TIMES: RunTimeLimits = RunTimeLimits { soft_ms: 100, hard_ms: 200, grace_ms: 30 };

fn times() -> ExplorerConfig {
    let bounds = RemainingChoices { lapses: 1, crashes: 1, failures: 1, ..one_prompt() };
    let lines = [
        "end_turn:text",
        "end_turn:",
        "tool_use:send",
        "tool_use:pay look",
        "max_tokens:text",
        "pause_turn:text",
        "stop_sequence:text #user",
    ];
    ExplorerConfig::new("times", "soft time limit, grace period, hard time limit", &lines, bounds)
        .with(|settings| settings.times = Some(TIMES))
        .faults(&[ModelFaultChoice::Passing, ModelFaultChoice::TooLong])
}

fn patience() -> ExplorerConfig {
    let bounds = RemainingChoices { lapses: 1, answers: 1, aborts: 1, crashes: 1, ..one_prompt() };
    let lines = ["end_turn:text", "tool_use:may_pay read", "tool_use:hire send", "tool_use:book"];
    let about = "time that does not pass while people and children are waited for";
    ExplorerConfig::new("patience", about, &lines, bounds)
        .with(|settings| settings.times = Some(TIMES))
}

fn counsels_in_time() -> ExplorerConfig {
    let bounds = RemainingChoices { lapses: 1, compactions: 1, crashes: 1, ..one_prompt() };
    let lines = ["end_turn:text", "tool_use:read"];
    let says = [ReviewChoice::Pass, ReviewChoice::Block, ReviewChoice::Summary, ReviewChoice::Fail];
    let about = "hooks and summaries that take all the time there is";
    ExplorerConfig::new("slow-counsel", about, &lines, bounds)
        .with(|settings| {
            settings.times = Some(TIMES);
            settings.window.summariser = Summariser::OwnModel;
            settings.hooks = HookPoints {
                answer: HookPresence::Present,
                compaction: HookPresence::Present,
                ..HookPoints::default()
            };
        })
        .with_reviews(&says)
}

/// One micro-dollar per input token, two per output token.
const PRICE: ModelPrice = ModelPrice {
    input_usd_micros: 1_000_000,
    output_usd_micros: 2_000_000,
    cache_read_usd_micros: 0,
    cache_write_usd_micros: 0,
    above: None,
};

fn money() -> ExplorerConfig {
    let bounds =
        RemainingChoices { prompts: 2, answers: 2, crashes: 1, failures: 1, ..one_prompt() };
    let lines = ["end_turn:text", "tool_use:read", "max_tokens:text", "pause_turn:text"];
    ExplorerConfig::new(
        "money",
        "a cap in dollars, and a human who is asked for more",
        &lines,
        bounds,
    )
    .with(|settings| {
        settings.model.price = Some(PRICE);
        settings.limits.tool_rounds = 2;
        settings.limits.model_calls = 5;
        settings.budget = Budget {
            run: SpendingCaps { tokens: None, usd_micros: Some(75) },
            conversation: SpendingCaps { tokens: None, usd_micros: Some(260) },
            at_cap: CapAction::Ask,
            ..Budget::default()
        };
    })
    .faults(&[ModelFaultChoice::Cut])
    .fully_billed()
}

fn allowance() -> ExplorerConfig {
    let bounds =
        RemainingChoices { prompts: 2, crashes: 1, failures: 1, cancels: 1, ..one_prompt() };
    let lines = ["end_turn:text", "tool_use:read", "max_tokens:text", "tool_use:read look"];
    ExplorerConfig::new(
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
    .faults(&[ModelFaultChoice::Cut])
    .fully_billed()
}

fn unpriced() -> ExplorerConfig {
    let bounds = RemainingChoices { prompts: 2, crashes: 1, cancels: 1, ..one_prompt() };
    ExplorerConfig::new("unpriced", "a cap in dollars and no price", &["end_turn:text"], bounds)
        .with(|settings| settings.budget.run.usd_micros = Some(100))
}

fn fallback() -> ExplorerConfig {
    // Two failures of each model, in both ways, are enough.
    let bounds = RemainingChoices { failures: 4, ..one_prompt() };
    let lines = ["end_turn:text", "tool_use:thought read", "max_tokens:text"];
    ExplorerConfig::new("fallback", "a provider that stays down, and another model", &lines, bounds)
        .with(|settings| {
            settings.fallback = Some(ModelSpec {
                max_tokens: 8,
                max_output_tokens: 16,
                ..ModelSpec::with_defaults("f")
            });
            settings.limits.provider_wait_ms = 30;
            settings.limits.model_calls = 7;
        })
        .faults(&[ModelFaultChoice::Passing, ModelFaultChoice::Cut])
}

fn provider_wait() -> ExplorerConfig {
    let bounds = RemainingChoices { failures: 4, crashes: 1, cancels: 1, ..one_prompt() };
    let lines = ["end_turn:text", "tool_use:read"];
    ExplorerConfig::new(
        "provider-wait",
        "a provider that is waited for, and not for ever",
        &lines,
        bounds,
    )
    .with(|settings| {
        settings.limits.provider_wait_ms = 15;
        settings.limits.model_calls = 6;
    })
    .faults(&[ModelFaultChoice::Passing, ModelFaultChoice::PassingLater])
}
