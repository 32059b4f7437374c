//! The events of a Responses stream, as far as they are looked at.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::numbers::{Count, ReportedUsage};
use crate::openai;

#[derive(Debug, Deserialize)]
pub(super) struct Event<'a> {
    #[serde(borrow, rename = "type")]
    pub(super) kind: Cow<'a, str>,
    #[serde(default)]
    pub(super) output_index: u64,
    #[serde(borrow)]
    pub(super) item: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) delta: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) response: Option<&'a RawValue>,
}

/// What is left to say when everything was said.
#[derive(Debug, Deserialize)]
pub(super) struct Response<'a> {
    #[serde(borrow, default)]
    pub(super) status: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) error: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) incomplete_details: Option<Incomplete<'a>>,
    #[serde(borrow, default)]
    pub(super) output: Vec<&'a RawValue>,
    #[serde(borrow)]
    pub(super) usage: Option<&'a RawValue>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Incomplete<'a> {
    #[serde(borrow, default)]
    pub(super) reason: Cow<'a, str>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Used<'a> {
    #[serde(default)]
    input_tokens: Count,
    #[serde(default)]
    output_tokens: Count,
    #[serde(borrow)]
    input_tokens_details: Option<&'a RawValue>,
}

impl Used<'_> {
    pub(super) fn usage(&self) -> ReportedUsage {
        let details = self.input_tokens_details;
        openai::usage(self.input_tokens, self.output_tokens, details, Count::default())
    }
}
