//! What a provider sent beside the blocks of a reply: kept for debugging, beside the log and for a
//! shorter time.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::message::raw_json::RawJson;

/// What a provider sent beside the blocks of a reply, or instead of a reply.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ResponseEnvelope {
    /// A JSON object: the request id, the notices of the adapter, how much of the body was omitted.
    pub fields: RawJson,
    /// The body as it arrived, up to a limit. It is never part of the log. It is text and not a field
    /// of the object, because a body is JSON itself: to escape it costs as much as to decode it.
    #[serde(skip)]
    pub body: Option<Arc<str>>,
}

impl From<RawJson> for ResponseEnvelope {
    fn from(fields: RawJson) -> Self {
        Self { fields, body: None }
    }
}
