//! Sentences about the end of a run, what it waits for, and the next step.

use windlass::StopCause;
use windlass::core::call::call_state::Call;
use windlass::core::log::ids::{LaneId, ModelCallId, UnixMillis};
use windlass::core::log::record::StopMode;
use windlass::core::run::conversation::{Conversation, RunEnd};
use windlass::core::run::question::Question;

use crate::messages::inspect::{
    continue_command, format_tool_use, how_to_answer, question_with_details, stop_phrase, why_with,
};
use crate::messages::shell_word;
use crate::terminal::time_format::format_timestamp;
use crate::terminal::to_one_line;

/// The run is between two steps.
pub(crate) const DECIDING: &str = "It is between two steps.";

/// Maximum characters of the quoted last message.
const MAX_QUOTE_CHARS: usize = 300;

pub(crate) fn stopped_because(cause: StopCause, limit: Option<String>) -> String {
    format!("It ended ({}): {}.", cause.as_str(), why_with(cause, limit.as_deref()))
}

pub(crate) fn also_stopped_because(cause: StopCause) -> String {
    format!(
        "At the same moment this would have ended it too ({}): {}.",
        cause.as_str(),
        stop_phrase(cause)
    )
}

pub(crate) fn suspect_answer(why: &str) -> String {
    format!("The answer counts, but it is doubtful: {}", to_one_line(why, MAX_QUOTE_CHARS))
}

/// The last message of a run, for causes that alone say too little.
pub(crate) fn final_message(ended: &RunEnd, before: &Conversation) -> Option<String> {
    let says = matches!(
        ended.cause,
        StopCause::ProviderFailed | StopCause::ToolFatal | StopCause::HookStopped
    );
    let text = to_one_line(&ended.text, MAX_QUOTE_CHARS);
    if says && !text.is_empty() {
        return Some(format!("The last words: {text}"));
    }
    let unknown = before.last_reply.as_ref().filter(|_| ended.cause == StopCause::Unexpected);
    unknown.map(|last| {
        let reason = to_one_line(last.reply.stop_reason.as_str(), 60);
        format!("The model's stop reason was `{reason}`.")
    })
}

/// What to do after a run that stopped with this cause.
pub(crate) fn next_step(cause: StopCause, lane: &LaneId) -> String {
    let word = shell_word(lane);
    let go_on = continue_command(lane);
    // A run that a limit or an error stopped can continue; others need a new prompt.
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

pub(crate) fn waiting_in_queue(lane: &LaneId) -> String {
    let word = shell_word(lane);
    format!("It waits behind another run; if no process works on that: `windlass resume {word}`.")
}

pub(crate) fn open_question(asked: &Question, now: &Conversation, lane: &LaneId) -> String {
    let what = question_with_details(&asked.kind, now);
    let how = how_to_answer(asked, lane);
    let apart = if what.contains('\n') { "\n" } else { " " };
    format!("It waits for an answer. Question {}: {what}{apart}Answer with {how}.", asked.id)
}

pub(crate) fn stop_requested(how: StopMode) -> &'static str {
    match how {
        StopMode::Cancel => "It was asked to end at the next safe point.",
        StopMode::Abort => "It was told to end at once.",
    }
}

pub(crate) fn model_call_running(ask: ModelCallId) -> String {
    format!("The model is being asked (call {ask} of the conversation).")
}

pub(crate) fn waiting_for_retry(until: UnixMillis, failures: u32) -> String {
    let until = format_timestamp(until);
    let times =
        if failures == 1 { "once".to_owned() } else { format!("{failures} times in a row") };
    format!("The provider failed {times}; it is asked again at {until}.")
}

pub(crate) fn calls_running(open: &[&Call]) -> String {
    let named = |call: &&Call| format_tool_use(&call.tool_use.name, &call.tool_use.input);
    let names: Vec<String> = open.iter().map(named).collect();
    match names.as_slice() {
        [] => "A round is about to close.".to_owned(),
        names => format!("Calls are at work: {}.", names.join("; ")),
    }
}

pub(crate) fn review_running(about: &str) -> String {
    format!("It waits for a side request: {about}.")
}

/// A process drives the run.
pub(crate) const DRIVEN: &str = "A process is working on it.";

/// No process drives the run, and a running worker will.
pub(crate) const ABOUT_TO_BE_DRIVEN: &str = "A worker that is running continues it within seconds.";
