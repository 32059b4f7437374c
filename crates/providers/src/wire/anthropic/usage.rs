//! The usage of a call, as the Messages API counts it. Later figures add to earlier ones.

use serde::Deserialize;

use crate::wire::reported_usage::{ReportedUsage, TokenCount};

#[derive(Debug, Default, Deserialize)]
pub(super) struct MessagesUsage {
    #[serde(default)]
    input_tokens: TokenCount,
    #[serde(default)]
    output_tokens: TokenCount,
    #[serde(default)]
    cache_read_input_tokens: TokenCount,
    #[serde(default)]
    cache_creation_input_tokens: TokenCount,
}

impl MessagesUsage {
    /// Parses usage figures; figures that cannot be parsed are missing.
    pub(super) fn parse(json: &str) -> Self {
        serde_json::from_str(json).unwrap_or_default()
    }

    pub(super) fn to_reported(&self) -> ReportedUsage {
        ReportedUsage {
            input: self.input_tokens,
            output: self.output_tokens,
            cache_read: self.cache_read_input_tokens,
            cache_write: self.cache_creation_input_tokens,
        }
    }

    /// The usage at the start of a stream: the output has only started, so its figure is not a
    /// count of it.
    pub(super) fn to_reported_at_start(&self) -> ReportedUsage {
        ReportedUsage { output: TokenCount::default(), ..self.to_reported() }
    }
}
