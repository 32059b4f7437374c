//! Column values: run states, stop causes and counts as the tables and dashboards hold them.

use std::sync::Arc;

use windlass_core::projection::CheckpointKind;
use windlass_core::stop::{RunState, StopCause};
use windlass_runtime::ports::{RunCount, ServedWorkspace, ToolStats};

/// Returns whether a run in this state occupies its lane.
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

pub(crate) fn state_name(state: RunState) -> &'static str {
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

/// Returns whether a run whose last checkpoint is of this kind can be resumed without a human.
pub(crate) fn is_resumable_checkpoint(kind: &str) -> bool {
    serde_json::from_value::<CheckpointKind>(kind.into()).is_ok_and(CheckpointKind::is_resumable)
}

/// Encodes the workspaces that a worker serves, as their column holds them.
pub(crate) fn encode_workspaces(served: &[ServedWorkspace]) -> String {
    serde_json::to_string(served).unwrap_or_else(|_| "[]".to_owned())
}

/// Returns the cause's own name; `StopCause::reason` maps several causes to one.
pub(crate) fn cause_name(cause: StopCause) -> String {
    match serde_json::to_value(cause) {
        Ok(serde_json::Value::String(name)) => name,
        _ => String::new(),
    }
}

pub(crate) fn parse_cause(text: &str) -> Option<StopCause> {
    serde_json::from_value(text.into()).ok()
}

/// Returns the error text for a state or cause that no known version of Windlass writes.
pub(crate) fn unknown_name(name: &str) -> String {
    format!("unknown state or cause `{name}`; upgrade windlass")
}

/// Converts the `LIMIT` of a query.
pub(crate) fn limit_column(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

/// Converts a count, position or time to its column value. A provider may report any number; none
/// becomes negative.
pub(crate) fn saturating_column(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// Converts a count of the trace, whose columns are four-byte integers.
pub(crate) fn trace_column_count(count: u64) -> i64 {
    count.min(i32::MAX as u64).cast_signed()
}

/// Outcomes of tool calls that ran and succeeded.
const SUCCESS_OUTCOMES: [&str; 2] = ["done", "answered"];

/// Returns whether a tool call with this outcome failed.
pub(crate) fn is_failed_outcome(outcome: &str) -> bool {
    !SUCCESS_OUTCOMES.contains(&outcome)
}

/// Returns the statistics of a tool that has not been called yet.
pub(crate) fn empty_tool_stats(tool: Arc<str>) -> ToolStats {
    ToolStats { tool, calls: 0, attempts: 0, retried: 0, failed: 0 }
}

/// Returns a count of runs from its columns; `None` for names that this version does not know.
pub(crate) fn run_count(state: &str, cause: Option<&str>, count: i64) -> Option<RunCount> {
    let state = parse_state(state)?;
    let cause = match cause {
        None => None,
        Some(name) => Some(parse_cause(name)?),
    };
    Some(RunCount { state, cause, count: count.cast_unsigned() })
}
