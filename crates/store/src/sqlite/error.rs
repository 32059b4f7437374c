//! SQLite's errors in the port's words.

use std::io::Read;

use rusqlite::ErrorCode;
use windlass_runtime::ports::StoreError;

use super::home::Home;

/// The first bytes of every database of SQLite.
const SQLITE_HEAD: &[u8; 16] = b"SQLite format 3\0";

/// Why a piece of work did not happen.
#[derive(Debug)]
pub(super) enum Stop {
    /// It was refused before it wrote anything: the transaction may go on without it.
    Refused(StoreError),
    /// It was refused after it had written: the transaction must be undone.
    Undo(StoreError),
    /// SQLite failed.
    Engine(rusqlite::Error),
}

impl From<rusqlite::Error> for Stop {
    fn from(error: rusqlite::Error) -> Self {
        Self::Engine(error)
    }
}

impl Stop {
    pub(super) fn at(self, home: &Home) -> StoreError {
        match self {
            Self::Refused(error) | Self::Undo(error) => error,
            Self::Engine(error) => home.explain(&error),
        }
    }
}

impl Home {
    pub(super) fn explain(&self, error: &rusqlite::Error) -> StoreError {
        explain(&self.place(), self.patience(), error)
    }
}

/// What the error means for whoever has the file.
pub(super) fn explain(
    place: &str,
    patience: std::time::Duration,
    error: &rusqlite::Error,
) -> StoreError {
    let place = place.to_owned();
    let reason = error.to_string();
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => StoreError::Full { place },
        Some(ErrorCode::ReadOnly) => StoreError::ReadOnly { place },
        _ if is_busy(error) => {
            let waited_ms = u64::try_from(patience.as_millis()).unwrap_or(u64::MAX);
            StoreError::Locked { place, waited_ms }
        }
        Some(ErrorCode::NotADatabase) if !begins_as_database(&place) => {
            let what = format!("{place} is not a Windlass store; choose another file with --store");
            StoreError::Invalid { what }
        }
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
            StoreError::Corrupt { place, reason }
        }
        Some(ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => StoreError::Invalid {
            what: format!("{place} cannot be opened ({reason}); choose another with --store"),
        },
        Some(ErrorCode::TooBig) => StoreError::Invalid {
            what: format!("{place}: a value is too large to be stored ({reason}); make it smaller"),
        },
        _ if is_shape(error) => StoreError::Corrupt { place, reason },
        _ => StoreError::Broken { place, reason },
    }
}

/// Whether a file begins as every database of SQLite does. One that does not never was one, so there
/// is nothing to restore. It is only looked at after SQLite has refused it: closing a descriptor
/// drops the locks that SQLite may hold on the file elsewhere in this process.
fn begins_as_database(place: &str) -> bool {
    let mut head = [0; SQLITE_HEAD.len()];
    let read = std::fs::File::open(place).and_then(|mut file| file.read_exact(&mut head));
    read.is_ok() && head == *SQLITE_HEAD
}

/// Whether a column held what no version of ours writes.
pub(super) fn is_shape(error: &rusqlite::Error) -> bool {
    matches!(
        error,
        rusqlite::Error::FromSqlConversionFailure(..)
            | rusqlite::Error::InvalidColumnType(..)
            | rusqlite::Error::IntegralValueOutOfRange(..)
            | rusqlite::Error::Utf8Error(..)
    )
}

/// Whether a unique index refused a row.
pub(super) fn is_conflict(error: &rusqlite::Error) -> bool {
    let unique = rusqlite::ffi::SQLITE_CONSTRAINT_UNIQUE;
    error.sqlite_error().is_some_and(|error| error.extended_code == unique)
}

/// Whether somebody else holds the lock that was wanted. A process that stands still while it recovers
/// the file keeps everybody out, which SQLite calls a failure of the protocol.
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

/// Whether the file underneath failed, after which nothing about it is certain.
pub(super) fn is_failing_disk(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::SystemIoFailure)
}
