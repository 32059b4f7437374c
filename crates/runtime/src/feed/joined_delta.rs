//! Joins the deltas of one block into a single event, for a reader that is too slow for each of them.

use std::borrow::Cow;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;

#[cfg(test)]
#[path = "joined_delta_tests.rs"]
mod joined_delta_tests;

/// The content of a `content_block_delta` event to which that of a later one can be appended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct JoinedDelta {
    index: u64,
    kind: DeltaKind,
    /// The text as it was escaped: half a surrogate pair at its end becomes whole with the next piece.
    escaped: String,
}

/// Deltas whose text is appended to that of their block. Others, such as signatures, replace
/// something or belong to a list, and are never joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DeltaKind {
    Text,
    Thinking,
    InputJson,
}

/// An event with exactly these fields: joining must not lose one.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DeltaEvent<'a> {
    #[serde(borrow)]
    r#type: Cow<'a, str>,
    index: u64,
    #[serde(borrow)]
    delta: DeltaBody<'a>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DeltaBody<'a> {
    #[serde(borrow)]
    r#type: Cow<'a, str>,
    #[serde(borrow)]
    text: Option<&'a RawValue>,
    #[serde(borrow)]
    thinking: Option<&'a RawValue>,
    #[serde(borrow)]
    partial_json: Option<&'a RawValue>,
}

impl JoinedDelta {
    /// Parses an event; `None` if it is not a delta that can be joined.
    pub(super) fn parse(event: &str) -> Option<Self> {
        let event: DeltaEvent<'_> = serde_json::from_str(event).ok()?;
        let DeltaBody { r#type, text, thinking, partial_json } = event.delta;
        let (kind, piece) = match (&*r#type, text, thinking, partial_json) {
            ("text_delta", Some(piece), None, None) => (DeltaKind::Text, piece),
            ("thinking_delta", None, Some(piece), None) => (DeltaKind::Thinking, piece),
            ("input_json_delta", None, None, Some(piece)) => (DeltaKind::InputJson, piece),
            _ => return None,
        };
        let escaped = piece.get().strip_prefix('"')?.strip_suffix('"')?.to_owned();
        (event.r#type == "content_block_delta").then_some(Self {
            index: event.index,
            kind,
            escaped,
        })
    }

    /// Returns whether both are deltas of the same block.
    pub(super) fn is_of_same_block(&self, other: &Self) -> bool {
        self.index == other.index
    }

    /// Appends a later delta; returns `false` if it cannot be appended.
    pub(super) fn append(&mut self, later: &Self) -> bool {
        let can_append = self.is_of_same_block(later) && self.kind == later.kind;
        if can_append {
            self.escaped.push_str(&later.escaped);
        }
        can_append
    }

    /// Encodes the event.
    pub(super) fn to_event(&self) -> Arc<str> {
        let (kind, field) = match self.kind {
            DeltaKind::Text => ("text_delta", "text"),
            DeltaKind::Thinking => ("thinking_delta", "thinking"),
            DeltaKind::InputJson => ("input_json_delta", "partial_json"),
        };
        let Self { index, escaped, .. } = self;
        Arc::from(format!(
            r#"{{"type":"content_block_delta","index":{index},"delta":{{"type":"{kind}","{field}":"{escaped}"}}}}"#
        ))
    }
}
