//! Whether the file is sound.

use std::path::Path;
use std::time::Duration;

use rusqlite::Connection;
use windlass_runtime::ports::StoreError;

use super::error::explain;
use super::home::Home;
use super::open::patiently;

/// Files up to this size are looked through whenever they are opened; it takes a few milliseconds.
const SMALL: u64 = 4 * 1024 * 1024;

pub(super) fn brief(
    connection: &Connection,
    path: &Path,
    patience: Duration,
) -> Result<(), StoreError> {
    let is_small = path.metadata().is_ok_and(|found| found.len() <= SMALL);
    if is_small { ask(connection, &path.display().to_string(), patience) } else { Ok(()) }
}

pub(super) fn whole(connection: &Connection, home: &Home) -> Result<(), StoreError> {
    ask(connection, &home.place(), home.patience())
}

fn ask(connection: &Connection, place: &str, patience: Duration) -> Result<(), StoreError> {
    let check = || connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0));
    match patiently::<String>(patience, check) {
        Ok(verdict) if verdict == "ok" => Ok(()),
        Ok(reason) => Err(StoreError::Corrupt { place: place.to_owned(), reason }),
        Err(error) => Err(explain(place, patience, &error)),
    }
}
