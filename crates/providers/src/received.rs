//! The body of an answer as it came, kept for whoever investigates what a provider sent. It lies
//! beside the conversation's log and not for as long.

use bytes::Bytes;
use windlass_core::raw::Raw;
use windlass_core::raw::object::Object;

use crate::limits::RAW_RESPONSE_BYTES;
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

    fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// The same as fields of an object. Bytes that are not text are replaced.
    pub(crate) fn fields(&self, redactor: &Redactor) -> Vec<(&'static str, String)> {
        if self.is_empty() {
            return Vec::new();
        }
        let whole = match self.pieces.as_slice() {
            [one] => one.clone(),
            pieces => Bytes::from(pieces.concat()),
        };
        let text = String::from_utf8_lossy(&whole);
        // What looks like a secret is taken out where rows are stored; what we know to be one, here.
        let text = redactor.without_known(&text);
        let mut fields = vec![("response", Raw::string(&text).text().to_owned())];
        if self.omitted_bytes > 0 {
            fields.push(("omitted_bytes", self.omitted_bytes.to_string()));
        }
        fields
    }

    /// The same as an object of its own, for an attempt that failed; nothing if nothing came.
    pub(crate) fn of_failure(&self, redactor: &Redactor) -> Option<Raw> {
        let fields = self.fields(redactor);
        let object =
            |object: Object, (name, json): &(&'static str, String)| object.json(name, json);
        (!fields.is_empty())
            .then(|| fields.iter().fold(Object::with_room(self.kept_bytes), object).close())
    }
}
