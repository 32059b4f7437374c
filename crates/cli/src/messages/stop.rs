//! Why a run stopped and what to do next: one reason and one next step per stop cause, the same in
//! text output, JSON errors, `show`, `explain`, `trace` and `runs`.
#![deny(clippy::wildcard_enum_match_arm)]

use windlass::core::log::ids::LaneId;
use windlass::core::run::conversation::{Conversation, RunEnd};
use windlass::core::run::journal::Journal;
use windlass::messages::{stop_reason, stop_reason_with};
use windlass::{RunOutcome, StopCause};

use super::{option_word, shell_word};
use crate::terminal::to_one_line;

#[cfg(test)]
#[path = "stop_tests.rs"]
mod stop_tests;

/// Maximum characters of each line of a handoff.
const HANDOFF_CHARS: usize = 200;

/// Maximum characters of the quoted last message.
const MAX_QUOTE_CHARS: usize = 300;

/// Whether a person who followed the run is told the reason; an answer speaks for itself.
fn is_reported(cause: StopCause) -> bool {
    !matches!(cause, StopCause::EndTurn | StopCause::StopSequence | StopCause::SoftTime)
}

/// The message about the end of a run, if the answer alone is not enough; `limit` has the numbers
/// of the limit that was reached.
pub(crate) fn stopped(ended: &RunEnd, limit: Option<&str>, lane: &LaneId) -> Option<String> {
    let (cause, name) = (ended.cause, ended.cause.as_str());
    if !is_reported(cause) {
        return None;
    }
    // The answer is the text of the refusal; there is nothing more to explain.
    if cause == StopCause::Refusal {
        return Some(format!("windlass: {} ({name})", stop_reason(cause)));
    }
    let (reason, word) = (stop_reason_with(cause, limit), shell_word(lane));
    Some(format!("windlass: stopped ({name}): {reason}; see `windlass explain {word}`"))
}

/// The stop cause of a run, as a sentence of `windlass explain`.
pub(crate) fn stopped_because(cause: StopCause, limit: Option<&str>) -> String {
    format!("It stopped ({}): {}.", cause.as_str(), stop_reason_with(cause, limit))
}

/// Another cause that would have stopped the run at the same moment.
pub(crate) fn also_stopped_because(cause: StopCause) -> String {
    format!("It would also have stopped ({}): {}.", cause.as_str(), stop_reason(cause))
}

/// The stop cause of a run, as a line of `windlass show`.
pub(crate) fn stop_line(cause: StopCause) -> String {
    format!("stopped ({}): {}", cause.as_str(), stop_reason(cause))
}

/// The answer was accepted although a check objected.
pub(crate) fn suspect_answer(reason: &str) -> String {
    format!("The answer was accepted but is suspect: {}", to_one_line(reason, MAX_QUOTE_CHARS))
}

/// The last message of a run, for causes that alone say too little.
pub(crate) fn final_message(ended: &RunEnd, before: &Conversation) -> Option<String> {
    let says = matches!(
        ended.cause,
        StopCause::ProviderFailed | StopCause::ToolFatal | StopCause::HookStopped
    );
    let text = to_one_line(&ended.text, MAX_QUOTE_CHARS);
    if says && !text.is_empty() {
        return Some(format!("Last message: {text}"));
    }
    let unknown = before.last_reply.as_ref().filter(|_| ended.cause == StopCause::Unexpected);
    unknown.map(|last| {
        let reason = to_one_line(last.reply.stop_reason.as_str(), 60);
        format!("The model's stop reason was `{reason}`.")
    })
}

/// What to do after a run that reached a limit of steps.
fn raise_limit(resume: &str, flag: &str, go_on: &str) -> String {
    format!(
        "See in the iterations whether it makes progress: if it does, raise the limit with `{resume} \
         {flag}`; if not, give other instructions: `{go_on}`."
    )
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
        StopCause::SoftTime => {
            format!("The answer is what it had by then; to continue: `{go_on}`.")
        }
        StopCause::Refusal => format!("Rephrase the prompt: `{go_on}`."),
        StopCause::Unexpected => {
            format!(
                "See the reply with `windlass show {word}`; a newer version may know the reason."
            )
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
        StopCause::MaxToolRounds => raise_limit(&resume, "--max-turns N", &go_on),
        StopCause::MaxModelCalls => raise_limit(&resume, "--set model_calls=N", &go_on),
        StopCause::MaxModelReplies => raise_limit(&resume, "--set model_replies=N", &go_on),
        StopCause::ToolDeferred => {
            format!("Decide about the deferred call, then `{resume}`, or `{go_on}`.")
        }
        StopCause::BlockingLimit => format!(
            "Start a new conversation (`windlass journal {word}` prints the notes of this one), fork \
             an earlier entry with `windlass fork --at ENTRY {word}`, or use a model with a larger \
             window: `{resume} --model NAME`. Large tool results fill a window most often."
        ),
        StopCause::TruncationExhausted => {
            format!("Ask for less at once, for example file by file: `{go_on}`.")
        }
        StopCause::StructuredOutputRetries => {
            "Simplify the schema, or describe each field in the prompt.".to_owned()
        }
        StopCause::HookStopped => format!("Do what the hook asks for, then `{resume}`."),
        StopCause::ProviderFailed => format!(
            "Check key, model and network with `windlass doctor`, then `{resume}`; `windlass logs \
             {word}` shows the retries."
        ),
        StopCause::ResumeUnsafe | StopCause::AskedHuman => "Answer the question.".to_owned(),
    }
}

/// The command that continues the conversation.
pub(crate) fn continue_command(lane: &LaneId) -> String {
    format!("windlass -p \"…\" {}", option_word("--conversation", lane))
}

/// The message about a run that has not finished, if there is one.
pub(crate) fn not_finished(end: &RunOutcome, lane: &LaneId) -> Option<String> {
    match end {
        RunOutcome::Finished(_) | RunOutcome::Parked(_) => None,
        RunOutcome::Rejected(reason) => {
            let why = super::command_rejection(reason);
            Some(format!("windlass: the prompt was not accepted: {why}"))
        }
        RunOutcome::HandedOver => Some(format!(
            "windlass: interrupted; continue with `windlass resume {}`",
            shell_word(lane)
        )),
    }
}

/// Handoff of a failed run: objective and state of its journal, and what to do next. A person who
/// cancelled the run needs none.
pub(crate) fn handoff_lines(cause: StopCause, journal: &Journal, lane: &LaneId) -> Vec<String> {
    if cause == StopCause::UserCancel {
        return Vec::new();
    }
    let handoff = journal.handoff();
    let noted = [
        ("objective", handoff.objective),
        ("state", handoff.state),
        ("next action", handoff.next_action),
    ];
    let noted = noted.into_iter().filter_map(|(title, text)| text.map(|text| (title, text)));
    let line =
        |(title, text): (&str, &str)| format!("  {title}: {}", to_one_line(text, HANDOFF_CHARS));
    let advice = format!("  what to do: {}", next_step(cause, lane));
    noted.map(line).chain([advice]).collect()
}
