//! The raw response body, kept for debugging up to a limit. It is stored beside the conversation's
//! log, and for a shorter time.

use std::borrow::Cow;

use bytes::Bytes;
use serde::Serialize;
use windlass_core::message::raw_json::RawJson;

use crate::call::call_notice::ReplyEnvelope;
use crate::limits::MAX_RAW_RESPONSE_BYTES;
use crate::secret::Redactor;

/// The raw response of a failed attempt.
#[derive(Serialize)]
struct FailedResponse<'a> {
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
    pub(crate) fn push(&mut self, piece: &Bytes) {
        let room = MAX_RAW_RESPONSE_BYTES - self.kept_bytes;
        let kept = piece.slice(..piece.len().min(room));
        self.kept_bytes += kept.len();
        self.omitted_bytes += piece.len() - kept.len();
        if !kept.is_empty() {
            self.pieces.push(kept);
        }
    }

    /// Adds the raw response to the envelope; nothing if no bytes arrived.
    pub(crate) fn keep_in(&self, envelope: &mut ReplyEnvelope, redactor: &Redactor) {
        let Some(text) = self.text(redactor) else { return };
        envelope.keep_text("response", text);
        if self.omitted_bytes > 0 {
            envelope.insert_json("omitted_bytes", RawJson::encode(&self.omitted_bytes));
        }
    }

    /// Returns the raw response of a failed attempt as an object of its own; `None` if no bytes
    /// arrived.
    pub(crate) fn to_failure_json(&self, redactor: &Redactor) -> Option<RawJson> {
        let text = self.text(redactor)?;
        let omitted_bytes = Some(self.omitted_bytes).filter(|bytes| *bytes > 0);
        Some(RawJson::encode(&FailedResponse { response: &text, omitted_bytes }))
    }

    /// The response as text; invalid bytes are replaced. This is done for every reply, so the text
    /// is copied no more than once.
    fn text(&self, redactor: &Redactor) -> Option<String> {
        if self.pieces.is_empty() {
            return None;
        }
        let text = String::from_utf8(self.pieces.concat())
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
        // Text that looks like a secret is redacted where rows are stored; known secrets, here.
        let clean = match redactor.redact_known(&text) {
            Cow::Borrowed(_) => None,
            Cow::Owned(clean) => Some(clean),
        };
        Some(clean.unwrap_or(text))
    }
}
