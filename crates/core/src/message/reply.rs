//! Replies of the model: blocks, stop reason, token usage.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::message::content_block::{ContentBlock, ToolUse};
use crate::message::raw_json::RawJson;
use crate::message::response_envelope::ResponseEnvelope;

/// A finished reply of the model.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ModelReply {
    /// Every complete block, verbatim and in order.
    pub blocks: Vec<ContentBlock>,
    /// The block that the output limit truncated, if any: never executed, never repaired.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub truncated_block: Option<TruncatedBlock>,
    /// Why the model stopped, as the provider reported it.
    pub stop_reason: StopReason,
    /// The stop string that matched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_sequence: Option<Arc<str>>,
    /// Tokens that the call used.
    pub usage: TokenUsage,
    /// Everything else the provider reported (ids, model, stop details), for debugging.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub envelope: Option<ResponseEnvelope>,
}

/// The part of an envelope that our adapters write.
#[derive(Serialize, Deserialize)]
struct EnvelopeNotices {
    #[serde(default)]
    notices: Vec<String>,
}

/// A tool use whose arguments never became complete JSON.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TruncatedBlock {
    /// Name of the called tool.
    pub name: Arc<str>,
    /// The JSON text as far as it was received.
    pub partial: Arc<str>,
}

impl ModelReply {
    /// Returns the blocks with their index, in order. Blocks beyond the last index stay in the log
    /// only: no provider sends that many.
    pub fn indexed_blocks(&self) -> impl Iterator<Item = (u16, &ContentBlock)> {
        (0..=u16::MAX).zip(&self.blocks)
    }

    /// Returns the tool uses of the reply with their block index, in order.
    pub fn tool_uses(&self) -> impl Iterator<Item = (u16, &ToolUse)> {
        self.indexed_blocks().filter_map(|(index, block)| Some((index, block.as_tool_use()?)))
    }

    /// Returns what the model's adapter had to do differently than requested, by name.
    #[must_use]
    pub fn notices(&self) -> Vec<String> {
        let fields = self.envelope.as_ref().map(|envelope| &envelope.fields);
        let told = fields.and_then(|fields| fields.read::<EnvelopeNotices>().ok());
        told.map(|told| told.notices).unwrap_or_default()
    }

    /// Returns the reply without the debugging part of the envelope; rows are made from the rest.
    #[must_use]
    pub fn without_envelope(&self) -> Self {
        let notices = self.notices();
        let envelope = (!notices.is_empty()).then(|| RawJson::encode(&EnvelopeNotices { notices }));
        Self { envelope: envelope.map(ResponseEnvelope::from), ..self.clone() }
    }

    /// Returns the text of all text blocks, joined.
    #[must_use]
    pub fn text(&self) -> String {
        self.blocks.iter().filter_map(ContentBlock::as_text).collect()
    }
}

/// The stop reason: control flow, not a log string. Unknown values are kept by name.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "Arc<str>", into = "Arc<str>")]
pub enum StopReason {
    /// The model finished its turn.
    EndTurn,
    /// The model calls tools.
    ToolUse,
    /// The output limit truncated the reply.
    MaxTokens,
    /// A registered stop string matched.
    StopSequence,
    /// A server-side turn must be resumed.
    PauseTurn,
    /// The model declined.
    Refusal,
    /// The context window ended before the reply did.
    ContextWindowExceeded,
    /// A value this version does not know.
    Other(Arc<str>),
}

impl StopReason {
    /// Returns the name on the wire.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::EndTurn => "end_turn",
            Self::ToolUse => "tool_use",
            Self::MaxTokens => "max_tokens",
            Self::StopSequence => "stop_sequence",
            Self::PauseTurn => "pause_turn",
            Self::Refusal => "refusal",
            Self::ContextWindowExceeded => "model_context_window_exceeded",
            Self::Other(name) => name,
        }
    }
}

impl From<Arc<str>> for StopReason {
    fn from(name: Arc<str>) -> Self {
        match name.as_ref() {
            "end_turn" => Self::EndTurn,
            "tool_use" => Self::ToolUse,
            "max_tokens" => Self::MaxTokens,
            "stop_sequence" => Self::StopSequence,
            "pause_turn" => Self::PauseTurn,
            "refusal" => Self::Refusal,
            "model_context_window_exceeded" => Self::ContextWindowExceeded,
            _ => Self::Other(name),
        }
    }
}

impl From<&str> for StopReason {
    fn from(name: &str) -> Self {
        Self::from(Arc::<str>::from(name))
    }
}

impl From<StopReason> for Arc<str> {
    fn from(reason: StopReason) -> Self {
        Arc::from(reason.as_str())
    }
}

/// Tokens of one model call, by cache class.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TokenUsage {
    /// Input tokens that were not cached.
    pub input_tokens: u64,
    /// Output tokens.
    pub output_tokens: u64,
    /// Input tokens read from the provider's cache.
    #[serde(default)]
    pub cache_read_tokens: u64,
    /// Input tokens written to the provider's cache.
    #[serde(default)]
    pub cache_write_tokens: u64,
}

impl TokenUsage {
    /// Returns all tokens together.
    #[must_use]
    pub fn total_tokens(&self) -> u64 {
        self.input_tokens
            .saturating_add(self.output_tokens)
            .saturating_add(self.cache_read_tokens)
            .saturating_add(self.cache_write_tokens)
    }

    /// Adds the tokens of another call; absurd numbers saturate.
    pub fn add(&mut self, other: &Self) {
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
        self.cache_read_tokens = self.cache_read_tokens.saturating_add(other.cache_read_tokens);
        self.cache_write_tokens = self.cache_write_tokens.saturating_add(other.cache_write_tokens);
    }
}
