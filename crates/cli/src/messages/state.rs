//! What a run does or waits for, in every state and phase.

use windlass::core::call::call_state::Call;
use windlass::core::log::ids::{LaneId, ModelCallId, UnixMillis};
use windlass::core::log::record::StopMode;
use windlass::core::run::conversation::Conversation;
use windlass::core::run::question::Question;
use windlass::core::stop::RunState;

use super::{format_tool_use, how_to_answer, question_with_details, shell_word};
use crate::terminal::time_format::format_timestamp;

/// The state of a run, as people say it.
pub(crate) fn state_phrase(state: RunState) -> &'static str {
    match state {
        RunState::Queued => "is queued",
        RunState::Running => "is running",
        RunState::WaitingOnHuman => "needs an answer",
        RunState::WaitingOnProvider => "waits for the provider",
        RunState::Completed => "completed",
        RunState::Failed => "failed",
        RunState::Cancelled => "was cancelled",
        RunState::TimedOut => "ran out of time",
    }
}

/// The run is between two steps.
pub(crate) const DECIDING: &str = "It is between two steps.";

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
