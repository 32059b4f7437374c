//! Large bodies, stored once under the hash of their bytes.

use rusqlite::{Connection, OptionalExtension, params};
use sha2::{Digest, Sha256};

use super::error::WorkError;
use super::write_work::prepare_cached;

/// Longer bodies are stored as blobs instead of in the entry's row.
pub(super) const MAX_INLINE_BYTES: usize = 64 * 1024;

pub(super) type BlobHash = [u8; 32];

pub(super) fn hash_if_large(text: &str) -> Option<BlobHash> {
    (text.len() > MAX_INLINE_BYTES).then(|| Sha256::digest(text.as_bytes()).into())
}

pub(super) fn put_blob(
    connection: &Connection,
    hash: &BlobHash,
    text: &str,
) -> Result<(), WorkError> {
    let there = prepare_cached(connection, "SELECT 1 FROM blob WHERE hash = ?1")?
        .query_row(params![hash], |_| Ok(()))
        .optional()?;
    if there.is_none() {
        let size = i64::try_from(text.len()).unwrap_or(i64::MAX);
        prepare_cached(connection, "INSERT INTO blob (hash, size, bytes) VALUES (?1, ?2, ?3)")?
            .execute(params![hash, size, text.as_bytes()])?;
    }
    Ok(())
}
