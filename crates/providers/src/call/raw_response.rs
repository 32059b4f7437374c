//! The raw response body, kept for debugging up to a limit. It is stored beside the conversation's
//! log, and for a shorter time.

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;
use serde::Serialize;
use windlass_core::message::raw_json::RawJson;
use windlass_core::message::response_envelope::ResponseEnvelope;

use crate::call::call_notice::ReplyEnvelope;
use crate::limits::MAX_RAW_RESPONSE_BYTES;
use crate::secret::Redactor;

/// The raw response of a rejected attempt.
#[derive(Serialize)]
struct RejectedResponse<'a> {
    response: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    omitted_bytes: Option<usize>,
}

/// The part of a response that arrived so far. The chunks are shared with those read from the
/// connection.
#[derive(Debug, Default)]
pub(crate) struct RawResponse {
    pieces: Vec<Bytes>,
    kept_bytes: usize,
    omitted_bytes: usize,
}

impl RawResponse {
    /// Keeps a chunk, up to the limit.
    pub(crate) fn push(&mut self, chunk: &Bytes) {
        let remaining = MAX_RAW_RESPONSE_BYTES - self.kept_bytes;
        let kept = chunk.slice(..chunk.len().min(remaining));
        self.kept_bytes += kept.len();
        self.omitted_bytes += chunk.len() - kept.len();
        if !kept.is_empty() {
            self.pieces.push(kept);
        }
    }

    /// Adds the raw response to the envelope; nothing if no bytes arrived.
    pub(crate) fn keep_in(&self, envelope: &mut ReplyEnvelope, redactor: &Redactor) {
        let Some(text) = self.text(redactor) else { return };
        envelope.keep_body(text);
        if self.omitted_bytes > 0 {
            envelope.insert_json("omitted_bytes", RawJson::encode(&self.omitted_bytes));
        }
    }

    /// Returns the envelope of a failed attempt; `None` if no bytes arrived.
    pub(crate) fn to_failure_envelope(&self, redactor: &Redactor) -> Option<ResponseEnvelope> {
        let mut envelope = ReplyEnvelope::default();
        self.keep_in(&mut envelope, redactor);
        envelope.finish()
    }

    /// Returns the raw response of a rejected attempt as a JSON object, which becomes a field of the
    /// next reply's envelope; `None` if no bytes arrived.
    pub(crate) fn to_rejection_json(&self, redactor: &Redactor) -> Option<RawJson> {
        let text = self.text(redactor)?;
        let omitted_bytes = Some(self.omitted_bytes).filter(|bytes| *bytes > 0);
        Some(RawJson::encode(&RejectedResponse { response: &text, omitted_bytes }))
    }

    /// The response as text; invalid bytes are replaced. This is done for every reply, so valid text
    /// is only copied.
    fn text(&self, redactor: &Redactor) -> Option<Arc<str>> {
        let bytes = match self.pieces.as_slice() {
            [] => return None,
            [piece] => Cow::Borrowed(&**piece),
            pieces => Cow::Owned(pieces.concat()),
        };
        let text = std::str::from_utf8(&bytes)
            .map_or_else(|_| String::from_utf8_lossy(&bytes), Cow::Borrowed);
        // Text that looks like a secret is redacted where rows are stored; known secrets, here.
        Some(Arc::from(redactor.redact_known(&text)))
    }
}
