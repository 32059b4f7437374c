//! What is said when a run is over, or left.

use windlass::core::conversation::Ended;
use windlass::core::ids::LaneId;
use windlass::core::journal::Journal;
use windlass::{End, StopCause};

use super::shell_word;
use crate::look::explain;
use crate::look::paper::one_line;

/// Characters of each line of a handoff.
const HANDOFF_CHARS: usize = 200;

/// What is said when the model declined: the answer is not the model's.
const REFUSED: &str = "windlass: the model refused this request (refusal)";

/// What is said about a run that is not over, if something is.
pub(crate) fn not_finished(end: &End, lane: &LaneId) -> Option<String> {
    match end {
        End::Finished(_) | End::Parked(_) => None,
        End::Refused(why) => Some(format!("windlass: the prompt was not accepted: {why}")),
        End::HandedOver => Some(format!(
            "windlass: interrupted; continue with `windlass resume {}`",
            shell_word(lane)
        )),
    }
}

/// What somebody who takes over a run that failed should know: the last objective and state as the
/// journal has them, and what to do next. A person who cancelled it knows.
pub(crate) fn handoff(cause: StopCause, journal: &Journal, lane: &LaneId) -> Vec<String> {
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
        |(title, text): (&str, &str)| format!("  {title}: {}", one_line(text, HANDOFF_CHARS));
    let advice = format!("  what to do: {}", explain::next_step(cause, lane));
    noted.map(line).chain([advice]).collect()
}

/// What is said about the end, if the answer does not speak for itself; `limit` has the numbers of the
/// limit that was reached.
pub(crate) fn stopped(ended: &Ended, limit: Option<String>, lane: &LaneId) -> Option<String> {
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
        ended.cause.name()
    ))
}
