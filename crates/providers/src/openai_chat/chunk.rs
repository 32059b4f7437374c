//! The chunks of a chat stream, as far as they are looked at.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::few::Few;
use crate::numbers::{Count, ReportedUsage};
use crate::openai;

#[derive(Debug, Deserialize)]
pub(super) struct Chunk<'a> {
    #[serde(borrow, default)]
    pub(super) choices: Few<Choice<'a>>,
    #[serde(borrow)]
    pub(super) usage: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) error: Option<&'a RawValue>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Choice<'a> {
    #[serde(default)]
    pub(super) index: u64,
    #[serde(borrow, alias = "message")]
    pub(super) delta: Option<Delta<'a>>,
    #[serde(borrow)]
    pub(super) finish_reason: Option<Cow<'a, str>>,
    /// Which stop string was met, where the server says it.
    #[serde(borrow)]
    pub(super) stop_reason: Option<&'a RawValue>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Delta<'a> {
    #[serde(borrow)]
    pub(super) content: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) refusal: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) reasoning_content: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) reasoning: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) tool_calls: Option<Few<CallDelta<'a>>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct CallDelta<'a> {
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
    /// A string; some servers send the object itself.
    #[serde(borrow)]
    pub(super) arguments: Option<&'a RawValue>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Used<'a> {
    #[serde(default)]
    prompt_tokens: Count,
    #[serde(default)]
    completion_tokens: Count,
    #[serde(default)]
    prompt_cache_hit_tokens: Count,
    #[serde(borrow)]
    prompt_tokens_details: Option<&'a RawValue>,
}

impl Used<'_> {
    pub(super) fn usage(&self) -> ReportedUsage {
        let details = self.prompt_tokens_details;
        let beside = self.prompt_cache_hit_tokens;
        openai::usage(self.prompt_tokens, self.completion_tokens, details, beside)
    }
}
