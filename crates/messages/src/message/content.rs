//! Content blocks. A block of a kind that is not here, and a field that is not here, is kept as it
//! came from the provider.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A block of content.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ContentBlock {
    /// Text.
    Text(TextBlock),
    /// Thinking of the model.
    Thinking(ThinkingBlock),
    /// The model calls a tool.
    ToolUse(ToolUseBlock),
    /// The result of a tool call.
    ToolResult(ToolResultBlock),
    /// Any other block: an image, a document, a server tool.
    #[serde(untagged)]
    Other(Value),
}

/// Text.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TextBlock {
    /// The text.
    pub text: String,
    /// Further fields of the provider, such as citations.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

/// Thinking of the model.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ThinkingBlock {
    /// The thinking; empty if the provider keeps it to itself.
    pub thinking: String,
    /// The provider's signature, which must come back unchanged.
    #[serde(default)]
    pub signature: String,
    /// Further fields of the provider.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

/// A call of a tool.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolUseBlock {
    /// The provider's id of the call.
    pub id: String,
    /// The name of the tool.
    pub name: String,
    /// The arguments.
    pub input: Value,
    /// Further fields of the provider.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

/// The result of a tool call.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolResultBlock {
    /// The provider's id of the call.
    pub tool_use_id: String,
    /// The result: a string or a list of blocks.
    pub content: Value,
    /// Whether the call failed.
    #[serde(default)]
    pub is_error: bool,
}

impl ContentBlock {
    /// Creates a text block.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(TextBlock { text: text.into(), more: Map::new() })
    }

    /// Reads a block of the log. JSON that is no block is kept as it is.
    #[must_use]
    pub fn from_core(block: &windlass_core::message::content_block::ContentBlock) -> Self {
        block.raw().read().unwrap_or(Self::Other(Value::Null))
    }

    /// Returns the text, if this is a text block.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(block) => Some(&block.text),
            _ => None,
        }
    }
}
