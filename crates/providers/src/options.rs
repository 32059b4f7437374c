//! What a model is asked with, beyond what a conversation's settings say.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// How a model is to be asked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// How hard it should try; unset means as the provider thinks.
    pub effort: Option<Effort>,
    /// Whether and how it thinks before it answers.
    pub thinking: Thinking,
    /// Whether it may, must or must not call tools.
    pub tool_choice: ToolChoice,
    /// Who the call is for, as an opaque name the provider may see.
    pub user: Option<Arc<str>>,
    /// Beta features to ask for, by name.
    pub betas: Vec<Arc<str>>,
    /// Tokens the model is told it has for the whole task; advice, not a limit.
    pub task_budget_tokens: Option<u64>,
    /// How long the provider keeps the prompt.
    pub cache: CacheLife,
    /// Whether the answer is streamed.
    pub delivery: Delivery,
    /// How long things may take.
    pub deadlines: Deadlines,
}

/// How hard a model should try.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Effort {
    /// As little as possible.
    Low,
    /// Some.
    Medium,
    /// Much.
    High,
    /// Very much.
    Xhigh,
    /// As much as there is.
    Max,
}

impl Effort {
    /// The wire name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Xhigh => "xhigh",
            Self::Max => "max",
        }
    }
}

/// Whether and how a model thinks before it answers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Thinking {
    /// As the provider thinks.
    #[default]
    Unset,
    /// Not at all.
    Off,
    /// As much as the model finds right.
    Adaptive,
    /// Up to a number of tokens.
    Budget {
        /// How many.
        tokens: u64,
    },
}

/// Whether a model may, must or must not call tools.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ToolChoice {
    /// As it likes.
    #[default]
    Auto,
    /// It must call some tool.
    Any,
    /// It must call this tool.
    Tool(Arc<str>),
    /// It must not.
    None,
}

impl ToolChoice {
    /// Whether a reply without a call ignores it.
    #[must_use]
    pub fn demands_a_call(&self) -> bool {
        matches!(self, Self::Any | Self::Tool(_))
    }
}

/// How long the provider keeps the prompt.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CacheLife {
    /// Not marked for caching.
    Off,
    /// Five minutes.
    #[default]
    FiveMinutes,
    /// An hour, at a higher price.
    OneHour,
}

/// Whether the answer is streamed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Delivery {
    /// As it is written.
    #[default]
    Streamed,
    /// When it is complete.
    Whole,
}

/// How long things may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deadlines {
    /// Until there is a connection.
    pub connect_ms: u64,
    /// Between two pieces of a reply; pings do not count. Models think for minutes without a word.
    pub idle_ms: u64,
    /// For the whole call.
    pub total_ms: u64,
}

impl Default for Deadlines {
    fn default() -> Self {
        Self { connect_ms: 10_000, idle_ms: 300_000, total_ms: 3_600_000 }
    }
}
