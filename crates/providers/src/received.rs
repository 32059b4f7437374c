//! The body of an answer as it came, kept for whoever investigates what a provider sent. It lies
//! beside the conversation's log and not for as long.

use std::borrow::Cow;

use bytes::Bytes;
use windlass_core::raw::Raw;
use windlass_core::raw::object::Object;

use crate::limits::RAW_RESPONSE_BYTES;
use crate::notice::Envelope;
use crate::secret::Redactor;

/// What came of an answer so far. The pieces are shared with what was read from the connection.
#[derive(Debug, Default)]
pub(crate) struct Received {
    pieces: Vec<Bytes>,
    kept_bytes: usize,
    omitted_bytes: usize,
}

impl Received {
    /// Keeps a piece, as long as there is room.
    pub(crate) fn push(&mut self, piece: &Bytes) {
        let room = RAW_RESPONSE_BYTES - self.kept_bytes;
        let kept = piece.slice(..piece.len().min(room));
        self.kept_bytes += kept.len();
        self.omitted_bytes += piece.len() - kept.len();
        if !kept.is_empty() {
            self.pieces.push(kept);
        }
    }

    /// Keeps it with what else the provider said; nothing if nothing came.
    pub(crate) fn keep_in(&self, envelope: &mut Envelope, redactor: &Redactor) {
        let Some(text) = self.text(redactor) else { return };
        envelope.keep_text("response", text);
        if self.omitted_bytes > 0 {
            envelope.keep("omitted_bytes", self.omitted_bytes.to_string());
        }
    }

    /// The same as an object of its own, for an attempt that failed; nothing if nothing came.
    pub(crate) fn of_failure(&self, redactor: &Redactor) -> Option<Raw> {
        let text = self.text(redactor)?;
        let object = Object::with_room(text.len()).text("response", &text);
        Some(match self.omitted_bytes {
            0 => object.close(),
            omitted => object.json("omitted_bytes", &omitted.to_string()).close(),
        })
    }

    /// Bytes that are not text are replaced. This is done for every reply, so the text is copied no
    /// more than once.
    fn text(&self, redactor: &Redactor) -> Option<String> {
        if self.pieces.is_empty() {
            return None;
        }
        let text = String::from_utf8(self.pieces.concat())
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
        // What looks like a secret is taken out where rows are stored; what we know to be one, here.
        let clean = match redactor.without_known(&text) {
            Cow::Borrowed(_) => None,
            Cow::Owned(clean) => Some(clean),
        };
        Some(clean.unwrap_or(text))
    }
}
