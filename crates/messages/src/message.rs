//! The messages, as types. Their JSON is what the Agent SDKs read and write; a field that they do
//! not know is an addition of ours.

mod content;
mod live;
mod result;
mod system;
mod turns;

pub use content::{ContentBlock, TextBlock, ThinkingBlock, ToolResultBlock, ToolUseBlock};
pub use live::{StreamEventMessage, TombstoneMessage, ToolProgressMessage, ToolUseSummaryMessage};
pub use result::{ModelUsage, PermissionDenial, ResultMessage, ResultSubtype, TokenCounts};
pub use system::{
    CompactMetadata, CompactTrigger, CompactionStatus, ConversationResetMessage, HookRun, InitInfo,
    McpServerStatus, PluginInfo, SystemEvent, SystemMessage, TaskUsage,
};
pub use turns::{AssistantMessage, MessageBody, UserMessage, UserMessageBody};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A message of a conversation.
///
/// A run begins with a system message of the subtype `init` and ends with exactly one
/// [`ResultMessage`]. In between are one assistant message for each block of a reply, and one user
/// message for each result of a tool call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Message {
    /// A block of a reply.
    Assistant(AssistantMessage),
    /// The result of a tool call, or what else was added on the user's side.
    User(UserMessage),
    /// Something about the conversation: its start, compactions, retries, tasks, hooks.
    System(SystemMessage),
    /// The end of a run.
    Result(Box<ResultMessage>),
    /// An event of the provider's stream, while a reply arrives; only if partial messages are
    /// enabled.
    StreamEvent(StreamEventMessage),
    /// A tool call is still running.
    ToolProgress(ToolProgressMessage),
    /// A summary of several tool calls.
    ToolUseSummary(ToolUseSummaryMessage),
    /// What was streamed of a reply does not count: readers remove it.
    Tombstone(TombstoneMessage),
    /// A new conversation takes the place of this one.
    ConversationReset(ConversationResetMessage),
    /// A message that this version does not know.
    #[serde(untagged)]
    Other(Value),
}

impl Message {
    /// Returns the result, if this message ends its run.
    #[must_use]
    pub fn as_result(&self) -> Option<&ResultMessage> {
        match self {
            Self::Result(result) => Some(result),
            _ => None,
        }
    }

    /// Returns the text of an assistant message of the main conversation; `None` for any other
    /// message and for blocks that are not text.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Assistant(message) if message.parent_tool_use_id.is_none() => message.text(),
            _ => None,
        }
    }

    /// Returns the piece of text of a stream event of the main conversation.
    #[must_use]
    pub fn text_delta(&self) -> Option<&str> {
        match self {
            Self::StreamEvent(event) if event.parent_tool_use_id.is_none() => {
                event.event.pointer("/delta/text").and_then(Value::as_str)
            }
            _ => None,
        }
    }

    /// Returns the session id of the message.
    #[must_use]
    pub fn session_id(&self) -> Option<&str> {
        match self {
            Self::Assistant(message) => Some(&message.session_id),
            Self::User(message) => Some(&message.session_id),
            Self::System(message) => Some(&message.session_id),
            Self::Result(message) => Some(&message.session_id),
            Self::StreamEvent(message) => Some(&message.session_id),
            Self::ToolProgress(message) => Some(&message.session_id),
            Self::ToolUseSummary(message) => Some(&message.session_id),
            Self::Tombstone(message) => Some(&message.session_id),
            Self::ConversationReset(message) => Some(&message.session_id),
            Self::Other(message) => message.get("session_id").and_then(Value::as_str),
        }
    }
}
