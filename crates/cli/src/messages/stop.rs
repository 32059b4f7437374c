//! Messages about a run that ended or is parked.

use windlass::core::log::ids::LaneId;
use windlass::core::run::conversation::RunEnd;
use windlass::core::run::journal::Journal;
use windlass::{RunOutcome, StopCause};

use crate::inspect::explain;
use crate::messages::shell_word;
use crate::terminal::to_one_line;

/// Maximum characters of each line of a handoff.
const HANDOFF_CHARS: usize = 200;

/// Message: the model refused the request; the answer is not the model's.
const REFUSED: &str = "windlass: the model refused this request (refusal)";

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
    let advice = format!("  what to do: {}", explain::next_step(cause, lane));
    noted.map(line).chain([advice]).collect()
}

/// The message about the end of a run, if the answer alone is not enough; `limit` has the numbers
/// of the limit that was reached.
pub(crate) fn stopped(ended: &RunEnd, limit: Option<String>, lane: &LaneId) -> Option<String> {
    let word = shell_word(lane);
    let why = match ended.cause {
        StopCause::EndTurn | StopCause::StopSequence | StopCause::SoftTime => return None,
        StopCause::Refusal => return Some(REFUSED.to_owned()),
        StopCause::Unexpected => "the model stopped for a reason this version does not know",
        StopCause::ToolFatal => "a tool failed fatally",
        StopCause::UserCancel => "cancelled",
        StopCause::BudgetUsd => "the budget in dollars is spent",
        StopCause::BudgetTokens => "the budget in tokens is spent",
        StopCause::PriceUnknown => {
            "price unknown for this model, so a budget in dollars cannot be kept; give it in \
             [models.NAME] of config.toml"
        }
        StopCause::HardTime => "the time limit is reached",
        StopCause::MaxToolRounds => "the limit of rounds with tool calls is reached",
        StopCause::MaxModelCalls => "the limit of model calls is reached",
        StopCause::BlockingLimit => {
            "the prompt is too long: the context is full and nothing more can be left out; give a \
             model with a larger window, or start a new conversation (`windlass journal` prints what this one noted)"
        }
        StopCause::TruncationExhausted => "replies were cut by the output limit again and again",
        StopCause::StructuredOutputRetries => "the answer never fitted its schema",
        StopCause::HookStopped => "a hook ended it",
        StopCause::ProviderFailed => "the model's provider failed",
        StopCause::ResumeUnsafe | StopCause::AskedHuman => "it waits for a person",
    };
    let limit = limit.map(|limit| format!(" ({limit})")).unwrap_or_default();
    Some(format!(
        "windlass: stopped ({}): {why}{limit}; `windlass explain {word}` says more",
        ended.cause.as_str()
    ))
}
