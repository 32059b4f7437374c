//! The chunks of a Chat Completions stream, with the fields that the decoder uses.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;
use smallvec::SmallVec;

use crate::wire::openai_common;
use crate::wire::reported_usage::{ReportedUsage, TokenCount};

#[derive(Debug, Deserialize)]
pub(super) struct ChatChunk<'a> {
    #[serde(borrow, default)]
    pub(super) choices: SmallVec<[ChunkChoice<'a>; 1]>,
    #[serde(borrow)]
    pub(super) usage: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) error: Option<&'a RawValue>,
}

#[derive(Debug, Deserialize)]
pub(super) struct ChunkChoice<'a> {
    #[serde(default)]
    pub(super) index: u64,
    #[serde(borrow, alias = "message")]
    pub(super) delta: Option<ChunkDelta<'a>>,
    #[serde(borrow)]
    pub(super) finish_reason: Option<Cow<'a, str>>,
    /// The stop string that was met, where the server reports it.
    #[serde(borrow)]
    pub(super) stop_reason: Option<&'a RawValue>,
}

#[derive(Debug, Deserialize)]
pub(super) struct ChunkDelta<'a> {
    #[serde(borrow)]
    pub(super) content: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) refusal: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) reasoning_content: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) reasoning: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) tool_calls: Option<SmallVec<[ToolCallDelta<'a>; 1]>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct ToolCallDelta<'a> {
    pub(super) index: Option<u64>,
    #[serde(borrow)]
    pub(super) id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) function: Option<FunctionDelta<'a>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct FunctionDelta<'a> {
    #[serde(borrow)]
    pub(super) name: Option<Cow<'a, str>>,
    /// The arguments as a string; some servers send the object itself.
    #[serde(borrow)]
    pub(super) arguments: Option<&'a RawValue>,
}

#[derive(Debug, Deserialize)]
pub(super) struct ChatUsage<'a> {
    #[serde(default)]
    prompt_tokens: TokenCount,
    #[serde(default)]
    completion_tokens: TokenCount,
    #[serde(default)]
    prompt_cache_hit_tokens: TokenCount,
    #[serde(borrow)]
    prompt_tokens_details: Option<&'a RawValue>,
}

impl ChatUsage<'_> {
    pub(super) fn to_reported(&self) -> ReportedUsage {
        let details = self.prompt_tokens_details;
        let beside = self.prompt_cache_hit_tokens;
        openai_common::reported_usage(self.prompt_tokens, self.completion_tokens, details, beside)
    }
}
