//! Reads SQLite's file directly, without the product's code.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension, params};

use super::{StoredEntry, StoredLane};

/// How long to wait for a writer.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// Attempts to read a file that a frozen process keeps locked; SQLite itself waits ten seconds each
/// time.
const MAX_ATTEMPTS: usize = 6;

/// Reads the lane of a conversation; `None` if no prompt for it was ever accepted.
pub(super) fn read_lane(store: &Path, conversation: &str) -> Result<Option<StoredLane>> {
    let look = || match open(store, BUSY_TIMEOUT)? {
        Some(connection) => query_lane(&connection, conversation),
        None => Ok(None),
    };
    let mut seen = look();
    for _ in 1..MAX_ATTEMPTS {
        match &seen {
            Err(error) if is_locked_by_stopped_process(error) => seen = look(),
            Ok(_) | Err(_) => break,
        }
    }
    seen.with_context(|| format!("{conversation} in {}", store.display()))
}

/// Returns whether a process that was stopped in the middle of a recovery blocks all others.
fn is_locked_by_stopped_process(error: &anyhow::Error) -> bool {
    let code = error.downcast_ref().and_then(rusqlite::Error::sqlite_error_code);
    code == Some(ErrorCode::FileLockingProtocolFailed)
}

/// Reads the epoch of a lane, if that is possible at once; 0 if there is no such lane.
pub(super) fn read_epoch(store: &Path, conversation: &str) -> Result<i64> {
    let Some(connection) = open(store, Duration::ZERO)? else { return Ok(0) };
    let select = "SELECT epoch FROM lane WHERE id = ?1";
    let epoch = connection.query_row(select, params![conversation], |row| row.get(0));
    Ok(epoch.optional()?.unwrap_or(0))
}

/// The conversations in the file.
pub(super) fn list_conversations(store: &Path) -> Result<Vec<String>> {
    let Some(connection) = open(store, BUSY_TIMEOUT)? else { return Ok(Vec::new()) };
    let mut statement = connection.prepare("SELECT id FROM lane ORDER BY no")?;
    let ids = statement.query_map([], |row| row.get(0))?;
    Ok(ids.collect::<rusqlite::Result<_>>()?)
}

/// Checks the integrity of the file.
pub(super) fn check_integrity(store: &Path) -> Result<()> {
    let Some(connection) = open(store, BUSY_TIMEOUT)? else { return Ok(()) };
    let says: String = connection.query_row("PRAGMA integrity_check", [], |row| row.get(0))?;
    ensure!(says == "ok", "{} is damaged: {says}", store.display());
    Ok(())
}

/// Opens the file; `None` if it does not exist or is empty: a process may die before it created the
/// tables.
fn open(store: &Path, patience: Duration) -> Result<Option<Connection>> {
    if !store.exists() {
        return Ok(None);
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(store, flags)?;
    connection.busy_timeout(patience)?;
    let tables = "SELECT count(*) FROM sqlite_schema WHERE name = 'inbox'";
    let made: i64 = connection.query_row(tables, [], |row| row.get(0))?;
    Ok((made > 0).then_some(connection))
}

fn query_lane(connection: &Connection, conversation: &str) -> Result<Option<StoredLane>> {
    // Several statements that must see the same state.
    let moment = connection.unchecked_transaction()?;
    let found = moment
        .query_row("SELECT no, epoch, head FROM lane WHERE id = ?1", params![conversation], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })
        .optional()?;
    let Some((no, epoch, head)) = found else { return Ok(None) };
    let entries = query_entries(&moment, no)?;
    let waiting_mail = moment.query_row(
        "SELECT count(*) FROM inbox WHERE lane_no = ?1 AND read_seq IS NULL",
        params![no],
        |row| row.get(0),
    )?;
    Ok(Some(StoredLane { epoch, head, entries, waiting_mail }))
}

fn query_entries(connection: &Connection, lane: i64) -> Result<Vec<StoredEntry>> {
    let mut statement = connection.prepare(
        "SELECT seq, epoch, coalesce(body, (SELECT CAST(bytes AS TEXT) FROM blob WHERE hash = entry.blob))
         FROM entry WHERE lane_no = ?1 ORDER BY seq",
    )?;
    let mut rows = statement.query(params![lane])?;
    let mut entries = Vec::new();
    while let Some(row) = rows.next()? {
        let seq: i64 = row.get(0)?;
        let body = serde_json::from_str(row.get_ref(2)?.as_str()?);
        let body = body.with_context(|| format!("entry {seq} is not JSON"))?;
        entries.push(StoredEntry { seq, epoch: row.get(1)?, body });
    }
    Ok(entries)
}
