//! Maps SQLite errors to `StoreError`.

use std::io::Read;

use rusqlite::ErrorCode;
use windlass_runtime::ports::StoreError;

use super::database_file::DatabaseFile;

/// The first bytes of every SQLite database.
const SQLITE_HEADER: &[u8; 16] = b"SQLite format 3\0";

/// Why a piece of work failed.
#[derive(Debug)]
pub(super) enum WorkError {
    /// The work was rejected before it wrote anything: the transaction may continue without it.
    Rejected(StoreError),
    /// The work was rejected after it had written: the transaction must be rolled back.
    RollBack(StoreError),
    /// SQLite failed.
    Sqlite(rusqlite::Error),
}

impl From<rusqlite::Error> for WorkError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl WorkError {
    pub(super) fn into_store_error(self, file: &DatabaseFile) -> StoreError {
        match self {
            Self::Rejected(error) | Self::RollBack(error) => error,
            Self::Sqlite(error) => file.explain_error(&error),
        }
    }
}

impl DatabaseFile {
    pub(super) fn explain_error(&self, error: &rusqlite::Error) -> StoreError {
        explain_sqlite_error(&self.location(), self.busy_timeout(), error)
    }
}

/// Explains a SQLite error in the words of the port.
pub(super) fn explain_sqlite_error(
    location: &str,
    busy_timeout: std::time::Duration,
    error: &rusqlite::Error,
) -> StoreError {
    let location = location.to_owned();
    let reason = error.to_string();
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => StoreError::DiskFull { location },
        Some(ErrorCode::ReadOnly) => StoreError::ReadOnly { location },
        _ if is_busy(error) => {
            let waited_ms = u64::try_from(busy_timeout.as_millis()).unwrap_or(u64::MAX);
            StoreError::Locked { location, waited_ms }
        }
        Some(ErrorCode::NotADatabase) if !has_sqlite_header(&location) => {
            let message =
                format!("{location} is not a Windlass store; choose another file with --store");
            StoreError::Invalid { message }
        }
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
            StoreError::Corrupt { location, reason }
        }
        Some(ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => StoreError::Invalid {
            message: format!("{location} cannot be opened ({reason}); choose another with --store"),
        },
        Some(ErrorCode::TooBig) => StoreError::Invalid {
            message: format!(
                "{location}: a value is too large to be stored ({reason}); make it smaller"
            ),
        },
        _ if is_unexpected_shape(error) => StoreError::Corrupt { location, reason },
        _ => StoreError::Broken { location, reason },
    }
}

/// Returns whether a file begins with the SQLite header. One that does not never was a database, so
/// there is nothing to restore. This is checked only after SQLite has rejected the file: closing a
/// descriptor drops the locks that SQLite may hold on the file elsewhere in this process.
fn has_sqlite_header(location: &str) -> bool {
    let mut head = [0; SQLITE_HEADER.len()];
    let read = std::fs::File::open(location).and_then(|mut file| file.read_exact(&mut head));
    read.is_ok() && head == *SQLITE_HEADER
}

/// Returns whether a column held a value that no version of Windlass writes.
pub(super) fn is_unexpected_shape(error: &rusqlite::Error) -> bool {
    matches!(
        error,
        rusqlite::Error::FromSqlConversionFailure(..)
            | rusqlite::Error::InvalidColumnType(..)
            | rusqlite::Error::IntegralValueOutOfRange(..)
            | rusqlite::Error::Utf8Error(..)
    )
}

/// Returns whether a unique index rejected a row.
pub(super) fn is_conflict(error: &rusqlite::Error) -> bool {
    let unique = rusqlite::ffi::SQLITE_CONSTRAINT_UNIQUE;
    error.sqlite_error().is_some_and(|error| error.extended_code == unique)
}

/// Returns whether another connection holds the lock. A process that is stopped during recovery
/// blocks all others, which SQLite reports as a protocol error.
pub(super) fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(
            ErrorCode::DatabaseBusy
                | ErrorCode::DatabaseLocked
                | ErrorCode::FileLockingProtocolFailed
        )
    )
}

/// Returns whether reading or writing the file failed, after which nothing about it is certain.
pub(super) fn is_failing_disk(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::SystemIoFailure)
}
