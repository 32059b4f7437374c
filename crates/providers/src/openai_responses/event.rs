//! The events of a Responses stream, as far as they are looked at.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;
use windlass_core::reply::Usage;

use crate::numbers::Count;

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
    pub(super) usage: Option<Used<'a>>,
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

#[derive(Debug, Default, Deserialize)]
struct Details {
    #[serde(default)]
    cached_tokens: Count,
    #[serde(default)]
    cache_write_tokens: Count,
}

impl Used<'_> {
    /// The input's tokens by cache class: the format counts the cached ones among the others.
    pub(super) fn usage(&self) -> Usage {
        let details = self.input_tokens_details.map(RawValue::get);
        let details: Details =
            details.and_then(|details| serde_json::from_str(details).ok()).unwrap_or_default();
        let (read, written) = (details.cached_tokens.or(0), details.cache_write_tokens.or(0));
        let input = self.input_tokens.or(0);
        Usage {
            input_tokens: input.saturating_sub(read).saturating_sub(written),
            output_tokens: self.output_tokens.or(0),
            cache_read_tokens: read,
            cache_write_tokens: written,
        }
    }
}
