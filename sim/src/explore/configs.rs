//! The configurations: many small worlds, each about one thing, together about everything.

mod company;
mod limits;
mod room;
mod rules;

use windlass_core::permission::Human;
use windlass_core::settings::{DurabilityMode, HookPoints, Listening, Settings};

use super::bounds::Bounds;
use super::config::Config;
use super::menu::{Back, Fault, Say};

/// Every configuration, the largest first.
pub(crate) fn all() -> Vec<Config> {
    let spine: [fn() -> Config; 22] = [
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
    let judgement = [rules::ALL, room::ALL, limits::ALL, company::ALL].into_iter().flatten();
    spine.iter().chain(judgement).map(|make| make()).collect()
}

/// The configuration called `name`.
pub(crate) fn named(name: &str) -> Option<Config> {
    all().into_iter().find(|config| config.name == name)
}

/// One prompt, nothing else.
fn one_prompt() -> Bounds {
    Bounds { prompts: 1, ..Bounds::default() }
}

fn answers() -> Config {
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
    let bounds = Bounds { steers: 1, cancels: 1, crashes: 1, ..one_prompt() };
    Config::new("answers", "replies without calls, whatever their stop reason", &lines, bounds)
}

fn ladders() -> Config {
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
    let bounds = Bounds { crashes: 1, cancels: 1, failures: 1, ..one_prompt() };
    Config::new("ladders", "replies cut again and again, windows that fill", &lines, bounds)
        .faults(&[Fault::TooLong])
        .with(|settings| settings.limits.model_calls = 5)
}

fn faults() -> Config {
    let bounds =
        Bounds { failures: 3, crashes: 1, outages: 1, cancels: 1, aborts: 1, ..one_prompt() };
    let lines = ["end_turn:text", "tool_use:read"];
    Config::new("faults", "model calls that fail in every way", &lines, bounds).faults(&[
        Fault::Passing,
        Fault::PassingLater,
        Fault::Cut,
        Fault::TooLong,
        Fault::Lasting,
    ])
}

const BACKS: [Back; 6] =
    [Back::Done, Back::Passing, Back::Recoverable, Back::Fatal, Back::TimedOut, Back::Interrupted];

fn reads() -> Config {
    let bounds = Bounds { mishaps: 2, crashes: 1, cancels: 1, aborts: 1, ..one_prompt() };
    let lines =
        ["end_turn:text", "tool_use:read look", "tool_use:text read", "tool_use:read look look"];
    Config::new("reads", "repeatable calls side by side, failing and retried", &lines, bounds)
        .backs(&BACKS)
}

fn in_a_hurry() -> Config {
    let bounds = Bounds { mishaps: 4, crashes: 1, cancels: 1, lapses: 1, ..one_prompt() };
    let lines = ["end_turn:text", "tool_use:hurry", "tool_use:look"];
    Config::new("in-a-hurry", "repeats that use up the time of a call", &lines, bounds)
        .with(|settings| settings.limits.tool_retry_ms = vec![10, 10, 10])
        .backs(&[Back::Done, Back::Passing])
}

fn early() -> Config {
    let bounds =
        Bounds { blocks: 4, failures: 1, crashes: 1, cancels: 1, aborts: 1, ..one_prompt() };
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
    Config::new("early", "calls that run while the reply streams", &lines, bounds)
        .faults(&[Fault::Cut, Fault::Passing])
}

fn once_only() -> Config {
    let bounds = Bounds {
        crashes: 2,
        outages: 1,
        answers: 2,
        cancels: 1,
        aborts: 1,
        mishaps: 1,
        ..one_prompt()
    };
    let lines = ["end_turn:text", "tool_use:pay", "tool_use:send"];
    Config::new("once-only", "one call that must not happen twice", &lines, bounds).backs(&BACKS)
}

fn parallel_once() -> Config {
    let bounds = Bounds { crashes: 2, answers: 2, cancels: 1, aborts: 1, ..one_prompt() };
    let lines = ["end_turn:text", "tool_use:pay send", "tool_use:send look pay"];
    Config::new("parallel-once", "two once-only calls side by side", &lines, bounds)
}

fn conflicts() -> Config {
    let bounds =
        Bounds { crashes: 2, answers: 1, cancels: 1, aborts: 1, mishaps: 1, ..one_prompt() };
    let lines = [
        "end_turn:text",
        "tool_use:read put",
        "tool_use:put read",
        "tool_use:pay pay",
        "tool_use:shell look",
        "tool_use:look shell",
        "tool_use:read pay look",
    ];
    Config::new("conflicts", "calls that must keep their order", &lines, bounds).backs(&[
        Back::Done,
        Back::Passing,
        Back::Recoverable,
    ])
}

fn verify() -> Config {
    let bounds =
        Bounds { crashes: 2, outages: 1, answers: 1, cancels: 1, aborts: 1, ..one_prompt() };
    let lines = ["end_turn:text", "tool_use:book", "tool_use:pay book"];
    Config::new("verify", "lost calls whose tool can tell what became of them", &lines, bounds)
}

fn approval() -> Config {
    let bounds =
        Bounds { crashes: 2, answers: 3, cancels: 1, aborts: 1, outages: 1, ..one_prompt() };
    let lines = [
        "end_turn:text",
        "tool_use:may_pay",
        "tool_use:may_look look",
        "tool_use:ask",
        "tool_use:ask may_pay",
        "tool_use:no read",
    ];
    Config::new("approval", "calls that need leave, and tools that ask", &lines, bounds)
}

fn two_answers() -> Config {
    let bounds = Bounds { crashes: 1, answers: 3, cancels: 1, ..one_prompt() };
    let lines = ["end_turn:text", "tool_use:may_pay", "tool_use:ask send"];
    Config::new("two-answers", "answers that arrive together and differ", &lines, bounds).boxed()
}

fn odd_calls() -> Config {
    let bounds = Bounds { crashes: 1, cancels: 1, outages: 1, ..one_prompt() };
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
    Config::new("odd-calls", "calls that make no sense, or come with odd reasons", &lines, bounds)
}

fn hooked(settings: &mut Settings) {
    let both = Listening::Hooked;
    settings.hooks = HookPoints { before_tool: both, after_tool: both, ..HookPoints::default() };
}

fn hooks() -> Config {
    let bounds =
        Bounds { crashes: 1, aborts: 1, mishaps: 1, answers: 1, blocks: 1, ..one_prompt() };
    let lines = ["end_turn:text", "tool_use:look pay", "tool_use:may_look"];
    Config::new("hooks", "hooks before and after every call", &lines, bounds)
        .with(hooked)
        .says(&[Say::Pass, Say::Deny, Say::Change, Say::Worsen])
        .backs(&[Back::Done, Back::Fatal])
}

fn drift() -> Config {
    let bounds =
        Bounds { crashes: 2, drifts: 2, answers: 2, cancels: 1, failures: 1, ..one_prompt() };
    let lines = ["end_turn:text", "tool_use:pay", "tool_use:book put", "tool_use:may_pay"];
    Config::new("drift", "owners that come with another prompt", &lines, bounds)
        .faults(&[Fault::Passing])
}

fn queue() -> Config {
    let bounds =
        Bounds { prompts: 2, steers: 1, cancels: 1, crashes: 1, outages: 1, ..one_prompt() };
    let lines = ["end_turn:text", "tool_use:read"];
    Config::new("queue", "mail that waits in the box while the owner dies", &lines, bounds)
        .with(|settings| settings.limits.model_calls = 2)
        .boxed()
}

fn long_queue() -> Config {
    let bounds = Bounds { prompts: 4, cancels: 2, crashes: 1, ..Bounds::default() };
    let lines = ["end_turn:text", "tool_use:read"];
    Config::new("long-queue", "prompts behind prompts, some of them cancelled", &lines, bounds)
        .with(|settings| settings.limits.queued_prompts = 3)
}

fn budget() -> Config {
    let bounds = Bounds { prompts: 2, crashes: 1, failures: 2, cancels: 1, ..one_prompt() };
    let lines = ["end_turn:text", "tool_use:read", "max_tokens:text", "pause_turn:text"];
    Config::new("budget", "a token cap and replies that cost all they may", &lines, bounds)
        .with(|settings| settings.limits.run_tokens = Some(70))
        .faults(&[Fault::Cut, Fault::Passing])
        .fully_billed()
}

fn fork() -> Config {
    let bounds = Bounds {
        prompts: 2,
        forks: 1,
        offers: 1,
        crashes: 1,
        cancels: 1,
        failures: 1,
        ..one_prompt()
    };
    let lines = ["end_turn:text", "tool_use:read", "tool_use:pay"];
    Config::new("fork", "copies of the lane, and settings that change between runs", &lines, bounds)
        .faults(&[Fault::Passing])
}

fn strict() -> Config {
    let bounds = Bounds {
        prompts: 2,
        children: 1,
        crashes: 1,
        outages: 2,
        answers: 1,
        cancels: 1,
        ..one_prompt()
    };
    let lines = ["end_turn:text", "tool_use:read pay", "tool_use:book"];
    Config::new("strict", "every commit waits for the disk", &lines, bounds)
        .with(|settings| settings.durability = DurabilityMode::Strict)
}

fn fatal() -> Config {
    let bounds =
        Bounds { mishaps: 2, crashes: 1, cancels: 1, aborts: 1, answers: 2, ..one_prompt() };
    let lines =
        ["end_turn:text", "tool_use:read pay look", "tool_use:may_pay read", "tool_use:pay book"];
    Config::new("fatal", "errors that end the run while other calls fly", &lines, bounds).backs(&[
        Back::Done,
        Back::Fatal,
        Back::Passing,
    ])
}

fn alone() -> Config {
    let bounds = Bounds { crashes: 1, cancels: 1, answers: 1, ..one_prompt() };
    let lines = ["end_turn:text", "tool_use:may_pay read", "tool_use:ask", "tool_use:pay"];
    Config::new("alone", "nobody is there to give leave", &lines, bounds)
        .with(|settings| settings.rules.human = Human::Absent)
}
