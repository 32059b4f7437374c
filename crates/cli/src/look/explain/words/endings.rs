//! Why it stopped, what it waits for, and what to do next.

use windlass::StopCause;
use windlass::core::call::Call;
use windlass::core::conversation::{Conversation, Ended};
use windlass::core::ids::{AskId, LaneId, Millis};
use windlass::core::question::Question;
use windlass::core::record::Stop;

use crate::look::paper::one_line;
use crate::look::time::stamp;
use crate::look::words::{go_on, how_to_answer, question, tool_use, why, why_with};
use crate::words::shell_word;

/// Between two steps.
pub(in crate::look::explain) const BETWEEN: &str = "It is between two steps.";

/// Characters of the last words.
const LAST_WORDS: usize = 300;

pub(in crate::look::explain) fn ended(cause: StopCause, limit: Option<String>) -> String {
    format!("It ended ({}): {}.", cause.name(), why_with(cause, limit.as_deref()))
}

pub(in crate::look::explain) fn also(cause: StopCause) -> String {
    format!("At the same moment this would have ended it too ({}): {}.", cause.name(), why(cause))
}

pub(in crate::look::explain) fn suspect(why: &str) -> String {
    format!("The answer counts, but it is doubtful: {}", one_line(why, LAST_WORDS))
}

/// What was said at the end where the cause alone says too little.
pub(in crate::look::explain) fn told_at_end(
    ended: &Ended,
    before: &Conversation,
) -> Option<String> {
    let says = matches!(
        ended.cause,
        StopCause::ProviderFailed | StopCause::ToolFatal | StopCause::HookStopped
    );
    let text = one_line(&ended.text, LAST_WORDS);
    if says && !text.is_empty() {
        return Some(format!("The last words: {text}"));
    }
    let unknown = before.last_reply.as_ref().filter(|_| ended.cause == StopCause::Unexpected);
    unknown.map(|last| {
        let reason = one_line(last.reply.stop_reason.as_str(), 60);
        format!("The model's stop reason was `{reason}`.")
    })
}

/// What to do next.
pub(in crate::look::explain) fn next_step(cause: StopCause, lane: &LaneId) -> String {
    let word = shell_word(lane);
    let go_on = go_on(lane);
    // A run that a limit or a fault stopped goes on as it was; others need something new to do.
    let resume = format!("windlass resume {word}");
    match cause {
        StopCause::EndTurn | StopCause::StopSequence => {
            format!("Nothing is left to do; to continue: `{go_on}`.")
        }
        StopCause::SoftTime => format!("What it has is the result; to continue: `{go_on}`."),
        StopCause::Refusal => format!("Say it in other words: `{go_on}`."),
        StopCause::Unexpected => {
            format!("Look at the reply with `windlass show {word}`; a newer version may know it.")
        }
        StopCause::ToolFatal => {
            format!("Fix what the tool reports, then `{go_on}`.")
        }
        StopCause::UserCancel => format!("To continue: `{go_on}`."),
        StopCause::BudgetUsd | StopCause::BudgetTokens => {
            format!("Raise the budget and `{resume}`, or split the task.")
        }
        StopCause::PriceUnknown => format!(
            "Give the model's price in [models.NAME] of config.toml, or use a budget in tokens \
             (--max-budget-tokens); then `{resume}`."
        ),
        StopCause::HardTime => format!("Raise the time limit, or split the task; then `{go_on}`."),
        StopCause::MaxToolRounds | StopCause::MaxModelCalls => format!(
            "See in the iterations whether it makes progress: if it does, `{resume} {more}` gives it \
             more; if not, say what to do instead: `{go_on}`.",
            more = match cause {
                StopCause::MaxModelCalls => "--set model_calls=N",
                _ => "--max-turns N",
            },
        ),
        StopCause::BlockingLimit => format!(
            "Begin a new conversation, fork an earlier point with `windlass fork --at ENTRY {word}`, \
             or give it a larger window with `{resume} --model NAME`; large tool results are what \
             fills a window most often."
        ),
        StopCause::TruncationExhausted => {
            format!("Ask for less at once, for instance file by file: `{go_on}`.")
        }
        StopCause::StructuredOutputRetries => {
            "Simplify the schema, or say in the prompt how each field is filled.".to_owned()
        }
        StopCause::HookStopped => format!("Do what the hook asks for, then `{resume}`."),
        StopCause::ProviderFailed => format!(
            "Check key, model and network with `windlass doctor`, then `{resume}`; `windlass logs \
             {word}` shows the retries."
        ),
        StopCause::ResumeUnsafe | StopCause::AskedHuman => "Answer the question.".to_owned(),
    }
}

pub(in crate::look::explain) fn queued(lane: &LaneId) -> String {
    let word = shell_word(lane);
    format!("It waits behind another run; if no process works on that: `windlass resume {word}`.")
}

pub(in crate::look::explain) fn waits_for(
    asked: &Question,
    now: &Conversation,
    lane: &LaneId,
) -> String {
    let what = question(&asked.about, now);
    let how = how_to_answer(asked, lane);
    let apart = if what.contains('\n') { "\n" } else { " " };
    format!("It waits for an answer. Question {}: {what}{apart}Answer with {how}.", asked.id)
}

pub(in crate::look::explain) fn stopping(how: Stop) -> &'static str {
    match how {
        Stop::Cancel => "It was asked to end at the next safe point.",
        Stop::Abort => "It was told to end at once.",
    }
}

pub(in crate::look::explain) fn asking(ask: AskId) -> String {
    format!("The model is being asked (call {ask} of the conversation).")
}

pub(in crate::look::explain) fn deferred(until: Millis, failures: u32) -> String {
    let until = stamp(until);
    let times =
        if failures == 1 { "once".to_owned() } else { format!("{failures} times in a row") };
    format!("The provider failed {times}; it is asked again at {until}.")
}

pub(in crate::look::explain) fn acting(open: &[&Call]) -> String {
    let named = |call: &&Call| tool_use(&call.tool_use.name, &call.tool_use.input);
    let names: Vec<String> = open.iter().map(named).collect();
    match names.as_slice() {
        [] => "A round is about to close.".to_owned(),
        names => format!("Calls are at work: {}.", names.join("; ")),
    }
}

pub(in crate::look::explain) fn consulting(about: &str) -> String {
    format!("It waits for a side request: {about}.")
}

/// A process has it.
pub(in crate::look::explain) const DRIVEN: &str = "A process is working on it.";

/// No process has it, and a worker that is running will.
pub(in crate::look::explain) const ABOUT_TO_BE_DRIVEN: &str =
    "A worker that is running continues it within seconds.";
