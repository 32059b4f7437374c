//! Encodings that both databases share: JSON columns, inbox messages, and the hashes under which
//! large bodies are stored once. Everything is encoded on the caller's side, so that a writer
//! neither serialises nor hashes.

use std::sync::Arc;

use sha2::{Digest, Sha256};
use windlass_core::projection::RunRow;
use windlass_runtime::ports::{OutboxMessage, StoreError};

use crate::column_values;
use crate::validation::invalid_argument;

/// Longer bodies are stored as blobs instead of in the entry's row.
const MAX_INLINE_BYTES: usize = 64 * 1024;

/// The SHA-256 of a body, under which its blob is stored.
pub(crate) type BlobHash = [u8; 32];

/// Returns the hash of a body that is stored as a blob; `None` if it fits into the entry's row.
pub(crate) fn hash_if_large(body: &str) -> Option<BlobHash> {
    (body.len() > MAX_INLINE_BYTES).then(|| Sha256::digest(body.as_bytes()).into())
}

/// A message for the inbox, with its body as JSON.
#[derive(Debug)]
pub(crate) struct EncodedMessage {
    pub(crate) key: Arc<str>,
    pub(crate) kind: &'static str,
    pub(crate) body: String,
}

impl EncodedMessage {
    pub(crate) fn new(message: &OutboxMessage) -> Result<Self, StoreError> {
        let body = encode_json("the message", &message.body)?;
        Ok(Self { key: message.idempotency_key.clone(), kind: message.body.kind(), body })
    }
}

/// Encodes the other stop causes of a run; an empty list is not written.
pub(crate) fn encode_other_causes(run: &RunRow) -> Result<Option<String>, StoreError> {
    let causes: Vec<_> = run.other_causes.iter().copied().map(column_values::cause_name).collect();
    encode_list("the run", &causes)
}

/// Encodes a list for its column; an empty list is not written.
pub(crate) fn encode_list<T: AsRef<str>>(
    what: &str,
    items: &[T],
) -> Result<Option<String>, StoreError> {
    let items: Vec<&str> = items.iter().map(AsRef::as_ref).collect();
    if items.is_empty() { Ok(None) } else { encode_json(what, &items).map(Some) }
}

pub(crate) fn encode_json<T: serde::Serialize + ?Sized>(
    what: &str,
    value: &T,
) -> Result<String, StoreError> {
    let refuse = |error| invalid_argument(format!("{what} cannot be encoded as JSON ({error})"));
    serde_json::to_string(value).map_err(refuse)
}
