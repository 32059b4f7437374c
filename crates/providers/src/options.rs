//! How models are asked, beyond what a conversation's settings say.

use std::sync::Arc;

use windlass_core::settings::CacheLifetime;

/// How models are asked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// Who the call is for, as an opaque name the provider may see.
    pub user: Option<Arc<str>>,
    /// How long the provider keeps the prompt, where the settings do not say.
    pub cache: CacheLifetime,
    /// Whether the answer is streamed.
    pub delivery: Delivery,
    /// How long things may take.
    pub deadlines: Deadlines,
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
