//! Usage in the format of Chat Completions.

use serde::Serialize;

use crate::server::response_head::ResponseHead;

#[derive(Serialize)]
pub(super) struct ChatUsageBody {
    prompt_tokens: u64,
    completion_tokens: u64,
    total_tokens: u64,
    prompt_tokens_details: ChatPromptDetails,
    completion_tokens_details: ChatCompletionDetails,
}

#[derive(Serialize)]
struct ChatPromptDetails {
    cached_tokens: u64,
    audio_tokens: u64,
}

#[derive(Serialize)]
struct ChatCompletionDetails {
    reasoning_tokens: u64,
    audio_tokens: u64,
    accepted_prediction_tokens: u64,
    rejected_prediction_tokens: u64,
}

impl ChatUsageBody {
    pub(super) fn from_head(head: &ResponseHead) -> Self {
        Self {
            prompt_tokens: head.all_input_tokens(),
            completion_tokens: head.usage.output,
            total_tokens: head.total_tokens(),
            prompt_tokens_details: ChatPromptDetails {
                cached_tokens: head.usage.cache_read,
                audio_tokens: 0,
            },
            completion_tokens_details: ChatCompletionDetails {
                reasoning_tokens: head.thinking_tokens,
                audio_tokens: 0,
                accepted_prediction_tokens: 0,
                rejected_prediction_tokens: 0,
            },
        }
    }
}
