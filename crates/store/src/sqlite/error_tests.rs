use std::time::Duration;

use rusqlite::ffi;
use windlass_runtime::ports::StoreError;

use super::error::{explain_sqlite_error, is_busy};

fn failure(code: i32) -> rusqlite::Error {
    rusqlite::Error::SqliteFailure(ffi::Error::new(code), None)
}

#[test]
fn whoever_holds_a_lock_makes_the_file_busy_and_not_broken() {
    // SQLite reports the last code for a file while a process is stopped during its recovery.
    for code in [ffi::SQLITE_BUSY, ffi::SQLITE_LOCKED, ffi::SQLITE_PROTOCOL] {
        let error = failure(code);
        assert!(is_busy(&error), "{error}");
        let explained = explain_sqlite_error("a.db", Duration::from_secs(2), &error);
        assert!(matches!(explained, StoreError::Locked { waited_ms: 2_000, .. }), "{explained}");
    }
    assert!(!is_busy(&failure(ffi::SQLITE_IOERR)));
}
