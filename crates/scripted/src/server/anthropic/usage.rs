//! Usage in the format of the Messages API.

use serde::Serialize;

use crate::server::response_head::ResponseHead;

/// The usage that a message carries.
#[derive(Serialize)]
pub(super) struct MessagesUsageBody {
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

/// The usage that the last event carries.
#[derive(Serialize)]
pub(super) struct MessagesFinalUsage {
    input_tokens: u64,
    cache_creation_input_tokens: u64,
    cache_read_input_tokens: u64,
    output_tokens: u64,
    output_tokens_details: MessagesOutputDetails,
}

#[derive(Serialize)]
struct MessagesOutputDetails {
    thinking_tokens: u64,
}

impl MessagesUsageBody {
    /// The usage at the start, when only the beginning of the output is known.
    pub(super) fn at_start(head: &ResponseHead) -> Self {
        Self { output_tokens: head.usage.output.min(1), ..Self::at_end(head) }
    }

    pub(super) fn at_end(head: &ResponseHead) -> Self {
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

impl MessagesFinalUsage {
    pub(super) fn from_head(head: &ResponseHead) -> Self {
        let usage = head.usage;
        Self {
            input_tokens: usage.input,
            cache_creation_input_tokens: usage.cache_write,
            cache_read_input_tokens: usage.cache_read,
            output_tokens: usage.output,
            output_tokens_details: MessagesOutputDetails { thinking_tokens: head.thinking_tokens },
        }
    }
}
