//! Integrity checks of the database file.

use std::path::Path;
use std::time::Duration;

use rusqlite::Connection;
use windlass_runtime::ports::StoreError;

use super::database_file::DatabaseFile;
use super::error::explain_sqlite_error;
use super::open::retry_while_busy;

/// Files up to this size are checked whenever they are opened; it takes a few milliseconds.
const SMALL_FILE_BYTES: u64 = 4 * 1024 * 1024;

pub(super) fn check_if_small(
    connection: &Connection,
    path: &Path,
    patience: Duration,
) -> Result<(), StoreError> {
    let is_small = path.metadata().is_ok_and(|found| found.len() <= SMALL_FILE_BYTES);
    if is_small {
        run_quick_check(connection, &path.display().to_string(), patience)
    } else {
        Ok(())
    }
}

pub(super) fn check_whole_file(
    connection: &Connection,
    home: &DatabaseFile,
) -> Result<(), StoreError> {
    run_quick_check(connection, &home.location(), home.busy_timeout())
}

fn run_quick_check(
    connection: &Connection,
    place: &str,
    patience: Duration,
) -> Result<(), StoreError> {
    let check = || connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0));
    match retry_while_busy::<String>(patience, check) {
        Ok(verdict) if verdict == "ok" => Ok(()),
        Ok(reason) => Err(StoreError::Corrupt { location: place.to_owned(), reason }),
        Err(error) => Err(explain_sqlite_error(place, patience, &error)),
    }
}
