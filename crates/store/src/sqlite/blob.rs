//! Large bodies, stored once under the hash of their bytes.

use rusqlite::{Connection, OptionalExtension, params};
use sha2::{Digest, Sha256};

use super::error::Stop;
use super::step::sql;

/// Bodies longer than this leave the entry's row.
pub(super) const LARGEST_INLINE: usize = 64 * 1024;

pub(super) type Hash = [u8; 32];

pub(super) fn hash_if_large(text: &str) -> Option<Hash> {
    (text.len() > LARGEST_INLINE).then(|| Sha256::digest(text.as_bytes()).into())
}

pub(super) fn put(connection: &Connection, hash: &Hash, text: &str) -> Result<(), Stop> {
    let there = sql(connection, "SELECT 1 FROM blob WHERE hash = ?1")?
        .query_row(params![hash], |_| Ok(()))
        .optional()?;
    if there.is_none() {
        let size = i64::try_from(text.len()).unwrap_or(i64::MAX);
        sql(connection, "INSERT INTO blob (hash, size, bytes) VALUES (?1, ?2, ?3)")?
            .execute(params![hash, size, text.as_bytes()])?;
    }
    Ok(())
}
