//! What a model call brought back.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::block::{Block, ToolUse};
use crate::raw::Raw;

/// A finished reply of the model.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Reply {
    /// Every complete block, verbatim and in order.
    pub blocks: Vec<Block>,
    /// The block that the output limit cut, if one was: never executed, never repaired.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut: Option<CutBlock>,
    /// Why the model stopped, as it said it.
    pub stop_reason: StopReason,
    /// The stop string that matched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_sequence: Option<Arc<str>>,
    /// What it cost.
    pub usage: Usage,
    /// Everything else the provider said (ids, model, stop details), for whoever debugs the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub envelope: Option<Raw>,
}

/// The part of an envelope that is ours.
#[derive(Serialize, Deserialize)]
struct Told {
    #[serde(default)]
    notices: Vec<String>,
}

/// A tool use whose arguments never became complete JSON.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct CutBlock {
    /// The tool it was meant for.
    pub name: Arc<str>,
    /// The JSON text as far as it came.
    pub partial: Arc<str>,
}

impl Reply {
    /// The blocks with their index, in order. What lies beyond the last index stays in the log
    /// alone: no provider sends that many.
    pub fn indexed(&self) -> impl Iterator<Item = (u16, &Block)> {
        (0..=u16::MAX).zip(&self.blocks)
    }

    /// The tool uses of the reply with their block index, in order.
    pub fn tool_uses(&self) -> impl Iterator<Item = (u16, &ToolUse)> {
        self.indexed().filter_map(|(index, block)| Some((index, block.as_tool_use()?)))
    }

    /// What the model's adapter had to do differently from what it was asked, by name.
    #[must_use]
    pub fn notices(&self) -> Vec<String> {
        let told = self.envelope.as_ref().and_then(|envelope| envelope.read::<Told>().ok());
        told.map(|told| told.notices).unwrap_or_default()
    }

    /// The same without what only whoever debugs the model wants to see; rows are made of the rest.
    #[must_use]
    pub fn without_envelope(&self) -> Self {
        let notices = self.notices();
        let envelope = (!notices.is_empty()).then(|| Raw::encode(&Told { notices }));
        Self { envelope, ..self.clone() }
    }

    /// The text of all text blocks, joined.
    #[must_use]
    pub fn text(&self) -> String {
        self.blocks.iter().filter_map(Block::as_text).collect()
    }
}

/// The stop reason: control flow, not a log string. Values not yet invented are kept by name.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "Arc<str>", into = "Arc<str>")]
pub enum StopReason {
    /// The model says it is done.
    EndTurn,
    /// The model wants tools.
    ToolUse,
    /// The output limit cut it.
    MaxTokens,
    /// A registered stop string matched.
    StopSequence,
    /// A server-side turn wants to be resumed.
    PauseTurn,
    /// The model declines.
    Refusal,
    /// The context window ended before the reply did.
    ContextWindowExceeded,
    /// A value this version does not know.
    Other(Arc<str>),
}

impl StopReason {
    /// The wire name.
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

/// Tokens of one call, by cache class.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Usage {
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

impl Usage {
    /// All tokens together.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.input_tokens
            .saturating_add(self.output_tokens)
            .saturating_add(self.cache_read_tokens)
            .saturating_add(self.cache_write_tokens)
    }

    /// Adds another call's tokens; absurd numbers saturate.
    pub fn add(&mut self, other: &Self) {
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
        self.cache_read_tokens = self.cache_read_tokens.saturating_add(other.cache_read_tokens);
        self.cache_write_tokens = self.cache_write_tokens.saturating_add(other.cache_write_tokens);
    }
}
