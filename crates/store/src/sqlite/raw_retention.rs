//! Retention of raw responses, which are columns of their entries. They are deleted in the order in
//! which the entries were written, and how far is noted: an index would be one more page to write
//! at every step.

use rusqlite::{Connection, params};

use super::error::WorkError;
use super::group_commit::prepare_cached;
use crate::column_values;

/// Maximum number of entries that one pass looks at. Not every entry has a raw response.
const MAX_VISITED_ENTRIES: usize = 10_000;

/// Deletes raw responses older than `before`, at most `limit`; returns how many.
pub(super) fn delete_old(
    connection: &Connection,
    before: i64,
    limit: usize,
) -> Result<usize, WorkError> {
    let (mut old, mut deleted_to) = (Vec::new(), None);
    {
        let mut statement = prepare_cached(
            connection,
            "SELECT no, coalesce(raw_at, at), raw_at IS NOT NULL FROM entry
             WHERE no > (SELECT deleted_to FROM raw_retention) ORDER BY no LIMIT ?1",
        )?;
        let mut entries = statement.query([column_values::limit_column(MAX_VISITED_ENTRIES)])?;
        while old.len() < limit
            && let Some(entry) = entries.next()?
        {
            let (no, at): (i64, i64) = (entry.get(0)?, entry.get(1)?);
            if at >= before {
                break;
            }
            deleted_to = Some(no);
            if entry.get(2)? {
                old.push(no);
            }
        }
    }
    for no in &old {
        prepare_cached(
            connection,
            "UPDATE entry SET raw_at = NULL, raw_body = NULL, raw_response = NULL WHERE no = ?1",
        )?
        .execute([no])?;
    }
    if let Some(no) = deleted_to {
        prepare_cached(connection, "UPDATE raw_retention SET deleted_to = ?1")?
            .execute(params![no])?;
    }
    Ok(old.len())
}

/// Moves the note back if the last entries were removed: their numbers are given again.
pub(super) fn stay_within_entries(connection: &Connection) -> Result<(), WorkError> {
    prepare_cached(
        connection,
        "UPDATE raw_retention
         SET deleted_to = min(deleted_to, coalesce((SELECT max(no) FROM entry), 0))",
    )?
    .execute([])?;
    Ok(())
}
