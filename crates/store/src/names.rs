//! Run states and stop causes as tables and dashboards write them.

use std::sync::Arc;

use windlass_core::project::CheckpointKind;
use windlass_core::stop::{RunState, StopCause};
use windlass_runtime::ports::{ServedWorkspace, ToolStats};

/// Whether a run in this state occupies its lane.
pub(crate) fn is_active(state: RunState) -> bool {
    match state {
        RunState::Running | RunState::WaitingOnHuman | RunState::WaitingOnProvider => true,
        RunState::Queued
        | RunState::Completed
        | RunState::Failed
        | RunState::Cancelled
        | RunState::TimedOut => false,
    }
}

pub(crate) fn state(state: RunState) -> &'static str {
    match state {
        RunState::Queued => "queued",
        RunState::Running => "running",
        RunState::WaitingOnHuman => "waiting_on_human",
        RunState::WaitingOnProvider => "waiting_on_provider",
        RunState::Completed => "completed",
        RunState::Failed => "failed",
        RunState::Cancelled => "cancelled",
        RunState::TimedOut => "timed_out",
    }
}

pub(crate) fn parse_state(text: &str) -> Option<RunState> {
    serde_json::from_value(text.into()).ok()
}

/// Whether a run whose last checkpoint is of this kind goes on by itself.
pub(crate) fn is_resumable(kind: &str) -> bool {
    serde_json::from_value::<CheckpointKind>(kind.into()).is_ok_and(CheckpointKind::is_resumable)
}

/// What a worker serves, as its column has it.
pub(crate) fn workspaces(served: &[ServedWorkspace]) -> String {
    serde_json::to_string(served).unwrap_or_else(|_| "[]".to_owned())
}

/// The cause by its own name; `StopCause::reason` maps several causes to one.
pub(crate) fn cause(cause: StopCause) -> String {
    match serde_json::to_value(cause) {
        Ok(serde_json::Value::String(name)) => name,
        _ => String::new(),
    }
}

pub(crate) fn parse_cause(text: &str) -> Option<StopCause> {
    serde_json::from_value(text.into()).ok()
}

/// A count as the tables keep it. A provider may report any number; none becomes negative.
pub(crate) fn count(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// A count of the trace, whose columns are integers of four bytes.
pub(crate) fn trace_count(count: u64) -> i64 {
    count.min(i32::MAX as u64).cast_signed()
}

/// Outcomes of calls that ran and did what they were to do.
const GOOD_OUTCOMES: [&str; 2] = ["done", "answered"];

/// Whether a call that ended so did not do what it was to do.
pub(crate) fn is_bad_outcome(outcome: &str) -> bool {
    !GOOD_OUTCOMES.contains(&outcome)
}

/// The statistics of a tool that was not called yet.
pub(crate) fn no_calls(tool: Arc<str>) -> ToolStats {
    ToolStats { tool, calls: 0, attempts: 0, retried: 0, failed: 0 }
}
