//! What a call used, as the Messages API counts it. Later figures replace earlier ones.

use serde::Deserialize;
use windlass_core::reply::Usage;

use crate::numbers::Count;

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

    pub(super) fn update(&self, usage: &mut Usage) {
        usage.input_tokens = self.input_tokens.or(usage.input_tokens);
        usage.output_tokens = self.output_tokens.or(usage.output_tokens);
        usage.cache_read_tokens = self.cache_read_input_tokens.or(usage.cache_read_tokens);
        usage.cache_write_tokens = self.cache_creation_input_tokens.or(usage.cache_write_tokens);
    }
}
