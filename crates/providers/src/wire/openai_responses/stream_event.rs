//! The events of a Responses stream, with the fields that the decoder uses.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::item_events::PiecePlace;
use crate::json::json_string;
use crate::wire::openai_common;
use crate::wire::reported_usage::{ReportedUsage, TokenCount};

#[derive(Debug, Deserialize)]
pub(super) struct ResponsesEvent<'a> {
    #[serde(borrow, rename = "type")]
    pub(super) kind: Cow<'a, str>,
    #[serde(default)]
    pub(super) output_index: u64,
    #[serde(default)]
    pub(super) content_index: u64,
    #[serde(default)]
    pub(super) summary_index: u64,
    #[serde(borrow)]
    pub(super) item: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) delta: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) response: Option<&'a RawValue>,
}

impl ResponsesEvent<'_> {
    /// The text of a delta.
    pub(super) fn delta_text(&self) -> Cow<'_, str> {
        self.delta.and_then(json_string::decode_raw_string).unwrap_or_default()
    }

    /// The place of a delta of text.
    pub(super) fn content_place(&self) -> PiecePlace {
        PiecePlace { output_index: self.output_index, part: self.content_index }
    }

    /// The place of a delta of reasoning, which is part of a summary or of the reasoning itself.
    pub(super) fn reasoning_place(&self) -> PiecePlace {
        let part = self.summary_index.max(self.content_index);
        PiecePlace { output_index: self.output_index, part }
    }
}

/// The response object of the last event.
#[derive(Debug, Deserialize)]
pub(super) struct ResponsesBody<'a> {
    #[serde(borrow, default)]
    pub(super) status: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) error: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) incomplete_details: Option<IncompleteReason<'a>>,
    #[serde(borrow, default)]
    pub(super) output: Vec<&'a RawValue>,
    #[serde(borrow)]
    pub(super) usage: Option<&'a RawValue>,
}

#[derive(Debug, Deserialize)]
pub(super) struct IncompleteReason<'a> {
    #[serde(borrow, default)]
    pub(super) reason: Cow<'a, str>,
}

#[derive(Debug, Deserialize)]
pub(super) struct ResponsesUsage<'a> {
    #[serde(default)]
    input_tokens: TokenCount,
    #[serde(default)]
    output_tokens: TokenCount,
    #[serde(borrow)]
    input_tokens_details: Option<&'a RawValue>,
}

impl ResponsesUsage<'_> {
    pub(super) fn to_reported(&self) -> ReportedUsage {
        let details = self.input_tokens_details;
        openai_common::reported_usage(
            self.input_tokens,
            self.output_tokens,
            details,
            TokenCount::default(),
        )
    }
}
