//! How an answer ended, in the service's words.

use super::super::super::answer::Stop;

/// The state of a response or of one of its items.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Status {
    InProgress,
    Completed,
    Incomplete,
    Failed,
}

/// The state a stop leaves, and the reason if it is not complete. A word the service does not
/// have goes out as the script wrote it.
pub(super) fn stopped(stop: &Stop) -> (Status, Option<&str>) {
    match stop.reason.as_str() {
        "end_turn" | "stop_sequence" | "tool_use" => (Status::Completed, None),
        "max_tokens" | "model_context_window_exceeded" => {
            (Status::Incomplete, Some("max_output_tokens"))
        }
        "refusal" => (Status::Incomplete, Some("content_filter")),
        other => (Status::Incomplete, Some(other)),
    }
}
