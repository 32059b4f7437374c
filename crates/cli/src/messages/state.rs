//! What a run does or waits for, in every state and phase.

use windlass::core::call::call_state::Call;
use windlass::core::log::ids::{LaneId, ModelCallId, UnixMillis};
use windlass::core::log::record::StopMode;
use windlass::core::run::active_run::RunPhase;
use windlass::core::run::conversation::Conversation;
use windlass::core::run::question::Question;
use windlass::core::stop::RunState;

use super::{format_tool_use, how_to_answer, question_with_details};
use crate::terminal::time_format::format_timestamp;

/// The state of a run, as people say it.
pub(crate) fn state_phrase(state: RunState) -> &'static str {
    match state {
        RunState::Queued => "is queued",
        RunState::Running => "is running",
        RunState::WaitingOnHuman => "needs an answer",
        RunState::WaitingOnProvider => "is waiting for the provider",
        RunState::Completed => "completed",
        RunState::Failed => "failed",
        RunState::Cancelled => "was cancelled",
        RunState::TimedOut => "timed out",
    }
}

/// What an active run does, in a few words.
pub(crate) fn phase_phrase(phase: &RunPhase) -> &'static str {
    match phase {
        RunPhase::Deciding => "deciding the next step",
        RunPhase::CallingModel(_) => "calling the model",
        RunPhase::AwaitingRetry { .. } => "waiting to retry a model call",
        RunPhase::RunningTools(_) => "running tool calls",
        RunPhase::InReview(_) => "waiting for a review",
        RunPhase::Paused(_) => "waiting for an answer",
    }
}

/// The run is between two steps.
pub(crate) const DECIDING: &str = "Deciding the next step.";

/// The run is queued, and nothing is missing.
pub(crate) const WAITING_IN_QUEUE: &str = "It starts when the active run of the conversation ends.";

pub(crate) fn open_question(question: &Question, now: &Conversation, lane: &LaneId) -> String {
    let what = question_with_details(&question.kind, now);
    let how = how_to_answer(question, lane);
    let apart = if what.contains('\n') { "\n" } else { " " };
    format!("It waits for an answer. Question {}: {what}{apart}Answer with {how}.", question.id)
}

pub(crate) fn stop_requested(how: StopMode) -> &'static str {
    match how {
        StopMode::Cancel => "Cancellation was requested; it stops at the next safe point.",
        StopMode::Abort => "Abort was requested.",
    }
}

pub(crate) fn model_call_running(model_call: ModelCallId) -> String {
    format!("Calling the model (call {model_call} of the conversation).")
}

pub(crate) fn waiting_for_retry(until: UnixMillis, failures: u32) -> String {
    let until = format_timestamp(until);
    let times =
        if failures == 1 { "once".to_owned() } else { format!("{failures} times in a row") };
    format!("The provider failed {times}; retrying at {until}.")
}

pub(crate) fn calls_running(open: &[&Call]) -> String {
    let named = |call: &&Call| format_tool_use(&call.tool_use.name, &call.tool_use.input);
    let names: Vec<String> = open.iter().map(named).collect();
    match names.as_slice() {
        [] => "The round is about to close.".to_owned(),
        names => format!("Running tool calls: {}.", names.join("; ")),
    }
}

pub(crate) fn review_running(about: &str) -> String {
    format!("Waiting for a review: {about}.")
}

/// A process drives the run.
pub(crate) const DRIVEN: &str = "A process is driving it.";

/// No process drives the run, and a running worker will.
pub(crate) const ABOUT_TO_BE_DRIVEN: &str = "A running worker will continue it within seconds.";
