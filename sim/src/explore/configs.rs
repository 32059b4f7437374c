//! The configurations: many small worlds, each about one subject, together about everything.

mod child_runs;
mod compaction;
mod limits;
mod permissions;
mod session_changes;

use windlass_core::permission::HumanAvailability;
use windlass_core::settings::conversation_settings::{
    DurabilityMode, HookPoints, HookPresence, Settings,
};

use super::bounds::RemainingChoices;
use super::choices::{HookChoice, ModelFaultChoice, ToolReturnChoice};
use super::config::ExplorerConfig;

/// Returns every configuration, the largest first.
pub(crate) fn all() -> Vec<ExplorerConfig> {
    let spine: [fn() -> ExplorerConfig; 22] = [
        answers,
        ladders,
        faults,
        reads,
        in_a_hurry,
        early,
        once_only,
        parallel_once,
        conflicts,
        verify,
        approval,
        two_answers,
        odd_calls,
        hooks,
        drift,
        queue,
        long_queue,
        budget,
        fork,
        strict,
        fatal,
        alone,
    ];
    let judgement =
        [permissions::ALL, session_changes::ALL, compaction::ALL, limits::ALL, child_runs::ALL];
    let judgement = judgement.into_iter().flatten();
    spine.iter().chain(judgement).map(|make| make()).collect()
}

/// Returns the configuration called `name`.
pub(crate) fn find_config(name: &str) -> Option<ExplorerConfig> {
    all().into_iter().find(|config| config.name == name)
}

/// Bounds of one prompt and nothing else.
fn one_prompt() -> RemainingChoices {
    RemainingChoices { prompts: 1, ..RemainingChoices::default() }
}

fn answers() -> ExplorerConfig {
    let lines = [
        "end_turn:text",
        "end_turn:",
        "end_turn:blank",
        "end_turn:thought text",
        "end_turn:thought",
        "stop_sequence:text #end",
        "stop_sequence:text #user",
        "stop_sequence:text #new",
        "stop_sequence:text #go",
        "pause_turn:text",
        "pause_turn:",
        "refusal:text",
        "invented:text",
        "invented:",
        "tool_use:text",
    ];
    let bounds = RemainingChoices { steers: 1, cancels: 1, crashes: 1, ..one_prompt() };
    ExplorerConfig::new(
        "answers",
        "replies without calls, whatever their stop reason",
        &lines,
        bounds,
    )
}

fn ladders() -> ExplorerConfig {
    let lines = [
        "end_turn:text",
        "max_tokens:text",
        "max_tokens:",
        "max_tokens:text cut",
        "max_tokens:cut",
        "model_context_window_exceeded:text",
        "model_context_window_exceeded:",
        "stop_sequence:text #user",
        "pause_turn:text",
        "tool_use:cut",
    ];
    let bounds = RemainingChoices { crashes: 1, cancels: 1, failures: 1, ..one_prompt() };
    ExplorerConfig::new("ladders", "replies cut again and again, windows that fill", &lines, bounds)
        .faults(&[ModelFaultChoice::TooLong])
        .with(|settings| settings.limits.model_calls = 5)
}

fn faults() -> ExplorerConfig {
    let bounds = RemainingChoices {
        failures: 3,
        crashes: 1,
        outages: 1,
        cancels: 1,
        aborts: 1,
        ..one_prompt()
    };
    let lines = ["end_turn:text", "tool_use:read"];
    ExplorerConfig::new("faults", "model calls that fail in every way", &lines, bounds).faults(&[
        ModelFaultChoice::Passing,
        ModelFaultChoice::PassingLater,
        ModelFaultChoice::Cut,
        ModelFaultChoice::TooLong,
        ModelFaultChoice::Lasting,
    ])
}

const BACKS: [ToolReturnChoice; 6] = [
    ToolReturnChoice::Done,
    ToolReturnChoice::Passing,
    ToolReturnChoice::Recoverable,
    ToolReturnChoice::Fatal,
    ToolReturnChoice::TimedOut,
    ToolReturnChoice::Interrupted,
];

fn reads() -> ExplorerConfig {
    let bounds = RemainingChoices { mishaps: 2, crashes: 1, cancels: 1, aborts: 1, ..one_prompt() };
    let lines =
        ["end_turn:text", "tool_use:read look", "tool_use:text read", "tool_use:read look look"];
    ExplorerConfig::new(
        "reads",
        "repeatable calls side by side, failing and retried",
        &lines,
        bounds,
    )
    .with_tool_returns(&BACKS)
}

fn in_a_hurry() -> ExplorerConfig {
    let bounds = RemainingChoices { mishaps: 4, crashes: 1, cancels: 1, lapses: 1, ..one_prompt() };
    let lines = ["end_turn:text", "tool_use:hurry", "tool_use:look"];
    ExplorerConfig::new("in-a-hurry", "retries that use up the time of a call", &lines, bounds)
        .with(|settings| settings.limits.tool_retry_ms = vec![10, 10, 10])
        .with_tool_returns(&[ToolReturnChoice::Done, ToolReturnChoice::Passing])
}

