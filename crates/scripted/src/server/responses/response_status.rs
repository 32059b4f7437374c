//! How a Responses answer ended.

use crate::scripted_answer::ScriptedStop;

/// The status of a response or of one of its items.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ResponseStatus {
    InProgress,
    Completed,
    Incomplete,
    Failed,
}

/// The status after a stop, and the reason if the response is not complete. A word that the service
/// does not have is sent as the script wrote it.
pub(super) fn status_for_stop(stop: &ScriptedStop) -> (ResponseStatus, Option<&str>) {
    match stop.reason.as_str() {
        "end_turn" | "stop_sequence" | "tool_use" => (ResponseStatus::Completed, None),
        "max_tokens" | "model_context_window_exceeded" => {
            (ResponseStatus::Incomplete, Some("max_output_tokens"))
        }
        "refusal" => (ResponseStatus::Incomplete, Some("content_filter")),
        other => (ResponseStatus::Incomplete, Some(other)),
    }
}
