//! The events of a Messages stream, with the fields that the decoder uses.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::json::object_fields::ObjectFields;

/// One event; which fields it has depends on its type.
#[derive(Debug, Deserialize)]
pub(super) struct MessagesEvent<'a> {
    #[serde(borrow, rename = "type")]
    pub(super) kind: Cow<'a, str>,
    #[serde(default)]
    pub(super) index: u64,
    #[serde(borrow)]
    pub(super) message: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) content_block: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) delta: Option<MessagesDelta<'a>>,
    #[serde(borrow)]
    pub(super) usage: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) error: Option<&'a RawValue>,
}

/// What a delta adds, to a block or to the message.
#[derive(Debug, Deserialize)]
pub(super) struct MessagesDelta<'a> {
    #[serde(borrow, rename = "type", default)]
    pub(super) kind: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) text: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) thinking: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) signature: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) partial_json: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) citation: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) stop_reason: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) stop_sequence: Option<Cow<'a, str>>,
}

/// The delta of an event as a list of fields, for unknown types.
#[derive(Debug, Deserialize)]
pub(super) struct UnknownDelta<'a> {
    #[serde(borrow)]
    pub(super) delta: ObjectFields<'a>,
}