fn early() -> ExplorerConfig {
    let bounds = RemainingChoices {
        blocks: 4,
        failures: 1,
        crashes: 1,
        cancels: 1,
        aborts: 1,
        ..one_prompt()
    };
    let lines = [
        "end_turn:text",
        "tool_use:read look",
        "tool_use:put read",
        "tool_use:text pay look",
        "max_tokens:read cut",
        "tool_use:may_look look",
        "tool_use:read=x look=x",
        "refusal:read",
    ];
    ExplorerConfig::new("early", "calls that run while the reply streams", &lines, bounds)
        .faults(&[ModelFaultChoice::Cut, ModelFaultChoice::Passing])
}

fn once_only() -> ExplorerConfig {
    let bounds = RemainingChoices {
        crashes: 2,
        outages: 1,
        answers: 2,
        cancels: 1,
        aborts: 1,
        mishaps: 1,
        ..one_prompt()
    };
    let lines = ["end_turn:text", "tool_use:pay", "tool_use:send"];
    ExplorerConfig::new("once-only", "one call that must not happen twice", &lines, bounds)
        .with_tool_returns(&BACKS)
}

fn parallel_once() -> ExplorerConfig {
    let bounds = RemainingChoices { crashes: 2, answers: 2, cancels: 1, aborts: 1, ..one_prompt() };
    let lines = ["end_turn:text", "tool_use:pay send", "tool_use:send look pay"];
    ExplorerConfig::new("parallel-once", "two once-only calls side by side", &lines, bounds)
}

fn conflicts() -> ExplorerConfig {
    let bounds = RemainingChoices {
        crashes: 2,
        answers: 1,
        cancels: 1,
        aborts: 1,
        mishaps: 1,
        ..one_prompt()
    };
    let lines = [
        "end_turn:text",
        "tool_use:read put",
        "tool_use:put read",
        "tool_use:pay pay",
        "tool_use:shell look",
        "tool_use:look shell",
        "tool_use:read pay look",
    ];
    ExplorerConfig::new("conflicts", "calls that must keep their order", &lines, bounds)
        .with_tool_returns(&[
            ToolReturnChoice::Done,
            ToolReturnChoice::Passing,
            ToolReturnChoice::Recoverable,
        ])
}

fn verify() -> ExplorerConfig {
    let bounds = RemainingChoices {
        crashes: 2,
        outages: 1,
        answers: 1,
        cancels: 1,
        aborts: 1,
        ..one_prompt()
    };
    let lines = ["end_turn:text", "tool_use:book", "tool_use:pay book"];
    ExplorerConfig::new(
        "verify",
        "lost calls whose tool can tell what became of them",
        &lines,
        bounds,
    )
}

fn approval() -> ExplorerConfig {
    let bounds = RemainingChoices {
        crashes: 2,
        answers: 3,
        cancels: 1,
        aborts: 1,
        outages: 1,
        ..one_prompt()
    };
    let lines = [
        "end_turn:text",
        "tool_use:may_pay",
        "tool_use:may_look look",
        "tool_use:ask",
        "tool_use:ask may_pay",
        "tool_use:no read",
    ];
    ExplorerConfig::new("approval", "calls that need approval, and tools that ask", &lines, bounds)
}

fn two_answers() -> ExplorerConfig {
    let bounds = RemainingChoices { crashes: 1, answers: 3, cancels: 1, ..one_prompt() };
    let lines = ["end_turn:text", "tool_use:may_pay", "tool_use:ask send"];
    ExplorerConfig::new("two-answers", "answers that arrive together and differ", &lines, bounds)
        .boxed()
}

fn odd_calls() -> ExplorerConfig {
    let bounds = RemainingChoices { crashes: 1, cancels: 1, outages: 1, ..one_prompt() };
    let lines = [
        "end_turn:text",
        "tool_use:bad",
        "tool_use:read!",
        "tool_use:read=x look=x",
        "tool_use:pay=x pay=x read",
        "max_tokens:read cut",
        "max_tokens:read",
        "end_turn:pay",
        "refusal:pay",
        "invented:pay",
        "pause_turn:read",
        "stop_sequence:pay #end",
        "stop_sequence:pay #user",
        "model_context_window_exceeded:read",
        "tool_use:read read read read",
        "tool_use:thought read",
        "tool_use:blank read",
        "tool_use:no",
    ];
    ExplorerConfig::new(
        "odd-calls",
        "calls that make no sense, or come with odd reasons",
        &lines,
        bounds,
    )
}

