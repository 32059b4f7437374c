//! SQLite's file, read past the product.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension, params};

use super::{Lane, Row};

/// How long a writer may keep us waiting.
const PATIENCE: Duration = Duration::from_secs(10);

/// Looks at a file that a frozen process keeps locked; SQLite itself waits ten seconds each time.
const LOOKS: usize = 6;

/// The lane of a conversation; none if no prompt for it was ever accepted.
pub(super) fn lane(store: &Path, conversation: &str) -> Result<Option<Lane>> {
    let look = || match open(store, PATIENCE)? {
        Some(connection) => read(&connection, conversation),
        None => Ok(None),
    };
    let mut seen = look();
    for _ in 1..LOOKS {
        match &seen {
            Err(error) if is_kept_locked(error) => seen = look(),
            Ok(_) | Err(_) => break,
        }
    }
    seen.with_context(|| format!("{conversation} in {}", store.display()))
}

/// Whether a process that was stopped in the middle of a recovery keeps everybody out.
fn is_kept_locked(error: &anyhow::Error) -> bool {
    let code = error.downcast_ref().and_then(rusqlite::Error::sqlite_error_code);
    code == Some(ErrorCode::FileLockingProtocolFailed)
}

/// The epoch of a lane, if it can be read at once; 0 if there is no such lane.
pub(super) fn epoch(store: &Path, conversation: &str) -> Result<i64> {
    let Some(connection) = open(store, Duration::ZERO)? else { return Ok(0) };
    let select = "SELECT epoch FROM lane WHERE id = ?1";
    let epoch = connection.query_row(select, params![conversation], |row| row.get(0));
    Ok(epoch.optional()?.unwrap_or(0))
}

/// The conversations in the file.
pub(super) fn conversations(store: &Path) -> Result<Vec<String>> {
    let Some(connection) = open(store, PATIENCE)? else { return Ok(Vec::new()) };
    let mut statement = connection.prepare("SELECT id FROM lane ORDER BY no")?;
    let ids = statement.query_map([], |row| row.get(0))?;
    Ok(ids.collect::<rusqlite::Result<_>>()?)
}

/// Whether SQLite finds the file sound.
pub(super) fn check(store: &Path) -> Result<()> {
    let Some(connection) = open(store, PATIENCE)? else { return Ok(()) };
    let says: String = connection.query_row("PRAGMA integrity_check", [], |row| row.get(0))?;
    ensure!(says == "ok", "{} is damaged: {says}", store.display());
    Ok(())
}

/// None if there is no file yet, or nothing in it: a process may die before it made its tables.
fn open(store: &Path, patience: Duration) -> Result<Option<Connection>> {
    if !store.exists() {
        return Ok(None);
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(store, flags)?;
    connection.busy_timeout(patience)?;
    let tables = "SELECT count(*) FROM sqlite_schema WHERE name = 'mail'";
    let made: i64 = connection.query_row(tables, [], |row| row.get(0))?;
    Ok((made > 0).then_some(connection))
}

fn read(connection: &Connection, conversation: &str) -> Result<Option<Lane>> {
    // Several statements that must see the same moment.
    let moment = connection.unchecked_transaction()?;
    let found = moment
        .query_row("SELECT no, epoch, head FROM lane WHERE id = ?1", params![conversation], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })
        .optional()?;
    let Some((no, epoch, head)) = found else { return Ok(None) };
    let entries = entries(&moment, no)?;
    let waiting_mail = moment.query_row(
        "SELECT count(*) FROM mail WHERE lane_no = ?1 AND read_seq IS NULL",
        params![no],
        |row| row.get(0),
    )?;
    Ok(Some(Lane { epoch, head, entries, waiting_mail }))
}

fn entries(connection: &Connection, lane: i64) -> Result<Vec<Row>> {
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
        entries.push(Row { seq, epoch: row.get(1)?, body });
    }
    Ok(entries)
}
