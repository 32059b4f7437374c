//! The bill in the service's words.

use serde::Serialize;

use super::super::head::Head;

#[derive(Serialize)]
pub(super) struct Usage {
    prompt_tokens: u64,
    completion_tokens: u64,
    total_tokens: u64,
    prompt_tokens_details: PromptDetails,
    completion_tokens_details: CompletionDetails,
}

#[derive(Serialize)]
struct PromptDetails {
    cached_tokens: u64,
    audio_tokens: u64,
}

#[derive(Serialize)]
struct CompletionDetails {
    reasoning_tokens: u64,
    audio_tokens: u64,
    accepted_prediction_tokens: u64,
    rejected_prediction_tokens: u64,
}

impl Usage {
    pub(super) fn of(head: &Head) -> Self {
        Self {
            prompt_tokens: head.all_input(),
            completion_tokens: head.usage.output,
            total_tokens: head.total(),
            prompt_tokens_details: PromptDetails {
                cached_tokens: head.usage.cache_read,
                audio_tokens: 0,
            },
            completion_tokens_details: CompletionDetails {
                reasoning_tokens: head.thinking_tokens,
                audio_tokens: 0,
                accepted_prediction_tokens: 0,
                rejected_prediction_tokens: 0,
            },
        }
    }
}
