use std::time::Duration;

use rusqlite::ffi;
use windlass_runtime::ports::StoreError;

use super::error::{explain, is_busy};

fn failure(code: i32) -> rusqlite::Error {
    rusqlite::Error::SqliteFailure(ffi::Error::new(code), None)
}

#[test]
fn whoever_holds_a_lock_makes_the_file_busy_and_not_broken() {
    // The last is what SQLite says of a file that a process recovers which does not go on.
    for code in [ffi::SQLITE_BUSY, ffi::SQLITE_LOCKED, ffi::SQLITE_PROTOCOL] {
        let error = failure(code);
        assert!(is_busy(&error), "{error}");
        let explained = explain("a.db", Duration::from_secs(2), &error);
        assert!(matches!(explained, StoreError::Locked { waited_ms: 2_000, .. }), "{explained}");
    }
    assert!(!is_busy(&failure(ffi::SQLITE_IOERR)));
}
