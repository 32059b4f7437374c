//! What a call used, as the Messages API counts it. Later figures add to earlier ones.

use serde::Deserialize;

use crate::numbers::{Count, ReportedUsage};

#[derive(Debug, Default, Deserialize)]
pub(super) struct Used {
    #[serde(default)]
    input_tokens: Count,
    #[serde(default)]
    output_tokens: Count,
    #[serde(default)]
    cache_read_input_tokens: Count,
    #[serde(default)]
    cache_creation_input_tokens: Count,
}

impl Used {
    /// Nothing for figures nobody can read.
    pub(super) fn read(json: &str) -> Self {
        serde_json::from_str(json).unwrap_or_default()
    }

    pub(super) fn reported(&self) -> ReportedUsage {
        ReportedUsage {
            input: self.input_tokens,
            output: self.output_tokens,
            cache_read: self.cache_read_input_tokens,
            cache_write: self.cache_creation_input_tokens,
        }
    }

    /// The same of the beginning of a stream: the output has only begun, so its figure is no count
    /// of it.
    pub(super) fn reported_at_start(&self) -> ReportedUsage {
        ReportedUsage { output: Count::default(), ..self.reported() }
    }
}
