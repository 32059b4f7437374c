//! The turns of a conversation: what the model and what the user's side said.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::content::ContentBlock;
use super::result::TokenCounts;

/// One block of a reply. Blocks of one reply have the same id in `message`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AssistantMessage {
    /// The message in the form of the Messages API, with one block.
    pub message: MessageBody,
    /// The call that a sub-agent works for; `None` in the main conversation.
    pub parent_tool_use_id: Option<String>,
    /// The conversation.
    pub session_id: String,
    /// The id of this message.
    pub uuid: String,
    /// When the reply was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<String>,
    /// Why the reply ended; the stream has it in the result, a transcript with each block.
    #[serde(skip)]
    pub final_stop_reason: Option<String>,
    /// The kind of failure that this message reports in the model's place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Whether the reply was cut off by an interrupt.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub aborted: bool,
    /// The sub-agent that said it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// The kind of the sub-agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subagent_type: Option<String>,
}

/// A reply in the form of the Messages API.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MessageBody {
    /// The provider's id of the reply.
    pub id: String,
    /// Always `message`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Always `assistant`.
    pub role: String,
    /// The model that answered; `<synthetic>` if none did.
    pub model: String,
    /// The content.
    pub content: Vec<ContentBlock>,
    /// Why the model stopped, where that is known.
    pub stop_reason: Option<String>,
    /// The stop sequence that matched.
    pub stop_sequence: Option<String>,
    /// Tokens of the reply.
    pub usage: TokenCounts,
}

/// Something on the user's side: a prompt, the result of a tool call, a note of the runtime.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UserMessage {
    /// The message in the form of the Messages API.
    pub message: UserMessageBody,
    /// The call that a sub-agent works for; `None` in the main conversation.
    pub parent_tool_use_id: Option<String>,
    /// The conversation.
    pub session_id: String,
    /// The id of this message; a prompt has the id of its run.
    pub uuid: String,
    /// When it was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<String>,
    /// The result of the call as an object that depends on the tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_use_result: Option<Value>,
    /// Whether the runtime wrote it, and no person.
    #[serde(rename = "isSynthetic", default, skip_serializing_if = "std::ops::Not::not")]
    pub is_synthetic: bool,
    /// Whether it is the summary that replaced older messages.
    #[serde(rename = "isCompactSummary", default, skip_serializing_if = "std::ops::Not::not")]
    pub is_compact_summary: bool,
    /// Whether it repeats what the reader sent.
    #[serde(rename = "isReplay", default, skip_serializing_if = "std::ops::Not::not")]
    pub is_replay: bool,
    /// The sub-agent that it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// The kind of the sub-agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subagent_type: Option<String>,
}

/// The user's side of a turn, in the form of the Messages API.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UserMessageBody {
    /// Always `user`.
    pub role: String,
    /// The content.
    pub content: Vec<ContentBlock>,
}

impl AssistantMessage {
    /// Returns the text, if the block is text.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        self.message.content.first().and_then(ContentBlock::as_text)
    }
}

impl UserMessageBody {
    /// Creates the body of a user message.
    #[must_use]
    pub fn new(content: Vec<ContentBlock>) -> Self {
        Self { role: "user".to_owned(), content }
    }
}
