//! The bill in the service's words.

use serde::Serialize;

use super::super::head::Head;

/// Usage as a message carries it.
#[derive(Serialize)]
pub(super) struct Usage {
    input_tokens: u64,
    cache_creation_input_tokens: u64,
    cache_read_input_tokens: u64,
    cache_creation: CacheCreation,
    output_tokens: u64,
    service_tier: &'static str,
}

#[derive(Serialize)]
struct CacheCreation {
    ephemeral_5m_input_tokens: u64,
    ephemeral_1h_input_tokens: u64,
}

/// Usage as the last event carries it.
#[derive(Serialize)]
pub(super) struct FinalUsage {
    input_tokens: u64,
    cache_creation_input_tokens: u64,
    cache_read_input_tokens: u64,
    output_tokens: u64,
    output_tokens_details: OutputDetails,
}

#[derive(Serialize)]
struct OutputDetails {
    thinking_tokens: u64,
}

impl Usage {
    /// When nothing but the beginning of the output is known.
    pub(super) fn at_start(head: &Head) -> Self {
        Self { output_tokens: head.usage.output.min(1), ..Self::at_end(head) }
    }

    pub(super) fn at_end(head: &Head) -> Self {
        let usage = head.usage;
        Self {
            input_tokens: usage.input,
            cache_creation_input_tokens: usage.cache_write,
            cache_read_input_tokens: usage.cache_read,
            cache_creation: CacheCreation {
                ephemeral_5m_input_tokens: usage.cache_write,
                ephemeral_1h_input_tokens: 0,
            },
            output_tokens: usage.output,
            service_tier: "standard",
        }
    }
}

impl FinalUsage {
    pub(super) fn of(head: &Head) -> Self {
        let usage = head.usage;
        Self {
            input_tokens: usage.input,
            cache_creation_input_tokens: usage.cache_write,
            cache_read_input_tokens: usage.cache_read,
            output_tokens: usage.output,
            output_tokens_details: OutputDetails { thinking_tokens: head.thinking_tokens },
        }
    }
}
