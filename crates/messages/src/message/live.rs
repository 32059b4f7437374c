//! Messages about what is in progress: they are delivered live and are not in the log.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// An event of the provider's stream.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StreamEventMessage {
    /// The event in the form of the Messages API.
    pub event: Value,
    /// The call that a sub-agent works for; `None` in the main conversation.
    pub parent_tool_use_id: Option<String>,
    /// The conversation.
    pub session_id: String,
    /// The id of this message.
    pub uuid: String,
}

/// A tool call that is still running.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolProgressMessage {
    /// The provider's id of the call.
    pub tool_use_id: String,
    /// The name of the tool.
    pub tool_name: String,
    /// The call that a sub-agent works for; `None` in the main conversation.
    pub parent_tool_use_id: Option<String>,
    /// How long the call has been running.
    pub elapsed_time_seconds: f64,
    /// What the tool wrote since the last message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// The number of bytes before `output` that were left out, because there was much.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub omitted_bytes: Option<u64>,
    /// How much is done, in units of the tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<f64>,
    /// How much there is to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<f64>,
    /// What the tool does now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// The conversation.
    pub session_id: String,
    /// The id of this message.
    pub uuid: String,
}

/// A summary of several tool calls.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolUseSummaryMessage {
    /// The summary, in one line.
    pub summary: String,
    /// The provider's ids of the calls.
    pub preceding_tool_use_ids: Vec<String>,
    /// The conversation.
    pub session_id: String,
    /// The id of this message.
    pub uuid: String,
}

/// What was streamed of a reply does not count: the call was abandoned, or the reply was dropped.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TombstoneMessage {
    /// The reply that readers remove, by its `id`.
    pub message: Value,
    /// Why it does not count.
    pub reason: String,
    /// The call that a sub-agent works for; `None` in the main conversation.
    pub parent_tool_use_id: Option<String>,
    /// The conversation.
    pub session_id: String,
    /// The id of this message.
    pub uuid: String,
}