fn hooked(settings: &mut Settings) {
    let both = HookPresence::Present;
    settings.hooks = HookPoints { before_tool: both, after_tool: both, ..HookPoints::default() };
}

fn hooks() -> ExplorerConfig {
    let bounds = RemainingChoices {
        crashes: 1,
        aborts: 1,
        mishaps: 1,
        answers: 1,
        blocks: 1,
        ..one_prompt()
    };
    let lines = ["end_turn:text", "tool_use:look pay", "tool_use:may_look"];
    ExplorerConfig::new("hooks", "hooks before and after every call", &lines, bounds)
        .with(hooked)
        .says(&[HookChoice::Pass, HookChoice::Deny, HookChoice::Change, HookChoice::Worsen])
        .with_tool_returns(&[ToolReturnChoice::Done, ToolReturnChoice::Fatal])
}

fn drift() -> ExplorerConfig {
    let bounds = RemainingChoices {
        crashes: 2,
        drifts: 2,
        answers: 2,
        cancels: 1,
        failures: 1,
        ..one_prompt()
    };
    let lines = ["end_turn:text", "tool_use:pay", "tool_use:book put", "tool_use:may_pay"];
    ExplorerConfig::new("drift", "owners with another system prompt", &lines, bounds)
        .faults(&[ModelFaultChoice::Passing])
}

fn queue() -> ExplorerConfig {
    let bounds = RemainingChoices {
        prompts: 2,
        steers: 1,
        cancels: 1,
        crashes: 1,
        outages: 1,
        ..one_prompt()
    };
    let lines = ["end_turn:text", "tool_use:read"];
    ExplorerConfig::new(
        "queue",
        "messages that wait in the inbox while the owner dies",
        &lines,
        bounds,
    )
    .with(|settings| settings.limits.model_calls = 2)
    .boxed()
}

fn long_queue() -> ExplorerConfig {
    let bounds =
        RemainingChoices { prompts: 4, cancels: 2, crashes: 1, ..RemainingChoices::default() };
    let lines = ["end_turn:text", "tool_use:read"];
    ExplorerConfig::new(
        "long-queue",
        "prompts behind prompts, some of them cancelled",
        &lines,
        bounds,
    )
    .with(|settings| settings.limits.queued_prompts = 3)
}

fn budget() -> ExplorerConfig {
    let bounds =
        RemainingChoices { prompts: 2, crashes: 1, failures: 2, cancels: 1, ..one_prompt() };
    let lines = ["end_turn:text", "tool_use:read", "max_tokens:text", "pause_turn:text"];
    ExplorerConfig::new("budget", "a token cap and replies that cost all they may", &lines, bounds)
        .with(|settings| settings.limits.run_tokens = Some(70))
        .faults(&[ModelFaultChoice::Cut, ModelFaultChoice::Passing])
        .fully_billed()
}

fn fork() -> ExplorerConfig {
    let bounds = RemainingChoices {
        prompts: 2,
        forks: 1,
        offers: 1,
        crashes: 1,
        cancels: 1,
        failures: 1,
        ..one_prompt()
    };
    let lines = ["end_turn:text", "tool_use:read", "tool_use:pay"];
    ExplorerConfig::new(
        "fork",
        "copies of the lane, and settings that change between runs",
        &lines,
        bounds,
    )
    .faults(&[ModelFaultChoice::Passing])
}

fn strict() -> ExplorerConfig {
    let bounds = RemainingChoices {
        prompts: 2,
        children: 1,
        crashes: 1,
        outages: 2,
        answers: 1,
        cancels: 1,
        ..one_prompt()
    };
    let lines = ["end_turn:text", "tool_use:read pay", "tool_use:book"];
    ExplorerConfig::new("strict", "every commit waits for the disk", &lines, bounds)
        .with(|settings| settings.durability = DurabilityMode::Strict)
}

fn fatal() -> ExplorerConfig {
    let bounds = RemainingChoices {
        mishaps: 2,
        crashes: 1,
        cancels: 1,
        aborts: 1,
        answers: 2,
        ..one_prompt()
    };
    let lines =
        ["end_turn:text", "tool_use:read pay look", "tool_use:may_pay read", "tool_use:pay book"];
    ExplorerConfig::new(
        "fatal",
        "errors that end the run while other calls are in flight",
        &lines,
        bounds,
    )
    .with_tool_returns(&[
        ToolReturnChoice::Done,
        ToolReturnChoice::Fatal,
        ToolReturnChoice::Passing,
    ])
}

fn alone() -> ExplorerConfig {
    let bounds = RemainingChoices { crashes: 1, cancels: 1, answers: 1, ..one_prompt() };
    let lines = ["end_turn:text", "tool_use:may_pay read", "tool_use:ask", "tool_use:pay"];
    ExplorerConfig::new("alone", "no human is available to approve", &lines, bounds)
        .with(|settings| settings.rules.human = HumanAvailability::Absent)
}
